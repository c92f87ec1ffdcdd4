"""The standard cells as structures: conventional and primitive, idealised.

Called in worker processes by what writes structures in a standard cell.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from crystalmath.structures.structure import Floats, Structure
from crystalmath.structures.symmetry.crystal import Symmetry
from crystalmath.structures.symmetry.settings import PRIMITIVE


def conventional_structure(structure: Structure, symmetry: Symmetry) -> Structure:
    """Return the standard conventional cell with all its atoms, and what is known of each."""
    return _standard(structure, symmetry, symmetry.lattice, range(len(symmetry.symbols)))


def primitive_structure(structure: Structure, symmetry: Symmetry) -> Structure:
    """Return the primitive cell of the standard setting."""
    lattice = PRIMITIVE[symmetry.symbol[0].upper()] @ symmetry.lattice
    # atoms of the conventional cell that a centring makes of each other stand for the same ones
    first = {atoms: i for i, atoms in reversed(list(enumerate(symmetry.input_atoms)))}
    return _standard(structure, symmetry, lattice, sorted(first.values()))


def _standard(
    structure: Structure, symmetry: Symmetry, lattice: Floats, atoms: range | list[int]
) -> Structure:
    chosen = structure.take([symmetry.input_atoms[atom][0] for atom in atoms])
    chosen.lattice = lattice
    positions = symmetry.fractions[list(atoms)] @ symmetry.lattice
    fractions = np.linalg.solve(lattice.T, positions.T).T
    fractions -= np.where(structure.pbc, np.floor(fractions + 1e-9), 0.0)
    chosen.positions = fractions @ lattice
    if _mixes_moments(structure, symmetry):
        chosen.sites = replace(chosen.sites, moments=None)
        chosen.warnings.append(
            "atoms with different magnetic moments became one: the order of the spins is lost, and "
            "the moments with it"
        )
    return chosen


def _mixes_moments(structure: Structure, symmetry: Symmetry) -> bool:
    moments = structure.moments
    if moments is None:
        return False
    return any(len({moments[i] for i in atoms}) > 1 for atoms in symmetry.input_atoms)
