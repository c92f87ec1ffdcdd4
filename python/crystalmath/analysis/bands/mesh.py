"""Levels on a whole mesh, of those that a program computed on the part of it that symmetry leaves.

The rotations are those that the program itself used. Whether they were applied rightly is checked:
each point must stand for as many points of the mesh as its weight says.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from crystalmath.errors import InputRejected
from crystalmath.structures.structure import Floats, Integers

_ON_MESH = 1e-4
"""Distance from a point of the mesh, in steps of it."""
_WEIGHT = 1e-6


def whole_mesh(
    levels_ev: Floats,
    k_points: Floats,
    weights: Floats,
    sizes: Sequence[int],
    rotations: Integers,
    *,
    inverts: bool,
) -> Floats:
    """Spread levels over a Γ-centred mesh.

    Parameters
    ----------
    levels_ev
        Shape (n_spins, n_k, n_bands).
    k_points
        Fractions of the reciprocal vectors, shape (n_k, 3).
    weights
        Of the points, of any sum.
    rotations
        Shape (n, 3, 3), on columns of fractions of the reciprocal vectors.
    inverts
        Whether −k has the levels of k.

    Returns
    -------
    array
        Shape (n_spins, n_1, n_2, n_3, n_bands).

    Raises
    ------
    InputRejected
        The points do not make up the mesh.
    """
    owner = _owners(k_points, np.asarray(sizes), rotations, inverts=inverts)
    missing = int((owner < 0).sum())
    if missing:
        raise InputRejected(
            f"{missing} of {owner.size} points of the mesh are equivalent to none that was computed"
        )
    share = np.bincount(owner.ravel(), minlength=len(k_points)) / owner.size
    given = np.asarray(weights, dtype=float)
    if np.abs(share - given / given.sum()).max() > _WEIGHT:
        raise InputRejected(
            "the points of the mesh do not have the weights that symmetry gives them"
        )
    return np.asarray(levels_ev, dtype=float)[:, owner]


def _owners(k_points: Floats, sizes: Integers, rotations: Integers, *, inverts: bool) -> Integers:
    """For each point of the mesh the computed point that it is equivalent to, or −1."""
    owner = np.full(tuple(sizes), -1, dtype=np.int64)
    signs = (1, -1) if inverts else (1,)
    for number, point in enumerate(np.asarray(k_points, dtype=float)):
        star = np.concatenate([sign * (rotations @ point) for sign in signs]) * sizes
        nearest = np.rint(star)
        if np.abs(star - nearest).max() > _ON_MESH:
            raise InputRejected(
                f"the point {' '.join(f'{x:.5f}' for x in point)} lies beside the mesh"
            )
        i, j, k = (nearest.astype(np.int64) % sizes).T
        owner[i, j, k] = number
    return owner
