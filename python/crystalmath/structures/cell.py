"""Lengths and angles of a cell, and back. Called by the readers, writers and reports."""

from __future__ import annotations

import numpy as np

from crystalmath.structures.structure import Floats


def cell_parameters(lattice: Floats) -> tuple[float, float, float, float, float, float]:
    """Return a, b, c in Å and alpha, beta, gamma in degrees."""
    lengths = np.linalg.norm(lattice, axis=1)
    angles = []
    for axis in range(3):
        one, two = (axis + 1) % 3, (axis + 2) % 3
        cosine = lattice[one] @ lattice[two] / (lengths[one] * lengths[two])
        angles.append(float(np.degrees(np.arccos(np.clip(cosine, -1.0, 1.0)))))
    return (*(float(x) for x in lengths), *angles)  # type: ignore[return-value]
