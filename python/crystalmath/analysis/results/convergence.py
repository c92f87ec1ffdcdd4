"""The results document of a convergence series."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
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
LABELS: Final[dict[Kind, str]] = {
    "energy_per_atom_ev": "energy per atom",
    "force_ev_per_angstrom": "forces",
    "stress_gpa": "stress",
    "gap_ev": "band gap",
}
PARAMETERS: Final = {
    "cutoff": "cutoff",
    "k_spacing": "distance of k points",
    "degauss": "width of the smearing",
    "supercell": "cells along each vector",
    "shrink": "SHRINK",
    "tolinteg": "TOLINTEG",
    "basis": "basis set",
}
NOTHING: Final[dict[Kind, float]] = {
    "energy_per_atom_ev": 1e-12,
    "force_ev_per_angstrom": 1e-6,
    "stress_gpa": 1e-6,
    "gap_ev": 1e-9,
}
"""Values that all differ by less do not depend on the parameter at all."""


@dataclass(frozen=True, slots=True)
class Series:
    """A convergence series and what it was asked for.

    Attributes
    ----------
    tolerance
        In the unit of the quantity.
    unit
        Of the parameter.
    notes
        What a reader should know of the points.
    """

    found: Convergence
    kind: Kind
    tolerance: float
    parameter: str
    unit: str = ""
    notes: tuple[str, ...] = ()


def convergence_document(asked: Series, provenance: Mapping[str, str]) -> ResultsDocument:
    """Make a document of a series: the chosen setting, all points, those that failed."""
    unit = UNITS[asked.kind]
    name = PARAMETERS.get(asked.parameter, asked.parameter)
    chosen = [one for choice in asked.found.choices for one in _chosen(choice, name, asked.unit)]
    return ResultsDocument(
        kind="convergence",
        title=f"Convergence of {LABELS[asked.kind]} with the {name}, to {asked.tolerance:g} {unit}",
        quantities=(*chosen, Quantity("tolerance", "tolerance", asked.tolerance, unit)),
        tables=(
            _choices(asked.found),
            *(_points(choice, unit) for choice in asked.found.choices),
        ),
        plots=(_plot(asked, name, unit),),
        flags=_flags(asked),
        provenance=provenance,
    )


def _chosen(choice: Choice, name: str, unit: str) -> list[Quantity]:
    """The converged setting as a number; none where nothing shows convergence."""
    label = f"converged {name}" + (f", {choice.series}" if choice.series else "")
    key = f"converged_{choice.series}".strip("_").replace(" ", "_")
    if choice.index is None:
        return [Quantity(key, label, None, unit)]
    point = choice.points[choice.index]
    said = f"{label}: {point.setting}"
    if point.number is None:
        return [Quantity(f"{key}_difference", f"{said}, difference left", _left(choice))]
    return [Quantity(key, said if choice.series else label, point.number, unit)]


def _left(choice: Choice) -> float | None:
    return None if choice.index is None else choice.differences[choice.index]


def _flags(asked: Series) -> tuple[Flag, ...]:
    found = asked.found
    flags = [Flag("points", note) for note in asked.notes]
    flags += [
        Flag("series", f"{choice.series + ': ' if choice.series else ''}{warning}")
        for choice in found.choices
        for warning in choice.warnings
    ]
    flags += [
        Flag("failed", f"{point.setting}: {point.failure or 'no value'}") for point in found.failed
    ]
    flags += [
        Flag(
            "nothing_to_see",
            f"{choice.series + ': ' if choice.series else ''}the {LABELS[asked.kind]} are the same "
            "at all points, so they tell nothing: the symmetry may fix them",
        )
        for choice in found.choices
        if len(choice.points) > 1 and max(choice.differences) <= NOTHING[asked.kind]
    ]
    return tuple(flags)


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
    values = tuple((point.values or (None,))[0] for point in choice.points)
    alone = all(len(point.values or ()) == 1 for point in choice.points)
    return Table(
        f"points {choice.series}".strip(),
        "Difference from the finest point",
        (
            Column("setting", "", tuple(point.setting for point in choice.points)),
            *((Column("value", unit, values),) if alone else ()),
            Column("difference", unit, choice.differences),
        ),
    )


def _plot(asked: Series, name: str, unit: str) -> Plot:
    numbered = all(p.number is not None for c in asked.found.choices for p in c.points)
    along = f"{name} / {asked.unit}" if asked.unit else name
    return Plot(
        "differences",
        "Difference from the finest point",
        along if numbered else "point of the series",
        f"difference / {unit}",
        tuple(
            Curve(choice.series or "all", _places(choice), choice.differences, "points")
            for choice in asked.found.choices
        ),
    )


def _places(choice: Choice) -> tuple[float, ...]:
    numbers = [point.number for point in choice.points]
    if any(number is None for number in numbers):
        return tuple(float(i + 1) for i in range(len(numbers)))
    return tuple(float(number) for number in numbers if number is not None)
