"""Which point of a convergence series is good enough. Pure: numbers in, a choice out.

The reference is the finest point. A value is converged from the first point on from which all
finer ones stay within the tolerance of the reference.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Final, Literal

Quantity = Literal["energy_per_atom_ev", "force_ev_per_angstrom", "stress_gpa", "gap_ev"]

TOLERANCES: Final[Mapping[Quantity, float]] = {
    "energy_per_atom_ev": 1e-3,
    "force_ev_per_angstrom": 10e-3,
    "stress_gpa": 0.1,
    "gap_ev": 20e-3,
}
"""Used when none is given."""


@dataclass(frozen=True, slots=True)
class Point:
    """One calculation of a series.

    Attributes
    ----------
    setting
        The parameter as text, e.g. ``6 6 6`` or ``40 Ry``.
    values
        The quantity: one number, or all components of it (forces of all atoms). None when the
        calculation failed.
    series
        Points of different series are never compared: ``odd`` and ``even`` meshes, Γ alone.
    failure
        Why there are no values.
    number
        The parameter as a number, where it is one.
    """

    setting: str
    values: tuple[float, ...] | None
    series: str = ""
    failure: str | None = None
    number: float | None = None


@dataclass(frozen=True, slots=True)
class Choice:
    """What a series says.

    Attributes
    ----------
    series
        Which one.
    points
        Those that count, from coarse to fine.
    differences
        Of each point from the finest one, largest component.
    index
        Of the first converged point in ``points``; None when no point beside the finest is within
        the tolerance, so that nothing shows convergence.
    warnings
        Sentences for the user.
    """

    series: str
    points: tuple[Point, ...]
    differences: tuple[float, ...]
    index: int | None
    warnings: tuple[str, ...]

    @property
    def setting(self) -> str | None:
        """The setting that is good enough."""
        return None if self.index is None else self.points[self.index].setting


@dataclass(frozen=True, slots=True)
class Convergence:
    """The choice of each series, and the points that failed."""

    choices: tuple[Choice, ...]
    failed: tuple[Point, ...]


def converge(points: Sequence[Point], tolerance: float) -> Convergence:
    """Choose the first converged point of each series.

    Parameters
    ----------
    points
        From coarse to fine; series may be mixed.
    tolerance
        In the unit of the values.
    """
    good = [point for point in points if _is_good(point)]
    names = list(dict.fromkeys(point.series for point in good))
    choices = [
        _choose(name, tuple(point for point in good if point.series == name), tolerance)
        for name in names
    ]
    return Convergence(tuple(choices), tuple(point for point in points if not _is_good(point)))


def first_converged(differences: Sequence[float], tolerance: float) -> int | None:
    """Index of the first point from which all finer ones stay within the tolerance.

    Parameters
    ----------
    differences
        Of each point from the finest one, from coarse to fine; the last is 0.
    """
    first = len(differences)
    while first > 0 and differences[first - 1] <= tolerance:
        first -= 1
    return first if first < len(differences) - 1 else None


def mesh_series(mesh: Sequence[int], *, shifted: bool = False) -> str:
    """The series a mesh belongs to: ``gamma``, ``odd``, ``even`` or ``mixed``.

    Meshes of different parity hold different points of high symmetry and converge along different
    curves; so do meshes with and without Γ.
    """
    if all(size == 1 for size in mesh):
        return "shifted single" if shifted else "gamma"
    odd = {size % 2 for size in mesh if size > 1}
    name = "mixed" if len(odd) > 1 else "odd" if odd == {1} else "even"
    return f"{name} shifted" if shifted else name


def _is_good(point: Point) -> bool:
    return bool(point.values) and all(isfinite(value) for value in point.values or ())


def _choose(series: str, points: tuple[Point, ...], tolerance: float) -> Choice:
    finest = points[-1].values or ()
    same = tuple(point for point in points if len(point.values or ()) == len(finest))
    warnings = []
    if len(same) < len(points):
        warnings.append(
            f"{len(points) - len(same)} points have another number of values and are left out"
        )
    differences = tuple(_distance(point.values or (), finest) for point in same)
    index = first_converged(differences, tolerance)
    if len(same) > 1 and differences[-2] > tolerance:
        warnings.append(
            f"the last two points still differ by {differences[-2]:.3g}, more than the tolerance "
            f"{tolerance:.3g}: go on to finer settings"
        )
    if len(same) < 3:
        warnings.append("fewer than three points show no convergence")
    return Choice(series, same, differences, index, tuple(warnings))


def _distance(values: Sequence[float], reference: Sequence[float]) -> float:
    return max((abs(a - b) for a, b in zip(values, reference, strict=True)), default=0.0)
