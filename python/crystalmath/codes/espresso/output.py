"""What an output of pw.x says, in its own units: one pass over the text, from top to bottom.

It reads and does not judge. A file may be cut off anywhere; what was not written is missing in the
result. The lines were looked up in outputs of pw.x 6.7. Pure; used by ``verdict`` and ``series``.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from crystalmath.codes.espresso.fortran import NUMBER, number, parse_duration_s
from crystalmath.codes.espresso.run import Cell, Positions, Pseudo, Run, Scf, Vector

_VECTOR: Final = re.compile(rf"^\s*{NUMBER}\s+{NUMBER}\s+{NUMBER}")

_Handler = Callable[["Run", re.Match[str], str], None]
_EVENTS: list[tuple[str, _Handler]] = []
"""How a line begins, behind blanks → what is done there."""


def _event(*patterns: str) -> Callable[[_Handler], _Handler]:
    """Register what is done at lines that begin with one of these; the first letter is literal."""

    def register(handler: _Handler) -> _Handler:
        _EVENTS.extend((pattern, handler) for pattern in patterns)
        return handler

    return register


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
        if _HANDLERS[match.lastgroup] is _on_start:
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


_FIRST_NUMBER: Final = re.compile(NUMBER)


@_event(r"Program PWSCF v\.")
def _on_start(run: Run, match: re.Match[str], text: str) -> None:
    version, _, when = _rest(match, text).partition(" starts on")
    run.version, run.started = version.strip(), when.strip() or None


@_event(r"Reading input from\s+")
def _on_deck(run: Run, match: re.Match[str], text: str) -> None:
    name = _rest(match, text).strip()
    run.deck = None if name == "standard input" else name


_SIMPLE: Final[tuple[tuple[str, str, type], ...]] = (
    (r"lattice parameter \(alat\)\s*=", "alat_bohr", float),
    (r"celldm\(1\)=", "alat_bohr", float),
    (r"number of atoms/cell\s*=", "n_atoms", int),
    (r"number of electrons\s*=", "n_electrons", float),
    (r"number of Kohn-Sham states\s*=", "n_bands", int),
    (r"number of k points\s*=", "n_kpoints", int),
    (r"unit-cell volume\s*=", "volume_bohr3", float),
    (r"new unit-cell volume\s*=", "volume_bohr3", float),
    (r"number of bfgs steps\s*=", "bfgs_steps", int),
    (r"Final energy\s*=", "final_energy_ry", float),
    (r"Final enthalpy\s*=", "final_enthalpy_ry", float),
    (r"temperature\s*=", "temperature_k", float),
    (r"Parallel version \([^)]*\), running on", "processes", int),
    (r"max_seconds\s*=", "max_seconds", float),
)
"""Lines that give one number: how they begin, attribute of ``Run``, type."""


def _simple(attribute: str, kind: type) -> _Handler:
    def handler(run: Run, match: re.Match[str], text: str) -> None:
        value = _first(_FIRST_NUMBER, _rest(match, text))
        if value is not None:
            setattr(run, attribute, kind(value))

    return handler


_FLAGS: Final[tuple[tuple[str, str], ...]] = (
    (r"Atomic positions and unit cell read from directory", "from_save"),
    (r"Band Structure Calculation", "bands_started"),
    (r"End of band structure calculation", "bands_ended"),
    (r"force convergence thresh\.", "relaxes_atoms"),
    (r"press convergence thresh\.", "relaxes_cell"),
    (r"history already converged", "bfgs_converged"),
    (r"bfgs: history already converged", "bfgs_converged"),
    (r"Damped Dynamics: convergence achieved", "bfgs_converged"),
    (r"bfgs failed", "bfgs_failed"),
    (r"The maximum number of steps has been reached", "max_steps_reached"),
    (r"End final coordinates", "final_coordinates"),
    (r"Final scf calculation at the relaxed", "final_scf_started"),
    (r"A final scf calculation at the relaxed", "final_scf_started"),
    (r"End of molecular dynamics calculation", "md_ended"),
    (r"Maximum CPU time exceeded", "stopped_by_time"),
)
"""Lines that say one thing: how they begin, attribute of ``Run``."""


def _flag(attribute: str) -> _Handler:
    def handler(run: Run, _match: re.Match[str], _text: str) -> None:
        setattr(run, attribute, True)

    return handler


@_event(r"Self-consistent Calculation")
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


@_event(r"iteration #")
def _on_iteration(run: Run, match: re.Match[str], text: str) -> None:
    value = _first(_FIRST_NUMBER, _rest(match, text))
    if run.scfs and value is not None:
        run.scfs[-1].iterations = int(value)


@_event(r"total energy\s*=", r"!!? *total energy\s*=")
def _on_energy(run: Run, match: re.Match[str], text: str) -> None:
    value = _first(re.compile(rf"{NUMBER}\s+Ry"), _rest(match, text))
    if not run.scfs or value is None:
        return
    if "!" in match[0]:
        run.scfs[-1].energy_ry = value
    # The last iteration gives its energy only behind the exclamation mark.
    run.scfs[-1].energies_ry.append(value)


@_event(r"estimated scf accuracy\s*<")
def _on_accuracy(run: Run, match: re.Match[str], text: str) -> None:
    value = _first(re.compile(rf"{NUMBER}\s+Ry"), _rest(match, text))
    scf = run.scf
    if scf is not None and value is not None and len(scf.accuracies_ry) < len(scf.energies_ry):
        scf.accuracies_ry.append(value)


@_event(r"convergence has been achieved")
def _on_achieved(run: Run, match: re.Match[str], text: str) -> None:
    if run.scfs and "iterations" in _rest(match, text):
        run.scfs[-1].converged = True


@_event(r"convergence NOT achieved")
def _on_not_achieved(run: Run, _match: re.Match[str], _text: str) -> None:
    if run.scfs:
        run.scfs[-1].converged = False


@_event(r"the Fermi energy is", r"the spin up/dw Fermi energies are", r"highest occupied")
def _on_level(run: Run, match: re.Match[str], text: str) -> None:
    line = match[0] + _rest(match, text)
    values = [number(value) for value in re.findall(NUMBER, line.rpartition(":")[2])]
    if "Fermi" in line and values:
        run.fermi_ev = max(values)
    elif values:
        run.highest_occupied_ev = values[0]
        run.lowest_unoccupied_ev = values[1] if len(values) > 1 else None


@_event(r"Total force\s*=")
def _on_total_force(run: Run, match: re.Match[str], text: str) -> None:
    if run.scfs:
        run.scfs[-1].total_force_ry_per_bohr = _first(_FIRST_NUMBER, _rest(match, text))


@_event(r"Forces acting on atoms")
def _on_forces(run: Run, match: re.Match[str], text: str) -> None:
    if not run.scfs:
        return
    found: list[Vector] = []
    for line in _lines_after(match, text, (run.n_atoms or 0) + 1):
        words = re.match(
            rf"\s*atom\s+\d+ type\s+\d+\s+force =\s*{NUMBER}\s+{NUMBER}\s+{NUMBER}", line
        )
        if words is not None:
            found.append((number(words[1]), number(words[2]), number(words[3])))
    run.scfs[-1].forces_ry_per_bohr = found


@_event(r"total\s+stress\s+\(Ry/bohr\*\*3\)")
def _on_stress(run: Run, match: re.Match[str], text: str) -> None:
    if not run.scfs:
        return
    scf = run.scfs[-1]
    scf.pressure_kbar = _first(re.compile(rf"P=\s*{NUMBER}"), _rest(match, text))
    rows = _vectors(_lines_after(match, text, 3))
    scf.stress_ry_per_bohr3 = rows if len(rows) == 3 else []


@_event(r"total magnetization\s*=")
def _on_magnetisation(run: Run, match: re.Match[str], text: str) -> None:
    values = [number(v) for v in re.findall(NUMBER, _rest(match, text))]
    if run.scfs and values:
        length = sum(v * v for v in values) ** 0.5
        run.scfs[-1].magnetisation = values[0] if len(values) == 1 else length


@_event(r"absolute magnetization\s*=")
def _on_absolute(run: Run, match: re.Match[str], text: str) -> None:
    if run.scfs:
        run.scfs[-1].absolute_magnetisation = _first(_FIRST_NUMBER, _rest(match, text))


@_event(r"PseudoPot\. #\s*\d+ for\s+")
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


@_event(r"crystal axes:")
def _on_axes(run: Run, match: re.Match[str], text: str) -> None:
    rows = _vectors([line.partition("(")[2].partition("(")[2] for line in _axes(match, text)])
    if len(rows) == 3:
        run.cell = Cell((rows[0], rows[1], rows[2]), "alat", run.alat_bohr)


def _axes(match: re.Match[str], text: str) -> list[str]:
    return [line for line in _lines_after(match, text, 3) if re.match(r"\s*a\(\d\) = \(", line)]


@_event(r"site n\.\s+atom\s+positions \((?:alat|a_0)")
def _on_sites(run: Run, match: re.Match[str], text: str) -> None:
    labels: list[str] = []
    places: list[Vector] = []
    lines: list[str] = []
    for line in _lines_after(match, text, run.n_atoms or 0):
        site = re.match(
            rf"\s*\d+\s+(\S+)\s+tau\(\s*\d+\) = \(\s*{NUMBER}\s+{NUMBER}\s+{NUMBER}", line
        )
        if site is None:
            return
        labels.append(site[1])
        places.append((number(site[2]), number(site[3]), number(site[4])))
        lines.append(f"{site[1]} {site[2]} {site[3]} {site[4]}")
    if labels:
        run.positions = Positions(tuple(labels), tuple(places), "alat", tuple(lines))


@_event(r"CELL_PARAMETERS\b")
def _on_cell(run: Run, match: re.Match[str], text: str) -> None:
    option = _rest(match, text)
    rows = _vectors(_lines_after(match, text, 3))
    if len(rows) == 3:
        alat = re.search(rf"alat\s*=\s*{NUMBER}", option)
        unit = "alat" if "alat" in option else "bohr" if "bohr" in option else "angstrom"
        run.cell = Cell(
            (rows[0], rows[1], rows[2]), unit, number(alat[1]) if alat else run.alat_bohr
        )


@_event(r"ATOMIC_POSITIONS\b")
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


@_event(r"bfgs converged in")
def _on_bfgs_converged(run: Run, match: re.Match[str], text: str) -> None:
    run.bfgs_converged = True
    counts = re.findall(r"\d+", _rest(match, text))
    run.bfgs_steps = int(counts[1]) if len(counts) > 1 else run.bfgs_steps


@_event(r"Entering Dynamics:")
def _on_md_step(run: Run, match: re.Match[str], text: str) -> None:
    run.md_steps = int(_first(_FIRST_NUMBER, _rest(match, text)) or run.md_steps)


@_event(r"Error in routine\s+")
def _on_error(run: Run, match: re.Match[str], text: str) -> None:
    routine = _rest(match, text).strip().removesuffix(":")
    message: list[str] = []
    for line in _lines_after(match, text, 4):
        if line.strip().startswith("%%%"):
            break
        message.append(line.strip())
    run.errors.append((re.sub(r"\s*\(-?\d+\)$", "", routine), " ".join(message).strip()))


@_event(r"PWSCF\s+:")
def _on_clock(run: Run, match: re.Match[str], text: str) -> None:
    wall = re.search(r"CPU\s*(.*?)\s*WALL", _rest(match, text))
    if wall is not None:
        run.wall_s = parse_duration_s(wall[1])


@_event(r"JOB DONE\.")
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


for _begin, _attribute, _kind in _SIMPLE:
    _event(_begin)(_simple(_attribute, _kind))
for _begin, _attribute in _FLAGS:
    _event(_begin)(_flag(_attribute))

_HANDLERS: Final = {f"e{index}": handler for index, (_, handler) in enumerate(_EVENTS)}


def _compile() -> re.Pattern[str]:
    """One pattern for all events; an empty group at its end says which it is.

    Sorted by their first letter: a line that begins with another one is passed over at once.
    """
    by_letter: dict[str, list[str]] = {}
    for index, (pattern, _) in enumerate(_EVENTS):
        by_letter.setdefault(pattern[0], []).append(f"{pattern[1:]}(?P<e{index}>)")
    letters = (f"{letter}(?:{'|'.join(rest)})" for letter, rest in by_letter.items())
    return re.compile(f"^ *(?:{'|'.join(letters)})", re.MULTILINE)


_PATTERN: Final = _compile()
