"""Uniform meshes in reciprocal space, which must have the symmetry of the point group.

Sizes count along the reciprocal vectors of the cell. A mesh that a rotation does not map onto
itself samples equivalent directions differently: stresses and forces lose the symmetry, and
CRYSTAL ends with SHRINK BREAKS SYMMETRY. The same rule holds for supercells. Runs in worker
processes.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Final

import numpy as np

from crystalmath.errors import SymmetryBroken
from crystalmath.structures.structure import Floats, Integers

MAX_SIZE: Final = 1000
_WIDEST_SEARCH: Final = 60


def flattened(rotations: Integers, periodic_axes: int) -> Integers:
    """The rotations as they act on a mesh that has one point along the other axes."""
    if periodic_axes == 3:
        return rotations
    flat = rotations.copy()
    flat[:, periodic_axes:, :] = 0
    flat[:, :, periodic_axes:] = 0
    return flat


def breaking_rotation(
    mesh: Sequence[int], rotations: Integers, shift: Sequence[int] = (0, 0, 0)
) -> Integers | None:
    """A rotation that does not map the mesh onto itself, or None.

    The points are (n_i + s_i/2) / N_i with a shift s of 0 or 1. A rotation W keeps them when
    M = diag(N) W diag(1/N) is whole and (M - 1) s/2 is, too.

    Parameters
    ----------
    mesh
        Three sizes N.
    rotations
        Of the point group, on columns of fractions of the reciprocal vectors.
    shift
        Per axis 1 where the points lie half a step beside Γ.
    """
    sizes = np.asarray(mesh, dtype=float)
    moved = sizes[None, :, None] * rotations / sizes[None, None, :]
    of_shift = (moved - np.eye(3)) @ (np.asarray(shift, dtype=float) / 2)
    off = np.maximum(
        np.abs(moved - np.rint(moved)).max(axis=(1, 2)),
        np.abs(of_shift - np.rint(of_shift)).max(axis=1),
    )
    at = int(off.argmax())
    return None if off[at] < 1e-9 else np.asarray(rotations[at])


def is_invariant(mesh: Sequence[int], rotations: Integers) -> bool:
    """Whether the mesh has the symmetry of the point group."""
    return breaking_rotation(mesh, rotations) is None


def symmetric_mesh(least: Sequence[int], rotations: Integers) -> tuple[int, int, int]:
    """The smallest invariant mesh with at least these sizes.

    The mesh n n n is always invariant, so there is one.
    """
    top = max(least)
    if is_invariant(least, rotations) or top > MAX_SIZE:
        a, b, c = least
        return a, b, c
    fixed = [not rotations[:, axis, axis].any() for axis in range(3)]  # nothing repeats there
    spans = [
        (size,)
        if alone
        else (range(size, top + 1) if top - size <= _WIDEST_SEARCH else (size, top))
        for size, alone in zip(least, fixed, strict=True)
    ]
    candidates = np.array(list(itertools.product(*spans)), dtype=np.int64)
    order = np.argsort(candidates.prod(axis=1), kind="stable")
    for candidate in candidates[order]:
        if is_invariant(candidate, rotations):
            return int(candidate[0]), int(candidate[1]), int(candidate[2])
    a, b, c = (size if alone else top for size, alone in zip(least, fixed, strict=True))
    return a, b, c


def mesh_of(
    primitive: Floats,
    spacing_inv_angstrom: float,
    rotations: Integers,
    periodic_axes: int,
) -> tuple[int, int, int]:
    """The mesh for a distance between points.

    Parameters
    ----------
    primitive
        Row vectors in Å.
    spacing_inv_angstrom
        Largest distance of neighbouring points, with the factor 2π, in 1/Å.
    periodic_axes
        3 for a crystal, 2 for a slab, 1 for a polymer: the other factors are 1.
    """
    lengths = 2 * np.pi * np.linalg.norm(np.linalg.inv(primitive).T, axis=1)
    least = [
        max(1, int(np.ceil(length / spacing_inv_angstrom - 1e-6))) if axis < periodic_axes else 1
        for axis, length in enumerate(lengths)
    ]
    return symmetric_mesh(least, flattened(rotations, periodic_axes))


def mesh_of_supercell(mesh: Sequence[int], sizes: Sequence[int]) -> tuple[int, int, int]:
    """The mesh of a supercell that is at least as dense as one of its cell.

    Parameters
    ----------
    mesh
        Of the cell.
    sizes
        How often the cell is repeated along each vector.
    """
    a, b, c = (-(-points // size) for points, size in zip(mesh, sizes, strict=True))
    return a, b, c


def check_mesh(mesh: Sequence[int], rotations: Integers, shift: Sequence[int] = (0, 0, 0)) -> None:
    """Refuse a mesh without the symmetry of the crystal.

    Parameters
    ----------
    mesh, rotations, shift
        As :func:`breaking_rotation` takes them.

    Raises
    ------
    SymmetryBroken
        Its hint names the nearest mesh that is right.
    """
    if breaking_rotation(mesh, rotations, shift) is None:
        return
    named = " × ".join(str(size) for size in mesh)
    if is_invariant(mesh, rotations):
        raise SymmetryBroken(
            f"the {named} mesh has the symmetry of the crystal only when it contains Γ, "
            f"and it is shifted by {' '.join(str(step) for step in shift)} half steps",
            hint="use the same mesh without the shift",
        )
    better = symmetric_mesh(mesh, rotations)
    raise SymmetryBroken(
        f"the {named} mesh does not have the symmetry of the crystal: equivalent directions "
        "would be sampled differently",
        hint=f"use {' × '.join(str(size) for size in better)}, Γ-centred",
    )
