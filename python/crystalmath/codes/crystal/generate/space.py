"""A crystal that repeats in three directions, in the standard setting of its space group."""

from __future__ import annotations

import numpy as np

from crystalmath.codes.crystal.cell.lattice import record_of
from crystalmath.codes.crystal.cell.settings import Setting, space_setting
from crystalmath.codes.crystal.generate.origin import best_shift, representative
from crystalmath.codes.crystal.generate.placed import Placed, Site, written
from crystalmath.codes.crystal.generate.spins import SpinLabels
from crystalmath.structures.structure import Structure
from crystalmath.structures.symmetry.crystal import Symmetry, find_symmetry

_PERIODIC = (True, True, True)


def place_crystal(structure: Structure, symprec_angstrom: float, spins: SpinLabels) -> Placed:
    """Write a crystal with its space group.

    Raises
    ------
    InputRejected
        No symmetry can be found with this tolerance.
    """
    symmetry = find_symmetry(spins.told_apart(structure), symprec_angstrom)
    setting = space_setting(symmetry.number)
    sites, shift = sites_of(symmetry, setting, spins, structure, _PERIODIC)
    return Placed(
        dimension="CRYSTAL",
        group=symmetry.number,
        lattice=record_of("CRYSTAL", symmetry.number, symmetry.lattice),
        sites=sites,
        compared=structure,
        transformation=symmetry.transformation,
        shift=symmetry.origin_shift + shift,
        symbol=symmetry.symbol,
        number=symmetry.number,
        hall=symmetry.hall,
        max_displacement_angstrom=symmetry.max_displacement_angstrom,
        tolerance_angstrom=symprec_angstrom,
        warnings=tuple(symmetry.warnings()),
        symmetry=symmetry,
    )


def sites_of(
    symmetry: Symmetry,
    setting: Setting,
    spins: SpinLabels,
    structure: Structure,
    periodic: tuple[bool, bool, bool],
    length_of_c: float = 1.0,
) -> tuple[tuple[Site, ...], np.ndarray]:
    """One site per orbit, and the shift of the origin that was chosen.

    Parameters
    ----------
    length_of_c
        Å by which the third coordinate is multiplied, for a layer.
    """
    symbols = [spins.element(symbol) for symbol in symmetry.symbols]
    rank = {symbol: index for index, symbol in enumerate(dict.fromkeys(structure.symbols))}
    groups = [np.array(orbit.members) for orbit in symmetry.orbits]
    members = [symmetry.fractions[atoms] for atoms in groups]
    ranks = [rank[symbols[int(atoms[0])]] for atoms in groups]
    shift = best_shift(list(zip(ranks, members, strict=True)), setting, periodic)
    numbers = dict(zip(structure.symbols, structure.numbers.tolist(), strict=True))
    found = []
    for atoms, fractions, place in zip(groups, members, ranks, strict=True):
        at, key = representative(fractions + shift, periodic, upwards=not periodic[2])
        coordinates = (fractions[at] + shift) * np.array([1.0, 1.0, length_of_c])
        inputs = sorted({i for atom in atoms for i in symmetry.input_atoms[int(atom)]})
        site = Site(
            numbers[symbols[int(atoms[0])]],
            written(coordinates, whole_turns=periodic),
            len(atoms) // len(setting.centring),
            tuple(inputs),
        )
        found.append((place, len(atoms), key, site))
    found.sort(key=lambda item: item[:3])
    return tuple(item[3] for item in found), shift
