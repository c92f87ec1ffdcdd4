"""The path of a band structure: special points of the lattice as whole numbers of 1/ISS.

Points and path are those of the analysis room, carried into the reciprocal vectors of the primitive
cell that the program itself uses. Runs in worker processes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

import numpy as np

from crystalmath.analysis.bands.path import GAMMA, band_path, in_cell, joined
from crystalmath.codes.crystal.source import all_atoms
from crystalmath.codes.crystal.wave import Wave
from crystalmath.errors import InvalidParams

FIELD: Final = "options.band.path"
Lines = list[tuple[str, str]]
_LARGEST_UNIT: Final = 60
"""The denominators of points that symmetry fixes are far smaller."""
_FREE_UNIT: Final = 1000
"""For points whose place depends on the cell: they are rounded to this."""
_WHOLE: Final = 1e-4


@dataclass(frozen=True, slots=True)
class DeckPath:
    """A path in whole numbers.

    Attributes
    ----------
    iss
        Unit: 1/iss of the reciprocal vectors of the primitive cell.
    segments
        Both ends of each, six numbers.
    labels
        Special points, a comma at each break; None for segments that were given.
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


def deck_path(wave: Wave, wanted: str | None) -> DeckPath:
    """The path through special points.

    Parameters
    ----------
    wanted
        Like ``G-X-W-K,U-X``, or ``GXWK,UX``; that of the lattice when None.

    Raises
    ------
    InvalidParams, InputRejected
        The cell is not known, has no such point, or no symmetry.
    """
    if wave.primitive is None or wave.crystal is None or wave.axes is None:
        raise InvalidParams(
            "the deck does not tell the primitive cell, so its special points are not known",
            hint="give `options.band.segments` and `options.band.iss`",
            field=FIELD,
        )
    special, lines = _of_crystal(wave) if wave.axes == 3 else _of_layer(wave.primitive, wave.axes)
    if wanted is not None:
        lines = _wanted(wanted, special)
    used = {name: special[name] for line in lines for name in line}
    iss = _unit(list(used.values()))
    written = {name: _whole(point, iss) for name, point in used.items()}
    moved = [
        name
        for name, point in used.items()
        if np.abs(np.array(written[name]) / iss - point).max() > _WHOLE
    ]
    rounded = (
        f"the place of {', '.join(moved)} depends on the cell: it is rounded to 1/{iss} of the "
        "reciprocal vectors"
    )
    return DeckPath(
        iss=iss,
        segments=tuple((*written[start], *written[end]) for start, end in lines),
        labels=joined(lines, "-", ","),
        points={
            name: (point[0] / iss, point[1] / iss, point[2] / iss)
            for name, point in written.items()
        },
        warnings=(rounded,) if moved else (),
    )


def _wanted(text: str, special: Mapping[str, np.ndarray]) -> Lines:
    lines: Lines = []
    for run in text.split(","):
        names = run.split("-") if "-" in run else re.findall(r"[A-Z][0-9]*", run)
        for name in names:
            if name not in special:
                raise InvalidParams(
                    f"the lattice has no point {name or run!r}",
                    hint=f"its points are {', '.join(special)}",
                    field=FIELD,
                )
        lines += pairwise(names)
    if not lines or any(start == end for start, end in lines):
        raise InvalidParams("a path leads from one point to another", field=FIELD)
    return lines


def _of_crystal(wave: Wave) -> tuple[dict[str, np.ndarray], Lines]:
    """Points and path of HPKOT, as fractions of the reciprocal vectors of the program's cell."""
    assert wave.crystal is not None
    assert wave.primitive is not None
    path = band_path(all_atoms(wave.crystal))
    names = {label: _short(label) for label in path.points}
    places = in_cell(path, np.array(list(path.points.values())), wave.primitive)
    special = dict(zip(names.values(), places, strict=True))
    return special, [(names[start], names[end]) for start, end in path.lines]


def _short(label: str) -> str:
    """``G`` for ``GAMMA``, ``X1`` for ``X_1``."""
    return "G" if label == GAMMA else label.replace("_", "")


def _of_layer(primitive: np.ndarray, axes: int) -> tuple[dict[str, np.ndarray], Lines]:
    """The same in a plane or along a line, from ase: seekpath is for crystals."""
    from ase.cell import Cell
    from ase.dft.kpoints import parse_path_string

    try:
        found: Any = Cell(primitive).bandpath(npoints=0, pbc=[axis < axes for axis in range(3)])
    except (RuntimeError, ValueError, AssertionError) as error:
        raise InvalidParams(
            f"no path is known for this lattice: {error}",
            hint="give `options.band.segments` and `options.band.iss`",
            field=FIELD,
        ) from None
    lines = [line for run in parse_path_string(found.path) for line in pairwise(run)]
    return dict(found.special_points), lines


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
