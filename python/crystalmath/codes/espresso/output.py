"""What an output of pw.x says, in its own units: one pass over the text, from top to bottom.

It reads and does not judge. A file may be cut off anywhere; what was not written is missing in the
result. The lines were looked up in outputs of pw.x 6.7. Pure; used by ``verdict`` and ``series``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final

from crystalmath.codes.espresso.run import Cell, Positions, Pseudo, Run, Scf, Vector

_N: Final = r"([-+]?\d*\.?\d+(?:[EeDd][-+]?\d+)?)"
_VECTOR: Final = re.compile(rf"^\s*{_N}\s+{_N}\s+{_N}")

_Handler = Callable[["Run", re.Match[str], str], None]
_EVENTS: dict[str, tuple[str, _Handler]] = {}


def _event(name: str, pattern: str) -> Callable[[_Handler], _Handler]:
    """Register what is done at lines that match."""

    def register(handler: _Handler) -> _Handler:
        _EVENTS[name] = (pattern, handler)
        return handler

    return register


def number(text: str) -> float:
    """A Fortran number."""
    return float(text.replace("D", "E").replace("d", "e"))


def parse_output(text: str, *, partial: bool = False) -> Run:
    """Read an output, or the parts of one that are there.

    Parameters
    ----------
    partial
        Something is missing in the middle.
    """
    run = Run(partial=partial)
    for match in _PATTERN.finditer(text):
        assert match.lastgroup is not None
        if match.lastgroup == "start":
            # Several runs in one file: the last one counts.
            run = Run(partial=partial)
        _HANDLERS[match.lastgroup](run, match, text)
    return run


def _rest(match: re.Match[str], text: str) -> str:
    """The rest of the matched line."""
    end = text.find("\n", match.end())
    return text[match.end() : end if end >= 0 else len(text)]


def _lines_after(match: re.Match[str], text: str, most: int) -> list[str]:
    """The lines behind the matched one."""
    start = text.find("\n", match.end()) + 1
    lines: list[str] = []
    while start > 0 and len(lines) < most:
        end = text.find("\n", start)
        if end < 0:
            break
        lines.append(text[start:end])
        start = end + 1
    return lines


def _first(pattern: re.Pattern[str], text: str) -> float | None:
    match = pattern.search(text)
    return None if match is None else number(match[1])


_FIRST_NUMBER: Final = re.compile(_N)


@_event("start", r"Program PWSCF v\.")
def _on_start(run: Run, match: re.Match[str], text: str) -> None:
    version, _, when = _rest(match, text).partition(" starts on")
    run.version, run.started = version.strip(), when.strip() or None


@_event("deck", r"Reading input from\s+")
def _on_deck(run: Run, match: re.Match[str], text: str) -> None:
    name = _rest(match, text).strip()
    run.deck = None if name == "standard input" else name


_SIMPLE: Final[dict[str, tuple[str, str, type]]] = {
    "alat": (r"lattice parameter \(alat\)\s*=", "alat_bohr", float),
    "celldm": (r"celldm\(1\)=", "alat_bohr", float),
    "natoms": (r"number of atoms/cell\s*=", "n_atoms", int),
    "nelec": (r"number of electrons\s*=", "n_electrons", float),
    "nbnd": (r"number of Kohn-Sham states\s*=", "n_bands", int),
    "nks": (r"number of k points\s*=", "n_kpoints", int),
    "volume": (r"(?:new )?unit-cell volume\s*=", "volume_bohr3", float),
    "bfgs_n": (r"number of bfgs steps\s*=", "bfgs_steps", int),
    "e_final": (r"Final energy\s*=", "final_energy_ry", float),
    "h_final": (r"Final enthalpy\s*=", "final_enthalpy_ry", float),
    "temp": (r"temperature\s*=", "temperature_k", float),
    "procs": (r"Parallel version \([^)]*\), running on", "processes", int),
    "maxsec": (r"max_seconds\s*=", "max_seconds", float),
}
"""Lines that give one number: name → pattern, attribute of ``Run``, type."""


def _simple(attribute: str, kind: type) -> _Handler:
    def handler(run: Run, match: re.Match[str], text: str) -> None:
        value = _first(_FIRST_NUMBER, _rest(match, text))
        if value is not None:
            setattr(run, attribute, kind(value))

    return handler


_FLAGS: Final[dict[str, tuple[str, str]]] = {
    "fromsave": (r"Atomic positions and unit cell read from directory", "from_save"),
    "bands": (r"Band Structure Calculation", "bands_started"),
    "bandsend": (r"End of band structure calculation", "bands_ended"),
    "relax": (r"force convergence thresh\.", "relaxes_atoms"),
    "relaxcell": (r"press convergence thresh\.", "relaxes_cell"),
    "bfgsok": (
        r"(?:(?:bfgs: )?history already converged|Damped Dynamics: convergence achieved)",
        "bfgs_converged",
    ),
    "bfgsbad": (r"bfgs failed", "bfgs_failed"),
    "maxsteps": (r"The maximum number of steps has been reached", "max_steps_reached"),
    "coords": (r"End final coordinates", "final_coordinates"),
    "finalscf": (r"(?:A f|F)inal scf calculation at the relaxed", "final_scf_started"),
    "mdend": (r"End of molecular dynamics calculation", "md_ended"),
    "time": (r"Maximum CPU time exceeded", "stopped_by_time"),
}
"""Lines that say one thing: name → pattern, attribute of ``Run``."""


def _flag(attribute: str) -> _Handler:
    def handler(run: Run, _match: re.Match[str], _text: str) -> None:
        setattr(run, attribute, True)

    return handler


@_event("scf", r"Self-consistent Calculation")
def _on_scf(run: Run, _match: re.Match[str], _text: str) -> None:
    known = not run.from_save or len(run.scfs) > 0
    run.scfs.append(
        Scf(
            cell=run.cell if known else None,
            positions=run.positions if known else None,
            volume_bohr3=run.volume_bohr3 if known else None,
            is_final=run.final_scf_started,
        )
    )


@_event("iter", r"iteration #")
def _on_iteration(run: Run, match: re.Match[str], text: str) -> None:
    value = _first(_FIRST_NUMBER, _rest(match, text))
    if run.scfs and value is not None:
        run.scfs[-1].iterations = int(value)


@_event("energy", r"!{0,2} *total energy\s*=")
def _on_energy(run: Run, match: re.Match[str], text: str) -> None:
    value = _first(re.compile(rf"{_N}\s+Ry"), _rest(match, text))
    if not run.scfs or value is None:
        return
    if match["energy"].startswith("!"):
        run.scfs[-1].energy_ry = value
    # The last iteration gives its energy only behind the exclamation mark.
    run.scfs[-1].energies_ry.append(value)


@_event("accuracy", r"estimated scf accuracy\s*<")
def _on_accuracy(run: Run, match: re.Match[str], text: str) -> None:
    value = _first(re.compile(rf"{_N}\s+Ry"), _rest(match, text))
    scf = run.scf
    if scf is not None and value is not None and len(scf.accuracies_ry) < len(scf.energies_ry):
        scf.accuracies_ry.append(value)


@_event("achieved", r"convergence has been achieved")
def _on_achieved(run: Run, match: re.Match[str], text: str) -> None:
    if run.scfs and "iterations" in _rest(match, text):
        run.scfs[-1].converged = True


@_event("notachieved", r"convergence NOT achieved")
def _on_not_achieved(run: Run, _match: re.Match[str], _text: str) -> None:
    if run.scfs:
        run.scfs[-1].converged = False


@_event("level", r"(?:the Fermi energy is|the spin up/dw Fermi energies are|highest occupied)")
def _on_level(run: Run, match: re.Match[str], text: str) -> None:
    line = match["level"] + _rest(match, text)
    values = [number(value) for value in re.findall(_N, line.rpartition(":")[2])]
    if "Fermi" in line and values:
        run.fermi_ev = max(values)
    elif values:
        run.highest_occupied_ev = values[0]
        run.lowest_unoccupied_ev = values[1] if len(values) > 1 else None


@_event("force", r"Total force\s*=")
def _on_total_force(run: Run, match: re.Match[str], text: str) -> None:
    if run.scfs:
        run.scfs[-1].total_force_ry_per_bohr = _first(_FIRST_NUMBER, _rest(match, text))


@_event("forces", r"Forces acting on atoms")
def _on_forces(run: Run, match: re.Match[str], text: str) -> None:
    if not run.scfs:
        return
    found: list[Vector] = []
    for line in _lines_after(match, text, (run.n_atoms or 0) + 1):
        words = re.match(rf"\s*atom\s+\d+ type\s+\d+\s+force =\s*{_N}\s+{_N}\s+{_N}", line)
        if words is not None:
            found.append((number(words[1]), number(words[2]), number(words[3])))
    run.scfs[-1].forces_ry_per_bohr = found


@_event("stress", r"total\s+stress\s+\(Ry/bohr\*\*3\)")
def _on_stress(run: Run, match: re.Match[str], text: str) -> None:
    if not run.scfs:
        return
    scf = run.scfs[-1]
    scf.pressure_kbar = _first(re.compile(rf"P=\s*{_N}"), _rest(match, text))
    rows = _vectors(_lines_after(match, text, 3))
    scf.stress_ry_per_bohr3 = rows if len(rows) == 3 else []


@_event("magtotal", r"total magnetization\s*=")
def _on_magnetisation(run: Run, match: re.Match[str], text: str) -> None:
    values = [number(v) for v in re.findall(_N, _rest(match, text))]
    if run.scfs and values:
        length = sum(v * v for v in values) ** 0.5
        run.scfs[-1].magnetisation = values[0] if len(values) == 1 else length


@_event("magabs", r"absolute magnetization\s*=")
def _on_absolute(run: Run, match: re.Match[str], text: str) -> None:
    if run.scfs:
        run.scfs[-1].absolute_magnetisation = _first(_FIRST_NUMBER, _rest(match, text))


@_event("pseudo", r"PseudoPot\. #\s*\d+ for\s+")
def _on_pseudo(run: Run, match: re.Match[str], text: str) -> None:
    element = _rest(match, text).split()[:1]
    lines = _lines_after(match, text, 2)
    if not element or len(lines) < 2:
        return
    printed = Pseudo(element[0], lines[0].strip())
    md5 = re.search(r"MD5 check sum:\s*([0-9a-f]{32})", lines[1])
    printed.md5 = None if md5 is None else md5[1]
    if all(one.path != printed.path for one in run.pseudos):
        run.pseudos.append(printed)


@_event("axes", r"crystal axes:")
def _on_axes(run: Run, match: re.Match[str], text: str) -> None:
    rows = _vectors([line.partition("(")[2].partition("(")[2] for line in _axes(match, text)])
    if len(rows) == 3:
        run.cell = Cell((rows[0], rows[1], rows[2]), "alat", run.alat_bohr)


def _axes(match: re.Match[str], text: str) -> list[str]:
    return [line for line in _lines_after(match, text, 3) if re.match(r"\s*a\(\d\) = \(", line)]


@_event("sites", r"site n\.\s+atom\s+positions \((?:alat|a_0)")
def _on_sites(run: Run, match: re.Match[str], text: str) -> None:
    labels: list[str] = []
    places: list[Vector] = []
    lines: list[str] = []
    for line in _lines_after(match, text, run.n_atoms or 0):
        site = re.match(rf"\s*\d+\s+(\S+)\s+tau\(\s*\d+\) = \(\s*{_N}\s+{_N}\s+{_N}", line)
        if site is None:
            return
        labels.append(site[1])
        places.append((number(site[2]), number(site[3]), number(site[4])))
        lines.append(f"{site[1]} {site[2]} {site[3]} {site[4]}")
    if labels:
        run.positions = Positions(tuple(labels), tuple(places), "alat", tuple(lines))


@_event("cell", r"CELL_PARAMETERS\b")
def _on_cell(run: Run, match: re.Match[str], text: str) -> None:
    option = _rest(match, text)
    rows = _vectors(_lines_after(match, text, 3))
    if len(rows) == 3:
        alat = re.search(rf"alat\s*=\s*{_N}", option)
        unit = "alat" if "alat" in option else "bohr" if "bohr" in option else "angstrom"
        run.cell = Cell(
            (rows[0], rows[1], rows[2]), unit, number(alat[1]) if alat else run.alat_bohr
        )


@_event("atoms", r"ATOMIC_POSITIONS\b")
def _on_positions(run: Run, match: re.Match[str], text: str) -> None:
    unit = re.sub(r"[(){}\s]", "", _rest(match, text)).lower() or "alat"
    labels: list[str] = []
    places: list[Vector] = []
    lines = _lines_after(match, text, run.n_atoms or 100_000)
    for line in lines:
        words = line.split()
        if len(words) < 4:
            break
        try:
            places.append((number(words[1]), number(words[2]), number(words[3])))
        except ValueError:
            break
        labels.append(words[0])
    if labels and (run.n_atoms is None or len(labels) == run.n_atoms):
        kept = tuple(lines[: len(labels)])
        run.positions = Positions(tuple(labels), tuple(places), unit, kept)
        run.from_save = False


@_event("bfgsend", r"bfgs converged in")
def _on_bfgs_converged(run: Run, match: re.Match[str], text: str) -> None:
    run.bfgs_converged = True
    counts = re.findall(r"\d+", _rest(match, text))
    run.bfgs_steps = int(counts[1]) if len(counts) > 1 else run.bfgs_steps


@_event("mdstep", r"Entering Dynamics:")
def _on_md_step(run: Run, match: re.Match[str], text: str) -> None:
    run.md_steps = int(_first(_FIRST_NUMBER, _rest(match, text)) or run.md_steps)


@_event("error", r"Error in routine\s+")
def _on_error(run: Run, match: re.Match[str], text: str) -> None:
    routine = _rest(match, text).strip().removesuffix(":")
    message: list[str] = []
    for line in _lines_after(match, text, 4):
        if line.strip().startswith("%%%"):
            break
        message.append(line.strip())
    run.errors.append((re.sub(r"\s*\(-?\d+\)$", "", routine), " ".join(message).strip()))


@_event("clock", r"PWSCF\s+:")
def _on_clock(run: Run, match: re.Match[str], text: str) -> None:
    wall = re.search(r"CPU\s*(.*?)\s*WALL", _rest(match, text))
    if wall is not None:
        run.wall_s = parse_duration_s(wall[1])


@_event("done", r"JOB DONE\.")
def _on_done(run: Run, match: re.Match[str], text: str) -> None:
    run.job_done = True
    after = text[match.end() :].lstrip()
    run.closed = re.match(r"=-+=", after) is not None


def _vectors(lines: list[str]) -> list[Vector]:
    found: list[Vector] = []
    for line in lines:
        match = _VECTOR.match(line)
        if match is not None:
            found.append((number(match[1]), number(match[2]), number(match[3])))
    return found


def parse_duration_s(text: str) -> float | None:
    """Seconds of a duration such as ``2.90s``, ``1m12.30s``, ``3h 4m`` or ``1d 2h 3m``."""
    units: Mapping[str, float] = {"d": 86400.0, "h": 3600.0, "m": 60.0, "s": 1.0}
    parts = re.findall(r"(\d+(?:\.\d*)?)\s*([dhms])", text)
    return sum(float(n) * units[unit] for n, unit in parts) if parts else None


for _name, (_pattern, _attribute, _kind) in _SIMPLE.items():
    _EVENTS[_name] = (_pattern, _simple(_attribute, _kind))
for _name, (_pattern, _attribute) in _FLAGS.items():
    _EVENTS[_name] = (_pattern, _flag(_attribute))

_HANDLERS: Final = {name: handler for name, (_, handler) in _EVENTS.items()}
_PATTERN: Final = re.compile(
    f"^ *(?:{'|'.join(f'(?P<{name}>{pattern})' for name, (pattern, _) in _EVENTS.items())})",
    re.MULTILINE,
)
