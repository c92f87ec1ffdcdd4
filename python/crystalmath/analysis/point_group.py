"""The rotations of a crystal, on fractions, on reciprocal fractions and on Cartesian axes.

Called by what builds meshes, supercells and strains.
"""

from __future__ import annotations

import numpy as np

from crystalmath.errors import InputRejected
from crystalmath.structures.structure import Floats, Integers, Structure
from crystalmath.structures.symmetry.crystal import SYMPREC_A
from crystalmath.structures.symmetry.layers import no_symmetry
from crystalmath.structures.symmetry.search import space_dataset


def periodic(structure: Structure, what: str) -> Structure:
    """Return the structure if it repeats in three directions.

    Raises
    ------
    InputRejected
    """
    if not structure.is_crystal:
        raise InputRejected(
            f"{what} need a crystal that repeats in three directions; this structure repeats "
            f"in {sum(structure.pbc) if structure.lattice is not None else 0}",
            field="structure",
        )
    return structure


def rotations_of(structure: Structure, symprec_angstrom: float = SYMPREC_A) -> Integers:
    """Return the rotations of a crystal that keep the lattice of its cell as given.

    Returns
    -------
    Integers
        Shape (n, 3, 3), each once, acting on columns of fractions.

    Raises
    ------
    InputRejected
        The structure is no crystal, or no symmetry can be found with this tolerance.
    """
    found = space_dataset(periodic(structure, "space groups"), symprec_angstrom)
    if found is None:
        raise no_symmetry(symprec_angstrom)
    return np.unique(np.asarray(found.rotations, dtype=np.int64), axis=0)


def on_reciprocal(rotations: Integers) -> Integers:
    """Return the same rotations, on columns of fractions of the reciprocal vectors."""
    inverse = np.linalg.inv(rotations.astype(float))
    return np.rint(np.swapaxes(inverse, 1, 2)).astype(np.int64)


def on_cartesian(rotations: Integers, lattice: Floats) -> Floats:
    """Return the same rotations as orthogonal matrices on Cartesian columns.

    Parameters
    ----------
    lattice
        Row vectors, Å. Small deviations from the symmetric shape are removed from the result: each
        matrix is the orthogonal one nearest to what the lattice gives.
    """
    columns = lattice.T
    turned = columns @ rotations.astype(float) @ np.linalg.inv(columns)
    left, _, right = np.linalg.svd(turned)
    return np.asarray(left @ right, dtype=np.float64)
