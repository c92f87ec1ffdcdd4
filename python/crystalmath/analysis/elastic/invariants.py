"""What the symmetry of a crystal leaves of a stiffness or of a stress: a basis of what is free.

A basis found from the rotations themselves needs no table of crystal systems and holds in the axes
in which the calculation was made.
"""

from __future__ import annotations

import numpy as np

from crystalmath.analysis.elastic.voigt import stress_rotation
from crystalmath.structures.structure import Floats


def free_stiffness(turns: Floats) -> Floats:
    """Basis of the symmetric 6×6 matrices that all rotations keep.

    Parameters
    ----------
    turns
        Rotations on Cartesian columns, shape (n, 3, 3).

    Returns
    -------
    Floats
        Shape (n_free, 6, 6): 21 without symmetry, 3 for a cubic crystal.
    """
    rows, columns = np.triu_indices(6)
    units = np.zeros((rows.size, 6, 6))
    units[np.arange(rows.size), rows, columns] = 1
    units[np.arange(rows.size), columns, rows] = 1
    matrices = np.array([stress_rotation(turn) for turn in turns])
    mean = np.einsum("nij,ujk,nlk->uil", matrices, units, matrices, optimize=True) / len(turns)
    return _kept(mean[:, rows, columns].T, units)


def free_stress(turns: Floats) -> Floats:
    """Basis of the stresses that all rotations keep, shape (n_free, 6)."""
    mean = np.array([stress_rotation(turn) for turn in turns]).mean(axis=0)
    return _kept(mean, np.eye(6))


def _kept(projector: Floats, units: Floats) -> Floats:
    """The combinations of units that a projector leaves as they are."""
    left, sizes, _ = np.linalg.svd(projector)
    basis = left[:, sizes > 0.5]
    return np.tensordot(basis.T, units, axes=1)
