"""The cell that pw.x gets for a structure, which directions repeat in it, and its symmetry.

The cell and the order of the atoms are those of the structure; nothing is idealised. What has no
cell gets a box. Runs in worker processes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from crystalmath.analysis.point_group import on_reciprocal, rotations_of
from crystalmath.errors import InputRejected
from crystalmath.structures.structure import Integers, Structure
from crystalmath.structures.symmetry.crystal import Symmetry, find_symmetry
from crystalmath.structures.symmetry.dimensionality import dimensionality, isolate

MAX_ATOMS: Final = 2000
"""The symmetry search grows faster than the number of atoms."""
NOTICED_A: Final = 1e-5
"""Å: pw.x takes atoms that are further from their symmetric places as being elsewhere."""


@dataclass(frozen=True, slots=True)
class Periodic:
    """A structure in a cell that repeats in all directions, as plane waves need it.

    Attributes
    ----------
    structure
        ``pbc`` is True in all directions.
    repeats
        Along which vectors the matter itself repeats; empty space separates its images along the
        others.
    rotations
        Of the crystal, on fractions of the reciprocal vectors; None for a molecule.
    """

    structure: Structure
    repeats: tuple[bool, bool, bool]
    symmetry: Symmetry | None
    rotations: Integers | None
    warnings: tuple[str, ...]

    @property
    def dimensions(self) -> int:
        """0 to 3."""
        return sum(self.repeats)

    @property
    def is_crystal(self) -> bool:
        """Whether it repeats in three directions."""
        return self.dimensions == 3


def place(given: Structure, symprec_angstrom: float, vacuum_angstrom: float) -> Periodic:
    """Put a structure into its cell.

    Parameters
    ----------
    vacuum_angstrom
        Empty space on each side of a molecule without a cell.

    Raises
    ------
    InputRejected
        It has too many atoms, or no symmetry can be found with this tolerance.
    """
    count = len(given.symbols)
    if count > MAX_ATOMS:
        raise InputRejected(
            f"the structure has {count} atoms; a deck is made of at most {MAX_ATOMS}",
            hint="give a smaller cell",
            field="structure",
        )
    found = dimensionality(given)
    repeats = found.periodic
    if given.lattice is None:
        inside = _boxed(given, vacuum_angstrom)
    elif not all(given.pbc):
        # The vectors along which it does not repeat only complete the cell: they say nothing of
        # how far apart the images are to be.
        alone = isolate(given, found)
        inside = _boxed(alone, vacuum_angstrom) if alone.lattice is None else alone
        if alone.lattice is not None:
            repeats = alone.pbc
    else:
        inside = given
    inside = replace(inside, pbc=(True, True, True))
    if not any(repeats):
        return Periodic(inside, repeats, None, None, ())
    symmetry = find_symmetry(inside, symprec_angstrom)
    rotations = on_reciprocal(rotations_of(inside, symprec_angstrom))
    said = _said(symmetry, None if given.has_uneven_moments else count)
    return Periodic(inside, repeats, symmetry, rotations, tuple(said))


def _said(symmetry: Symmetry, count: int | None) -> list[str]:
    said = symmetry.warnings()
    off = symmetry.max_displacement_angstrom
    if off > NOTICED_A and symmetry.number > 1:
        said.append(
            f"atoms are up to {off:.2g} Å from their places in {symmetry.symbol}: pw.x may see "
            "less symmetry; `materials.convert.cell: primitive` gives the standard cell"
        )
    # the primitive cell of a crystal whose moments differ is that of the moments
    copies = 1 if count is None else count / symmetry.atoms_primitive_cell
    if copies > 1.5:
        said.append(
            f"the cell is {copies:g} times the primitive one, which would cost much less; "
            "`materials.convert.cell: primitive` gives it"
        )
    return said


def _boxed(molecule: Structure, vacuum_angstrom: float) -> Structure:
    """A molecule in the middle of a box, its axes kept."""
    low, high = molecule.positions.min(axis=0), molecule.positions.max(axis=0)
    sides = high - low + 2 * vacuum_angstrom
    return replace(
        molecule,
        lattice=np.diag(sides),
        positions=molecule.positions - low + vacuum_angstrom,
    )
