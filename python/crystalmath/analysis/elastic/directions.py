"""Young's modulus of a crystal along directions, and the directions in coordinate planes. Pure.

J. F. Nye, Physical Properties of Crystals (1957), chapter VIII: 1/E(n) = S_ijkl n_i n_j n_k n_l.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from crystalmath.analysis.elastic.voigt import stress_vector
from crystalmath.structures.structure import Floats

PLANES: Final = ("xy", "xz", "yz")


def young_moduli(stiffness_gpa: Floats, directions: Floats) -> Floats:
    """Young's modulus along each direction, GPa.

    Parameters
    ----------
    stiffness_gpa
        6×6, Voigt, of a stable crystal.
    directions
        Of any length but zero, in the axes of the stiffness, shape (n, 3).
    """
    units = directions / np.linalg.norm(directions, axis=1)[:, None]
    # A unit tension along n: what it does along n is work, so the double shear of strains is right.
    tensions = np.array([stress_vector(np.outer(unit, unit)) for unit in units])
    stretches = np.einsum("ni,ni->n", tensions, np.linalg.solve(stiffness_gpa, tensions.T).T)
    return np.asarray(1 / stretches, dtype=np.float64)


def round_plane(plane: str, angles_deg: Floats) -> Floats:
    """Directions in a coordinate plane, shape (n, 3).

    Parameters
    ----------
    plane
        Two axes, like ``xz``; angles are from the first to the second.
    """
    first, second = (np.eye(3)["xyz".index(axis)] for axis in plane)
    angles = np.radians(angles_deg)[:, None]
    return np.asarray(np.cos(angles) * first + np.sin(angles) * second, dtype=np.float64)
