"""A layer: its layer group in CRYSTAL's list, or group 1 with all atoms of the smallest cell.

A layer group is written only if the deck passes the check; where CRYSTAL's origin is not known, or
the check fails, group 1 is written and the report says so.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from crystalmath.codes.crystal.cell.lattice import NOT_PERIODIC_A, parameters, record_of
from crystalmath.codes.crystal.cell.settings import EXCHANGE, layer_setting
from crystalmath.codes.crystal.generate.check import check_deck
from crystalmath.codes.crystal.generate.placed import Placed, Site, written
from crystalmath.codes.crystal.generate.space import sites_of
from crystalmath.codes.crystal.generate.spins import SpinLabels
from crystalmath.codes.crystal.tables import groups
from crystalmath.errors import InputRejected
from crystalmath.structures.structure import Floats, Structure
from crystalmath.structures.symmetry.crystal import Symmetry, find_layer_symmetry
from crystalmath.structures.symmetry.layers import primitive_layer

_PERIODIC = (True, True, False)


def place_layer(structure: Structure, symprec_angstrom: float, spins: SpinLabels) -> Placed:
    """Write a layer.

    Parameters
    ----------
    structure
        A layer by itself, c perpendicular to it.

    Raises
    ------
    InputRejected
        No symmetry can be found with this tolerance.
    """
    symmetry = find_layer_symmetry(spins.told_apart(structure), symprec_angstrom)
    group = groups.LAYER_FROM_ITE[symmetry.number]
    name = f"{symmetry.symbol} (number {symmetry.number} in the International Tables)"
    if group in groups.LAYER_ORIGIN_OPEN:
        why = f"where CRYSTAL puts the origin of the layer group {name} is not known here"
        return _without_symmetry(structure, symmetry, spins, why)
    placed = _with_group(structure, symmetry, group, spins)
    try:
        check_deck("\n".join(["layer", *placed.lines(), "END", ""]), placed)
    except InputRejected as error:
        why = f"with the layer group {name} {error.message}"
        return _without_symmetry(structure, symmetry, spins, why)
    return placed


def _with_group(structure: Structure, symmetry: Symmetry, group: int, spins: SpinLabels) -> Placed:
    c = float(parameters(symmetry.lattice)["c"])
    cell, change = symmetry.lattice, np.eye(3)
    if group in groups.AXES_EXCHANGED:
        change = EXCHANGE.astype(float)
        cell = EXCHANGE @ cell
    turned = replace(
        symmetry, lattice=cell, fractions=_middle(symmetry.fractions @ change.T, symmetry, group)
    )
    lift = np.array([0.0, 0.0, turned.fractions[0, 2] - (symmetry.fractions @ change.T)[0, 2]])
    sites, shift = sites_of(turned, layer_setting(group), spins, structure, _PERIODIC, c)
    to_deck = np.diag([1.0, 1.0, c / NOT_PERIODIC_A])
    return Placed(
        dimension="SLAB",
        group=group,
        lattice=record_of("SLAB", group, cell),
        sites=sites,
        compared=structure,
        transformation=to_deck @ change @ symmetry.transformation,
        shift=to_deck @ (change @ symmetry.origin_shift + lift + shift),
        max_displacement_angstrom=symmetry.max_displacement_angstrom,
        tolerance_angstrom=symmetry.symprec_angstrom,
        warnings=tuple(symmetry.warnings()),
        symbol=symmetry.symbol,
        number=symmetry.number,
        hall=symmetry.hall,
    )


def _middle(fractions: Floats, symmetry: Symmetry, group: int) -> Floats:
    """The atoms with their middle at z = 0, where no operator of the group says where that is."""
    turns = symmetry.rotations[:, 2, 2]
    if (turns > 0).all() and group != 1:
        fractions = fractions.copy()
        fractions[:, 2] -= (fractions[:, 2].max() + fractions[:, 2].min()) / 2
    return fractions


def _without_symmetry(
    structure: Structure, symmetry: Symmetry, spins: SpinLabels, why: str
) -> Placed:
    """Group 1 with all atoms of the smallest cell."""
    found = primitive_layer(spins.told_apart(structure), symmetry.symprec_angstrom)
    small = found.structure
    fractions = small.fractions
    middle = (fractions[:, 2].max() + fractions[:, 2].min()) / 2
    c = float(np.linalg.norm(small.cell[2]))
    numbers = dict(zip(structure.symbols, structure.numbers.tolist(), strict=True))
    members: dict[int, list[int]] = {}
    for atom, at in enumerate(found.atoms):
        members.setdefault(at, []).append(atom)
    sites = []
    for index, fraction in enumerate(fractions):
        place = (fraction - np.array([0.0, 0.0, middle])) * np.array([1.0, 1.0, c])
        z = numbers[spins.element(small.symbols[index])]
        sites.append(Site(z, written(place, whole_turns=_PERIODIC), 1, tuple(members[index])))
    to_deck = np.diag([1.0, 1.0, c / NOT_PERIODIC_A])
    lengths = parameters(small.cell)
    return Placed(
        dimension="SLAB",
        group=1,
        lattice=(lengths["a"], lengths["b"], lengths["gamma"]),
        sites=tuple(sites),
        compared=structure,
        transformation=to_deck @ np.linalg.solve(small.cell.T, structure.cell.T),
        shift=to_deck @ np.array([0.0, 0.0, -middle]),
        tolerance_angstrom=symmetry.symprec_angstrom,
        symbol=symmetry.symbol,
        number=symmetry.number,
        warnings=(f"{why}: written as group 1 with all {len(sites)} atoms",),
    )
