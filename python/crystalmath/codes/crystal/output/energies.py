"""The method and the self-consistent calculations of an output: cycles, gaps, spins, the end."""

from __future__ import annotations

import re
from typing import Final

from crystalmath.codes.crystal.output.lines import Taker, at
from crystalmath.codes.crystal.output.numbers import behind, first, number, numbers
from crystalmath.codes.crystal.output.run import MAX_ATOMS, Gap, Level, Run, Scf

_CYCLE: Final = re.compile(r"CYC +(\d+) ETOT\(AU\) *(\S+) DETOT *(\S+)")
_END: Final = re.compile(r"== SCF ENDED - (.+?) +E\(AU\) *(\S+) CYCLES *(\d+)")
_EDGE: Final = re.compile(r"BAND +(\d+); K +\d+; EIG +(\S+) AU")
_TABLE: Final = (
    ("NUMBER OF AO", "n_ao"),
    ("N. OF ELECTRONS PER CELL", "n_electrons"),
)
MAX_CYCLES: Final = 100_000


@at("NUMBER OF AO", "N. OF ELECTRONS PER CELL")
def _on_table(run: Run, line: str) -> None:
    for label, attribute in _TABLE:
        value = behind(line, label)
        if value is not None and getattr(run, attribute) is None:
            setattr(run, attribute, int(value))


@at("TYPE OF CALCULATION :", "CRYSTAL - PROPERTIES - TYPE OF CALCULATION :")
def _on_type(run: Run, line: str) -> None:
    run.properties = run.properties or "PROPERTIES" in line
    if run.open_shell is None:
        run.open_shell = "OPEN SHELL" in line


@at("CRYSTAL - SCF - TYPE OF CALCULATION")
def _on_scf(run: Run, _line: str) -> None:
    run.scfs.append(Scf())
    run.spin = ""


@at("HARTREE-FOCK HAMILTONIAN", "KOHN-SHAM HAMILTONIAN")
def _on_hamiltonian(run: Run, line: str) -> None:
    run.hamiltonian = run.hamiltonian or ("DFT" if "KOHN" in line else "HF")


@at("(EXCHANGE)[CORRELATION] FUNCTIONAL:")
def _on_functional(run: Run, line: str) -> None:
    run.functional = run.functional or line.partition(":")[2].strip()


@at("HYBRID EXCHANGE - PERCENTAGE OF FOCK EXCHANGE")
def _on_hybrid(run: Run, line: str) -> None:
    run.exact_exchange = first(line.partition("FOCK EXCHANGE")[2])


@at("NON-LOCAL WEIGHTING FACTOR")
def _on_weight(run: Run, line: str) -> None:
    value = first(line.partition("=")[2])
    if value is not None and len(run.weights) < 2:
        run.weights.append(value)


@at("CYC ")
def _on_cycle(run: Run, line: str) -> None:
    found, scf = _CYCLE.search(line), run.scf
    if found is None or scf is None or len(scf.energies) >= MAX_CYCLES:
        return
    try:
        energy, change = number(found[2]), number(found[3])
    except ValueError:  # stars: the number did not fit its columns
        return
    if not scf.energies:
        scf.first = int(found[1])
    scf.energies.append(energy)
    scf.changes.append(change)
    scf.stated, run.spin = False, ""


@at("ALPHA      ELECTRONS", "BETA       ELECTRONS")
def _on_channel(run: Run, line: str) -> None:
    run.spin = line.split(maxsplit=1)[0].lower()


def _state(run: Run) -> Scf | None:
    """The calculation whose state is being told; what an earlier cycle said is forgotten."""
    scf = run.scf
    if scf is None and run.properties:
        scf = Scf()
        run.scfs.append(scf)
    if scf is not None and not scf.stated:
        scf.gaps.clear()
        scf.conducting.clear()
        scf.fermi, scf.stated = None, True
    return scf


@at("INSULATING STATE")
def _on_insulating(run: Run, _line: str) -> Taker | None:
    scf = _state(run)
    if scf is None:
        return None
    gap, channel = Gap(None, 0.0), run.spin

    def take(line: str) -> bool:
        edge = _EDGE.search(line)
        if edge is not None and "TOP OF" in line:
            gap.top = Level(int(edge[1]), number(edge[2]))
        elif edge is not None and "BOTTOM OF" in line:
            gap.bottom = Level(int(edge[1]), number(edge[2]))
        elif "ENERGY BAND GAP:" in line:
            value = behind(line, "GAP:")
            if value is not None:
                gap.kind, gap.ev = line.split(maxsplit=1)[0].lower(), value
                scf.gaps[channel] = gap
        else:
            return False
        return True

    return take


@at("DIRECT ENERGY BAND GAP:", "INDIRECT ENERGY BAND GAP:")
def _on_gap(run: Run, line: str) -> None:
    scf, value = _state(run), behind(line, "GAP:")
    if scf is not None and value is not None:
        scf.gaps[run.spin] = Gap(line.split(maxsplit=1)[0].lower(), value)


@at("POSSIBLY CONDUCTING STATE")
def _on_conducting(run: Run, line: str) -> None:
    scf = _state(run)
    if scf is not None:
        scf.conducting.add(run.spin)
        scf.gaps.pop(run.spin, None)
        scf.fermi = behind(line, "EFERMI(AU)")


@at("== SCF ENDED - ")
def _on_end(run: Run, line: str) -> None:
    found = _END.search(line)
    if found is None:
        return
    scf = run.scf
    if scf is None:  # of an output without what stands before it
        scf = Scf()
        run.scfs.append(scf)
    scf.converged = found[1].startswith("CONVERGENCE")
    scf.energy, scf.cycles = first(found[2]), int(found[3])


@at("TOTAL ENERGY + ")
def _on_corrected(run: Run, line: str) -> None:
    # Printed behind the SCF where dispersion (and gCP) are added to its energy.
    scf, value = run.scf, behind(line, "(AU)")
    if scf is not None and scf.energy is not None and value is not None:
        scf.correction = line.partition("+")[2].partition("(AU)")[0].strip()
        scf.corrected = value


@at("SUMMED SPIN DENSITY")
def _on_spin(run: Run, line: str) -> None:
    run.summed_spin = first(line.partition("DENSITY")[2])


@at("TOTAL ATOMIC SPINS", "TOTAL ATOMIC CHARGES")
def _on_per_atom(run: Run, line: str) -> Taker:
    found: list[float] = []
    geometry = run.geometry
    wanted = MAX_ATOMS if geometry is None else geometry.n_atoms or MAX_ATOMS
    if "SPINS" in line:
        run.atomic_spins = found
    else:
        run.atomic_charges = found

    def take(line: str) -> bool:
        if not line or line.lstrip()[:1] not in "-0123456789":
            return False
        found.extend(numbers(line))
        return len(found) < wanted

    return take


@at("TOTAL ENERGY -", "TOTAL ENERGY  -")
def _on_energy_read(run: Run, line: str) -> None:
    # The table at the head of a properties run.
    if run.properties and run.total_energy_read is None:
        run.total_energy_read = first(line.partition("ENERGY")[2])


@at("N. OF SCF CYCLES")
def _on_fermi_read(run: Run, line: str) -> None:
    run.fermi_read = behind(line, "FERMI ENERGY")
