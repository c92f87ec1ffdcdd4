"""SHRINK: the mesh in reciprocal space, which must have the symmetry of the point group.

IS counts along the reciprocal vectors of the primitive cell. A mesh that a rotation does not map
onto itself ends the program with SHRINK BREAKS SYMMETRY. Runs in worker processes.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

from crystalmath.codes.crystal.cell.settings import Setting
from crystalmath.structures.structure import Floats, Integers
from crystalmath.structures.symmetry.settings import PRIMITIVE

MAX_IS = 1000
_WIDEST_SEARCH = 60


def primitive_cell(cell: Floats, setting: Setting) -> Floats:
    """Row vectors (Å) of the primitive cell that belongs to a conventional one."""
    return np.asarray(PRIMITIVE[setting.letter] @ cell)


def reciprocal_rotations(setting: Setting) -> Integers:
    """The point group on columns of fractions of the primitive reciprocal vectors."""
    basis = PRIMITIVE[setting.letter]
    # x_conventional = basisᵀ x_primitive, and k goes with the inverse transpose of x.
    to_primitive = np.linalg.inv(basis.T)
    turned = to_primitive @ setting.point_group @ basis.T
    inverse = np.linalg.inv(turned)
    return np.rint(np.swapaxes(inverse, 1, 2)).astype(np.int64)


def flattened(rotations: Integers, periodic_axes: int) -> Integers:
    """The rotations as they act on a mesh that has one point along the other axes."""
    if periodic_axes == 3:
        return rotations
    flat = rotations.copy()
    flat[:, periodic_axes:, :] = 0
    flat[:, :, periodic_axes:] = 0
    return flat


def breaking_rotation(mesh: Sequence[int], rotations: Integers) -> Integers | None:
    """A rotation that does not map the mesh onto itself, or None.

    The points are n_i / IS_i; a rotation W keeps them when diag(IS) W diag(1/IS) is whole.
    """
    sizes = np.asarray(mesh, dtype=float)
    moved = sizes[None, :, None] * rotations / sizes[None, None, :]
    off = np.abs(moved - np.rint(moved)).max(axis=(1, 2))
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
    if is_invariant(least, rotations) or top > MAX_IS:
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
