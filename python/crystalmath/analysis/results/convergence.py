"""The results document of a convergence series."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from crystalmath.analysis.flags import Flag
from crystalmath.analysis.results.document import (
    Column,
    Curve,
    Plot,
    Quantity,
    ResultsDocument,
    Table,
)
from crystalmath.domain.convergence import Choice, Convergence
from crystalmath.domain.convergence import Quantity as Kind

UNITS: Final[dict[Kind, str]] = {
    "energy_per_atom_ev": "eV",
    "force_ev_per_angstrom": "eV/Å",
    "stress_gpa": "GPa",
    "gap_ev": "eV",
}


def convergence_document(
    found: Convergence, kind: Kind, tolerance: float, provenance: Mapping[str, str]
) -> ResultsDocument:
    """Make a document of a series: the chosen setting, all points, those that failed."""
    unit = UNITS[kind]
    flags = [
        Flag("series", f"{choice.series + ': ' if choice.series else ''}{warning}")
        for choice in found.choices
        for warning in choice.warnings
    ]
    flags += [
        Flag("failed", f"{point.setting}: {point.failure or 'no value'}") for point in found.failed
    ]
    return ResultsDocument(
        kind="convergence",
        title=f"Convergence to {tolerance:g} {unit}",
        quantities=(Quantity("tolerance", "tolerance", tolerance, unit),),
        tables=(_choices(found), *(_points(choice, unit) for choice in found.choices)),
        plots=(_plot(found, unit),),
        flags=tuple(flags),
        provenance=provenance,
    )


def _choices(found: Convergence) -> Table:
    return Table(
        "choices",
        "First converged setting",
        (
            Column("series", "", tuple(choice.series for choice in found.choices)),
            Column("setting", "", tuple(choice.setting for choice in found.choices)),
        ),
    )


def _points(choice: Choice, unit: str) -> Table:
    return Table(
        f"points {choice.series}".strip(),
        "Difference from the finest point",
        (
            Column("setting", "", tuple(point.setting for point in choice.points)),
            Column("difference", unit, choice.differences),
        ),
    )


def _plot(found: Convergence, unit: str) -> Plot:
    return Plot(
        "differences",
        "Difference from the finest point",
        "point of the series",
        f"difference / {unit}",
        tuple(
            Curve(
                choice.series or "all",
                tuple(float(i + 1) for i in range(len(choice.points))),
                choice.differences,
                "points",
            )
            for choice in found.choices
        ),
    )
