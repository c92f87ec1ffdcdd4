"""Polymers and molecules: no symmetry is claimed, every atom is written.

A rod runs along x; y and z are in Å, their middle at 0. The atoms of a molecule are in Å as they
were given.
"""

from __future__ import annotations

import numpy as np

from crystalmath.codes.crystal.cell.lattice import NOT_PERIODIC_A
from crystalmath.codes.crystal.generate.placed import Placed, Site, written
from crystalmath.structures.structure import Structure

_NO_GROUP = "written without symmetry: every atom is listed"


def place_polymer(structure: Structure) -> Placed:
    """Write a rod that ``dimensionality.isolate`` made."""
    fractions = structure.fractions
    lengths = np.array([1.0, *(float(np.linalg.norm(structure.cell[axis])) for axis in (1, 2))])
    middle = (fractions.max(axis=0) + fractions.min(axis=0)) / 2 * np.array([0.0, 1.0, 1.0])
    coordinates = (fractions - middle) * lengths
    periodic = (True, False, False)
    to_deck = np.diag([1.0, lengths[1] / NOT_PERIODIC_A, lengths[2] / NOT_PERIODIC_A])
    return Placed(
        dimension="POLYMER",
        group=1,
        lattice=(float(np.linalg.norm(structure.cell[0])),),
        sites=tuple(
            Site(int(z), written(place, whole_turns=periodic), 1, (index,))
            for index, (z, place) in enumerate(zip(structure.numbers, coordinates, strict=True))
        ),
        compared=structure,
        transformation=to_deck,
        shift=-to_deck @ middle,
        warnings=(_NO_GROUP,),
    )


def place_molecule(structure: Structure) -> Placed:
    """Write a molecule."""
    return Placed(
        dimension="MOLECULE",
        group=1,
        lattice=(),
        sites=tuple(
            Site(int(z), written(place, whole_turns=(False, False, False)), 1, (index,))
            for index, (z, place) in enumerate(
                zip(structure.numbers, structure.positions, strict=True)
            )
        ),
        compared=structure,
        transformation=np.eye(3),
        shift=np.zeros(3),
        warnings=(_NO_GROUP,) if len(structure.symbols) > 1 else (),
    )
