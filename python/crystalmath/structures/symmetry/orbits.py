"""Symmetry-independent sites: which atoms of a cell the operators of a group make of one another.

Called by ``symmetry.crystal`` and by what tests a set of sites against its group.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from crystalmath.errors import InputRejected
from crystalmath.structures.structure import Floats, Integers

_SAME_A: Final = 1e-3
"""Å: idealised places differ by rounding only."""


@dataclass(frozen=True, slots=True)
class Orbit:
    """One independent site and its images.

    Attributes
    ----------
    atom
        Index of the representative in the cell.
    members
        Indices of all its images, itself among them: as many as its multiplicity.
    """

    atom: int
    members: tuple[int, ...]

    @property
    def multiplicity(self) -> int:
        """Atoms of the conventional cell."""
        return len(self.members)


def orbits_of(
    lattice: Floats,
    fractions: Floats,
    numbers: Integers,
    operations: tuple[Integers, Floats],
    periodic: Any,
) -> tuple[Orbit, ...]:
    """Group the atoms of a cell into orbits, in the order of their first atoms.

    Parameters
    ----------
    lattice
        Row vectors, Å.
    operations
        All operators, centrings included.
    periodic
        Along which axes the cell repeats.

    Raises
    ------
    InputRejected
        An image of an atom is no atom: the sites do not have the symmetry of the operators.
    """
    rotations, translations = operations
    free = np.ones(len(numbers), dtype=bool)
    found = []
    for atom in range(len(numbers)):
        if not free[atom]:
            continue
        images = rotations @ fractions[atom] + translations
        alike = np.flatnonzero(numbers == numbers[atom])
        offset = images[:, None, :] - fractions[alike][None, :, :]
        offset -= np.where(periodic, np.rint(offset), 0.0)
        distance = np.linalg.norm(offset @ lattice, axis=2)
        nearest = distance.argmin(axis=1)
        if distance[np.arange(len(images)), nearest].max() > _SAME_A:
            raise InputRejected(
                f"atom {atom + 1} of the standard cell has an image that is no atom",
                hint="try another tolerance",
                field="structure",
            )
        members = np.unique(alike[nearest])
        free[members] = False
        found.append(Orbit(atom, tuple(int(m) for m in members)))
    return tuple(found)
