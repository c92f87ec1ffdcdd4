"""The linter of INCAR: what VASP would refuse, or would take for something else than was meant.

It knows the manual (https://www.vasp.at/wiki) and says what to do; it changes nothing. Pure text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Literal

from crystalmath.codes.vasp.deck.incar import flag, integer, number, words
from crystalmath.codes.vasp.lint.numbers import wrong_numbers

FEW_KPOINTS: Final = 4
"""The tetrahedron method needs at least this many points."""
_MOVING: Final = (1, 2, 3)


@dataclass(frozen=True, slots=True)
class Finding:
    """Something to say about one tag."""

    tag: str
    severity: Literal["error", "warning"]
    message: str
    fix: str


@dataclass(frozen=True, slots=True)
class Beside:
    """What an INCAR is judged beside; None where it is not known.

    Attributes
    ----------
    n_kpoints
        Points of the whole mesh, without symmetry.
    cores
        Processes of the job.
    """

    n_atoms: int | None = None
    n_species: int | None = None
    n_kpoints: int | None = None
    cores: int | None = None
    gamma_needed: bool = False


def lint_incar(tags: Mapping[str, str], beside: Beside) -> list[Finding]:
    """Find what is wrong, errors first."""
    found = [one for rule in _RULES for one in rule(tags, beside)]
    return sorted(found, key=lambda one: one.severity != "error")


def _numbers(tags: Mapping[str, str], _: Beside) -> Iterator[Finding]:
    for tag, wrong, fix in wrong_numbers(tags):
        yield Finding(tag, "error", wrong, fix)


def _steps(tags: Mapping[str, str], _: Beside) -> Iterator[Finding]:
    """IBRION, NSW and ISIF belong together."""
    nsw = integer(tags.get("NSW"), 0)
    ibrion = integer(tags.get("IBRION"), -1 if nsw in (-1, 0, 1) else 0)
    isif = integer(tags.get("ISIF"), 0 if ibrion == 0 else 2)
    if nsw > 1 and "IBRION" not in tags:
        yield Finding(
            "IBRION",
            "warning",
            f"NSW = {nsw} without IBRION is molecular dynamics",
            "IBRION = 2 relaxes",
        )
    if nsw == 0 and ibrion in _MOVING:
        yield Finding(
            "NSW",
            "warning",
            f"IBRION = {ibrion} relaxes nothing with NSW = 0",
            "give NSW, or leave IBRION out",
        )
    if nsw > 0 and ibrion == -1:
        yield Finding(
            "IBRION",
            "warning",
            f"IBRION = -1 moves nothing, so NSW = {nsw} repeats one calculation",
            "IBRION = 2, or NSW = 0",
        )
    if nsw > 0 and ibrion == 0 and "POTIM" not in tags:
        yield Finding(
            "POTIM",
            "error",
            "molecular dynamics (IBRION = 0) needs POTIM, the time step in fs",
            "e.g. POTIM = 1",
        )
    if isif >= 3 and nsw > 1 and ibrion in _MOVING and not number(tags.get("ENCUT")):
        yield Finding(
            "ENCUT",
            "warning",
            f"ISIF = {isif} changes the cell with the cutoff of the potentials: the stress lacks "
            "plane waves",
            "ENCUT = 1.3 times the largest ENMAX",
        )
    if isif in (0, 1, 2) and tags.get("PSTRESS") is not None:
        yield Finding("PSTRESS", "warning", f"PSTRESS does nothing with ISIF = {isif}", "ISIF = 3")


def _force_criterion(tags: Mapping[str, str], _: Beside) -> Iterator[Finding]:
    ediffg, ediff = number(tags.get("EDIFFG")), number(tags.get("EDIFF")) or 1e-4
    if ediffg is not None and ediffg > 0 and ediffg >= 1e-2:
        yield Finding(
            "EDIFFG",
            "warning",
            f"EDIFFG = {ediffg:g} stops at a change of energy of {ediffg:g} eV; forces are meant "
            "by a negative number",
            f"EDIFFG = -{ediffg:g} for forces in eV/Å",
        )
    if ediffg is not None and 0 < ediffg < ediff:
        yield Finding(
            "EDIFFG",
            "warning",
            f"EDIFFG = {ediffg:g} eV is finer than EDIFF = {ediff:g} eV lets energies be",
            "a smaller EDIFF",
        )


def _smearing(tags: Mapping[str, str], beside: Beside) -> Iterator[Finding]:
    ismear = integer(tags.get("ISMEAR"), 1)
    few = beside.n_kpoints is not None and beside.n_kpoints < FEW_KPOINTS
    if ismear in (-4, -5) and few:
        yield Finding(
            "ISMEAR",
            "error",
            f"ISMEAR = {ismear}, the tetrahedron method, needs {FEW_KPOINTS} k points or more, "
            f"and the mesh has {beside.n_kpoints}",
            "a denser mesh, or ISMEAR = 0 with SIGMA = 0.05",
        )
    if beside.gamma_needed and tags.get("KGAMMA") is not None and not flag(tags["KGAMMA"]):
        yield Finding(
            "KGAMMA",
            "error",
            "an F-centred cell needs a mesh with Γ, and KGAMMA = .FALSE. shifts it",
            "leave KGAMMA out",
        )


def _moments(tags: Mapping[str, str], beside: Beside) -> Iterator[Finding]:
    given = words(tags.get("MAGMOM"))
    if not given or beside.n_atoms is None:
        return
    collinear = not (flag(tags.get("LNONCOLLINEAR")) or flag(tags.get("LSORBIT")))
    wanted = beside.n_atoms * (1 if collinear else 3)
    if len(given) != wanted:
        yield Finding(
            "MAGMOM",
            "error",
            f"MAGMOM has {len(given)} values, and {beside.n_atoms} atoms need {wanted}",
            "one moment per atom, three where spins are not collinear",
        )
    if collinear and integer(tags.get("ISPIN"), 1) != 2:
        yield Finding("MAGMOM", "warning", "MAGMOM does nothing without ISPIN = 2", "ISPIN = 2")


def _hubbard(tags: Mapping[str, str], beside: Beside) -> Iterator[Finding]:
    arrays = ("LDAUL", "LDAUU", "LDAUJ")
    if not flag(tags.get("LDAU")):
        if any(name in tags for name in arrays):
            yield Finding(
                "LDAU", "warning", "LDAUL, LDAUU and LDAUJ do nothing without LDAU", "LDAU = .TRUE."
            )
        return
    for name in arrays:
        count = len(words(tags.get(name)))
        if name not in tags and name != "LDAUJ":
            yield Finding(name, "error", f"LDAU = .TRUE. needs {name}", "one value per element")
        elif name in tags and beside.n_species is not None and count != beside.n_species:
            yield Finding(
                name,
                "error",
                f"{name} has {count} values, and POSCAR has {beside.n_species} blocks of elements",
                "one value per block, in the order of POSCAR",
            )


def _parallel(tags: Mapping[str, str], beside: Beside) -> Iterator[Finding]:
    cores = beside.cores
    if "NPAR" in tags and "NCORE" in tags:
        yield Finding("NPAR", "warning", "NCORE is ignored where NPAR is given", "leave one out")
    for name in ("NPAR", "NCORE", "KPAR"):
        value = integer(tags.get(name), 0)
        if name in tags and value < 1:
            yield Finding(name, "error", f"{name} must be a whole number from 1", f"{name} = 1")
        elif value > 1 and cores is not None and cores % value:
            yield Finding(
                name,
                "error",
                f"{name} = {value} does not divide the {cores} processes of the job",
                "take a divisor of the processes",
            )


_Rule = Callable[[Mapping[str, str], Beside], Iterator[Finding]]
_RULES: Final[tuple[_Rule, ...]] = (
    _numbers, _steps, _force_criterion, _smearing, _moments, _hubbard, _parallel,
)  # fmt: skip
