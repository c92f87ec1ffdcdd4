"""The supercell of a phonon calculation: wide enough, and with the symmetry of the crystal."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from math import prod
from typing import Final

import numpy as np

from crystalmath.analysis.mesh import MAX_SIZE, is_invariant, symmetric_mesh
from crystalmath.analysis.point_group import periodic, rotations_of
from crystalmath.errors import InputRejected, SymmetryBroken
from crystalmath.structures.structure import Floats, Integers, Structure
from crystalmath.structures.symmetry.crystal import SYMPREC_A

EDGE_ANGSTROM: Final = 12.0
"""Least distance of an atom from its image; 15 Å for density functional theory."""
MAX_ATOMS: Final = 10_000
"""Of a supercell: displacements, forces and force constants of more take minutes and gigabytes."""


def supercell_sizes(
    structure: Structure,
    edge_angstrom: float = EDGE_ANGSTROM,
    symprec_angstrom: float = SYMPREC_A,
) -> tuple[int, int, int]:
    """The smallest supercell in which an atom and its images are far enough from each other.

    Returns
    -------
    tuple
        How often the cell is repeated along its three vectors. No rotation of the crystal is lost.

    Raises
    ------
    InputRejected
    """
    if not edge_angstrom > 0:
        raise InputRejected("the edge must be positive", field="edge_angstrom")
    crystal = periodic(structure, "phonons")
    rotations = _on_sizes(rotations_of(crystal, symprec_angstrom))
    lengths = np.linalg.norm(crystal.cell, axis=1)
    least = [max(1, int(np.ceil(edge_angstrom / length - 1e-6))) for length in lengths]
    sizes = symmetric_mesh(least, rotations)
    while image_distance(crystal.cell, sizes) < edge_angstrom - 1e-6:
        if max(sizes) >= MAX_SIZE:
            raise InputRejected(
                "no supercell of this cell is wide enough",
                hint="reduce the cell first: its angles are too far from 90°",
                field="structure",
            )
        sizes = symmetric_mesh([size + 1 for size in sizes], rotations)
    return sizes


def check_supercell(
    structure: Structure, sizes: Sequence[int], symprec_angstrom: float = SYMPREC_A
) -> None:
    """Refuse a supercell that loses rotations of the crystal.

    Raises
    ------
    SymmetryBroken
        Its hint names the nearest one that does not.
    InputRejected
    """
    if len(sizes) != 3 or min(sizes) < 1:
        raise InputRejected("a supercell is three numbers of at least 1", field="supercell")
    rotations = _on_sizes(rotations_of(periodic(structure, "phonons"), symprec_angstrom))
    if is_invariant(sizes, rotations):
        return
    better = symmetric_mesh(sizes, rotations)
    raise SymmetryBroken(
        f"the {' × '.join(map(str, sizes))} supercell does not have the symmetry of the crystal: "
        "frequencies that must be equal would differ",
        hint=f"use {' × '.join(map(str, better))}",
        field="supercell",
    )


def check_size(structure: Structure, sizes: Sequence[int], field: str) -> None:
    """Refuse a supercell with more atoms than force constants can be made of here.

    Raises
    ------
    InputRejected
        On ``field``.
    """
    atoms = len(structure.symbols) * prod(sizes)
    if atoms > MAX_ATOMS:
        raise InputRejected(
            f"the {' × '.join(map(str, sizes))} supercell has {atoms} atoms, and at most "
            f"{MAX_ATOMS} can be used",
            hint="make it smaller; an edge of 12 to 20 Å is enough for most crystals",
            field=field,
        )


def image_distance(cell: Floats, sizes: Sequence[int]) -> float:
    """The shortest vector (Å) of the lattice of a supercell.

    Parameters
    ----------
    cell
        Row vectors, Å.
    """
    lattice = cell * np.asarray(sizes, dtype=float)[:, None]
    steps = np.array([s for s in itertools.product((-2, -1, 0, 1, 2), repeat=3) if any(s)])
    return float(np.linalg.norm(steps @ lattice, axis=1).min())


def _on_sizes(rotations: Integers) -> Integers:
    """Rotations in the form in which the rule of meshes holds for supercells.

    W carries the vector Nᵢ aᵢ into Σⱼ Wⱼᵢ Nᵢ aⱼ, a vector of the supercell when Nᵢ Wⱼᵢ / Nⱼ is
    whole: the rule of :func:`mesh.breaking_rotation` for the transpose.
    """
    return np.swapaxes(rotations, 1, 2)
