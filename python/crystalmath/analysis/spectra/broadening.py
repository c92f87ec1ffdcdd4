"""Lines made curves: each level becomes a peak of unit area."""

from __future__ import annotations

from typing import Final, Literal

import numpy as np

from crystalmath.errors import InputRejected
from crystalmath.structures.structure import Floats

Shape = Literal["gaussian", "lorentzian"]

_BLOCK: Final = 4_000_000
"""Values at a time, so that many levels on a fine grid need little memory."""


def broadened(
    positions: Floats, weights: Floats, grid: Floats, width: float, shape: Shape = "gaussian"
) -> Floats:
    """Sum of peaks, in units of the weights by the unit of the positions.

    Parameters
    ----------
    positions
        Of the lines, shape (n,).
    weights
        The area of each, shape (n,).
    grid
        Where the sum is wanted, shape (m,).
    width
        Full width at half maximum, in the unit of the positions.
    shape
        ``gaussian`` for a resolution, ``lorentzian`` for a lifetime.

    Raises
    ------
    InputRejected
    """
    if not width > 0:
        raise InputRejected("the width of the peaks must be positive", field="width")
    lines, areas = np.ravel(positions), np.ravel(weights)
    if lines.shape != areas.shape:
        raise InputRejected(
            f"there are {lines.size} lines and {areas.size} weights", field="weights"
        )
    total = np.zeros(grid.shape, dtype=float)
    step = max(1, _BLOCK // max(1, grid.size))
    for at in range(0, lines.size, step):
        offset = grid[:, None] - lines[None, at : at + step]
        total += _peak(offset, width, shape) @ areas[at : at + step]
    return total


def _peak(offset: Floats, width: float, shape: Shape) -> Floats:
    if shape == "lorentzian":
        half = width / 2
        return np.asarray(half / np.pi / (offset**2 + half**2))
    sigma = width / (2 * np.sqrt(2 * np.log(2)))
    return np.asarray(np.exp(-0.5 * (offset / sigma) ** 2) / (sigma * np.sqrt(2 * np.pi)))
