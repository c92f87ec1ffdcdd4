"""The primitive cell that SHRINK counts along, and the point group on its reciprocal vectors.

The meshes themselves are those of ``analysis.mesh``. Runs in worker processes.
"""

from __future__ import annotations

import numpy as np

from crystalmath.analysis.point_group import on_reciprocal
from crystalmath.codes.crystal.cell.settings import Setting
from crystalmath.structures.structure import Floats, Integers
from crystalmath.structures.symmetry.settings import PRIMITIVE


def primitive_cell(cell: Floats, setting: Setting) -> Floats:
    """Row vectors (Å) of the primitive cell that belongs to a conventional one."""
    return np.asarray(PRIMITIVE[setting.letter] @ cell)


def reciprocal_rotations(setting: Setting) -> Integers:
    """The point group on columns of fractions of the primitive reciprocal vectors."""
    basis = PRIMITIVE[setting.letter]
    # x_conventional = basisᵀ x_primitive
    turned = np.linalg.inv(basis.T) @ setting.point_group @ basis.T
    return on_reciprocal(np.rint(turned).astype(np.int64))
