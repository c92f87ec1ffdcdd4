"""What ph.x adds to the results document of its SCF, and the doubts about it. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from crystalmath.codes.espresso.geometry import lattice_angstrom
from crystalmath.codes.espresso.phonons.output import PhRun, QPoint
from crystalmath.codes.espresso.run import Run
from crystalmath.codes.vibrations import ACOUSTIC_CM1, count_modes
from crystalmath.units import BOHR_ANGSTROM

SAME_CM1: Final = 0.005
"""Neighbours that are nearer are one degenerate group."""
BORN_SUM_E: Final = 0.1
"""A larger component of the sum of the Born charges makes them doubtful, e."""
AT_REST_EV_PER_A: Final = 0.01
"""With larger forces the atoms are not at a minimum, where frequencies mean something."""


def add(document: dict[str, Any], run: Run, ph: PhRun) -> dict[str, Any]:
    """The document of the SCF with frequencies, and the response to a field."""
    points = [point for point in ph.points if point.is_complete and point.q is not None]
    cm1 = [value for point in points for value in point.cm1]
    acoustic = negative = 0
    for point in points:
        near, below = _count(point)
        acoustic, negative = acoustic + near, negative + below
    frequencies: dict[str, Any] = {
        "modes": len(cm1),
        "groups": [row for point in points for row in _groups(point)],
        "frequencies_cm1": cm1,
        "q_fractions": [q for point in points if (q := _fractions(point, run)) is not None],
    }
    frequencies |= {"acoustic": acoustic, "negative": negative}
    residue = acoustic_residue(points)
    if residue is not None:
        frequencies["acoustic_residue_cm1"] = residue
    found = {**document, "frequencies": frequencies}
    if ph.dielectric:
        found["dielectric_tensor"] = [list(row) for row in ph.dielectric]
    if ph.born:
        found["born_charges_e"] = [
            {"atom": number} | {name: list(row) for name, row in zip("xyz", rows, strict=True)}
            for number, rows in enumerate(ph.born, start=1)
        ]
        found["born_charge_sum_e"] = _born_residue(ph)
    return found


def _is_gamma(point: QPoint) -> bool:
    return point.q is not None and not any(point.q)


def _count(point: QPoint) -> tuple[int, int]:
    if _is_gamma(point):
        return count_modes(point.cm1)
    return 0, sum(value < 0 for value in point.cm1)


def acoustic_residue(points: Sequence[QPoint]) -> float | None:
    """How far the three modes nearest to zero at Γ are from it, cm⁻¹."""
    at_gamma = next((point for point in points if _is_gamma(point)), None)
    if at_gamma is None:
        return None
    return abs(sorted(at_gamma.cm1, key=abs)[:3][-1])


def _born_residue(ph: PhRun) -> float:
    """The largest component of the sum of all charges, which ought to be zero, in e."""
    sums = [sum(rows[i][j] for rows in ph.born) for i in range(3) for j in range(3)]
    return round(max(abs(value) for value in sums), 5)


def _fractions(point: QPoint, run: Run) -> list[float] | None:
    """The wave vector as fractions of the reciprocal vectors; None without the cell."""
    if _is_gamma(point):
        return [0.0, 0.0, 0.0]
    lattice = None if run.cell is None else lattice_angstrom(run.cell)
    if point.q is None or lattice is None or run.alat_bohr is None:
        return None
    alat = run.alat_bohr * BOHR_ANGSTROM
    return [
        round(sum(a * b for a, b in zip(row, point.q, strict=True)) / alat, 4) + 0.0
        for row in lattice
    ]


def _groups(point: QPoint) -> list[dict[str, Any]]:
    """Modes of one frequency: those of a representation as printed, else equal numbers."""
    by_first = {one.first: one for one in point.irreps}
    rows: list[dict[str, Any]] = []
    first = 1
    while first <= len(point.cm1):
        irrep = by_first.get(first)
        last = first if irrep is None else max(first, irrep.last)
        if irrep is None:
            while (
                last < len(point.cm1)
                and last + 1 not in by_first
                and abs(point.cm1[last] - point.cm1[first - 1]) < SAME_CM1
            ):
                last += 1
        row: dict[str, Any] = {
            "modes": [first, last],
            "thz": point.thz[first - 1],
            "cm1": point.cm1[first - 1],
        }
        if irrep is not None:
            row["irrep"] = irrep.name
            row["activity"] = irrep.activity or "-"
        rows.append(row)
        first = last + 1
    return rows


def doubts(document: dict[str, Any], ph: PhRun) -> list[str]:
    """What a user should know of the numbers."""
    said: list[str] = []
    frequencies = document["frequencies"]
    if frequencies["negative"]:
        said.append(f"{frequencies['negative']} imaginary frequencies (printed negative)")
    residue = frequencies.get("acoustic_residue_cm1")
    if residue is not None and residue > ACOUSTIC_CM1:
        said.append(
            f"the acoustic modes at Γ are up to {residue:.1f} cm-1 from zero: more k points or "
            "larger cutoffs make them better"
        )
    excess = document.get("born_charge_sum_e")
    if excess is not None and excess > BORN_SUM_E:
        said.append(
            f"the Born charges sum up to {excess:.2f} e instead of zero: more k points or larger "
            "cutoffs make them better"
        )
    fmax = document.get("fmax_ev_per_a")
    if fmax is not None and fmax > AT_REST_EV_PER_A:
        said.append(
            f"the largest force is {fmax:.3f} eV/Å: the atoms are not at rest, where frequencies "
            "mean something; relax them first"
        )
    if ph.born and ph.dielectric:
        said.append(
            "frequencies at Γ are those without a macroscopic field: the splitting of LO and TO "
            "modes is not in them"
        )
    return said
