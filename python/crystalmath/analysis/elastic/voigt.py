"""Voigt's notation: 6-vectors and 6×6 matrices for symmetric tensors, and how they turn.

Order xx yy zz yz xz xy. Strains carry the factor 2 in their last three components, stresses do not.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from crystalmath.structures.structure import Floats

PAIRS: Final = ((0, 0), (1, 1), (2, 2), (1, 2), (0, 2), (0, 1))


def strain_vector(tensor: Floats) -> Floats:
    """The six components of a symmetric strain, shear doubled."""
    return np.array([tensor[i, j] * (1 if i == j else 2) for i, j in PAIRS])


def strain_tensor(vector: Floats) -> Floats:
    """The 3×3 tensor of six strain components."""
    tensor = np.zeros((3, 3))
    for value, (i, j) in zip(vector, PAIRS, strict=True):
        tensor[i, j] = tensor[j, i] = value if i == j else value / 2
    return tensor


def stress_vector(tensor: Floats) -> Floats:
    """The six components of a symmetric stress."""
    return np.array([(tensor[i, j] + tensor[j, i]) / 2 for i, j in PAIRS])


def stress_tensor(vector: Floats) -> Floats:
    """The 3×3 tensor of six stress components."""
    tensor = np.zeros((3, 3))
    for value, (i, j) in zip(vector, PAIRS, strict=True):
        tensor[i, j] = tensor[j, i] = value
    return tensor


def stress_rotation(rotation: Floats) -> Floats:
    """The 6×6 matrix (Bond's M) that turns a stress vector; stiffness turns as M C Mᵀ.

    W. L. Bond, Bell Syst. Tech. J. 22, 1 (1943), doi:10.1002/j.1538-7305.1943.tb01304.x.

    Parameters
    ----------
    rotation
        Orthogonal, on Cartesian columns.
    """
    units = [stress_tensor(unit) for unit in np.eye(6)]
    return np.array([stress_vector(rotation @ unit @ rotation.T) for unit in units]).T


def turned_stiffness(stiffness: Floats, rotation: Floats) -> Floats:
    """Elastic constants in turned axes."""
    matrix = stress_rotation(rotation)
    return np.asarray(matrix @ stiffness @ matrix.T, dtype=np.float64)
