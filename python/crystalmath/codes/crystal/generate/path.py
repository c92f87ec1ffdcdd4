"""The path of a band structure: special points of the lattice as whole numbers of 1/ISS.

The points are those of the primitive cell that the program uses, so no point has to be carried from
one cell to another. Runs in worker processes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

import numpy as np

from crystalmath.codes.crystal.wave import Wave
from crystalmath.errors import InvalidParams

_LARGEST_UNIT: Final = 60
"""The denominators of points that symmetry fixes are far smaller."""
_FREE_UNIT: Final = 1000
"""For points whose place depends on the cell: they are rounded to this."""
_WHOLE: Final = 1e-4


@dataclass(frozen=True, slots=True)
class BandPath:
    """A path in whole numbers.

    Attributes
    ----------
    iss
        Unit: 1/iss of the reciprocal vectors of the primitive cell.
    segments
        Both ends of each, six numbers.
    labels
        Special points with a comma at each break; None for segments that were given.
    points
        Special point → fractions, as they are written.
    warnings
        What was rounded.
    """

    iss: int
    segments: tuple[tuple[int, ...], ...]
    labels: str | None = None
    points: Mapping[str, tuple[float, float, float]] | None = None
    warnings: tuple[str, ...] = ()


def band_path(wave: Wave, wanted: str | None) -> BandPath:
    """The path through special points.

    Parameters
    ----------
    wanted
        Like ``GXWK,UX``; that of the lattice when None.

    Raises
    ------
    InvalidParams
        The cell is not known, or has no such point.
    """
    if wave.primitive is None or wave.axes is None:
        raise InvalidParams(
            "the deck does not tell the primitive cell, so its special points are not known",
            hint="give `options.band.segments` and `options.band.iss`",
            field="options.band.path",
        )
    from ase.dft.kpoints import parse_path_string

    found = _special(wave.primitive, wave.axes)
    labels = wanted or found.path
    runs: list[list[str]] = parse_path_string(labels)
    for name in (name for run in runs for name in run):
        if name not in found.special_points:
            raise InvalidParams(
                f"the lattice has no point {name}",
                hint=f"its points are {', '.join(found.special_points)}",
                field="options.band.path",
            )
    if not any(len(run) > 1 for run in runs):
        raise InvalidParams("a path has two points or more", field="options.band.path")
    used = {name: found.special_points[name] for run in runs for name in run}
    iss = _unit(list(used.values()))
    written = {name: _whole(point, iss) for name, point in used.items()}
    segments = [(*written[one], *written[other]) for run in runs for one, other in pairwise(run)]
    moved = [
        name
        for name, point in used.items()
        if np.abs(np.array(written[name]) / iss - point).max() > _WHOLE
    ]
    rounded = (
        f"the place of {', '.join(moved)} depends on the cell: it is rounded to 1/{iss} of the "
        "reciprocal vectors"
    )
    return BandPath(
        iss=iss,
        segments=tuple(segments),
        labels=labels,
        points={
            name: (point[0] / iss, point[1] / iss, point[2] / iss)
            for name, point in written.items()
        },
        warnings=(rounded,) if moved else (),
    )


def _special(primitive: np.ndarray, axes: int) -> Any:
    """Points and path of the lattice, in fractions of the reciprocal vectors of this very cell."""
    from ase.cell import Cell

    periodic = [axis < axes for axis in range(3)]
    try:
        return Cell(primitive).bandpath(npoints=0, pbc=periodic)
    except (RuntimeError, ValueError, AssertionError) as error:
        raise InvalidParams(
            f"no path is known for this lattice: {error}",
            hint="give `options.band.segments` and `options.band.iss`",
            field="options.band.path",
        ) from None


def _unit(points: list[np.ndarray]) -> int:
    values = np.array(points)
    for unit in range(1, _LARGEST_UNIT + 1):
        scaled = values * unit
        if np.abs(scaled - np.rint(scaled)).max() < _WHOLE * unit:
            return unit
    return _FREE_UNIT


def _whole(point: np.ndarray, iss: int) -> tuple[int, int, int]:
    first, second, third = (round(float(value) * iss) for value in point)
    return first, second, third
