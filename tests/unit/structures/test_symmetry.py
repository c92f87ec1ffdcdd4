"""Groups, settings, layers, dimensions: what is found does not depend on how a crystal is given."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from crystalmath.errors import InputRejected
from crystalmath.structures.structure import SiteData, Structure
from crystalmath.structures.symmetry import settings
from crystalmath.structures.symmetry.crystal import (
    Symmetry,
    find_layer_symmetry,
    find_symmetry,
)
from crystalmath.structures.symmetry.dimensionality import dimensionality, isolate
from crystalmath.structures.symmetry.layers import primitive_layer
from crystalmath.structures.symmetry.primitive import (
    conventional_structure,
    primitive_structure,
)
from soak.decks import crystals
from support.crystals import random_crystal, repeated, turned

_ALL = (True, True, True)


def _structure(lattice: object, symbols: str, fractions: object) -> Structure:
    cell = np.array(lattice, dtype=float)
    return Structure(cell, _ALL, symbols.split(), np.array(fractions, dtype=float) @ cell)


def _expanded(found: Symmetry) -> int:
    """How many atoms the operators make of the representatives."""
    places = [found.fractions[orbit.atom] for orbit in found.orbits]
    images = [(found.rotations @ place + found.translations) % 1.0 for place in places]
    return sum(len(np.unique(np.rint(image * 1e4) % 1e4, axis=0)) for image in images)


@pytest.mark.parametrize("group", [1, 5, 15, 48, 62, 70, 88, 146, 152, 166, 205, 214, 227])
def test_a_crystal_of_every_kind_is_found_again(group: int) -> None:
    given = random_crystal(group, group)
    found = find_symmetry(turned(given, group))
    assert found.number == group
    assert found.hall_number == settings.hall_number(group)
    assert np.linalg.det(found.transformation) > 0
    assert np.linalg.det(found.rotation) == pytest.approx(1.0)
    assert len(found.symbols) == _expanded(found)
    assert found.max_displacement_angstrom < 1e-3


def test_settings_are_the_fixed_ones() -> None:
    assert settings.hall_number(227) == 526  # origin choice 2
    assert settings.hall_number(166) == 458  # hexagonal axes
    assert settings.hall_number(14) == 81  # unique axis b, cell choice 1
    assert sum(settings.has_hands(group) for group in range(1, 231)) == 65


def _mos2(height: float = 20.0) -> Structure:
    z = 1.564 / height
    lattice = [[3.16, 0, 0], [-1.58, 1.58 * 3**0.5, 0], [0, 0, height]]
    places = [[1 / 3, 2 / 3, 0], [2 / 3, 1 / 3, z], [2 / 3, 1 / 3, 1 - z]]
    return _structure(lattice, "Mo S S", places)


def _fese() -> Structure:
    z = 1.46 / 20
    places = [[0, 0, 0.5], [0.5, 0.5, 0.5], [0.5, 0, 0.5 + z], [0, 0.5, 0.5 - z]]
    return _structure(np.diag([3.77, 3.77, 20.0]), "Fe Fe Se Se", places)


@pytest.mark.parametrize(
    ("layer", "group", "atoms"),
    [
        (_mos2(), 78, 3),  # cut by the face of its cell
        (repeated(_mos2(), (2, 3, 1)), 78, 3),
        (_fese(), 64, 4),
        (repeated(_fese(), (2, 1, 1)), 64, 4),
    ],
    ids=["wrapped", "supercell", "p4/nmm", "p4/nmm supercell"],
)
def test_layer_groups(layer: Structure, group: int, atoms: int) -> None:
    shape = dimensionality(layer)
    assert shape.kind == "slab"
    alone = isolate(layer, shape)
    found = find_layer_symmetry(alone)
    assert (found.kind, found.number) == ("layer", group)
    assert len(primitive_layer(alone, 0.01).structure.symbols) == atoms
    assert sum(orbit.multiplicity for orbit in found.orbits) == atoms
    covered = sorted({atom for atoms in found.input_atoms for atom in atoms})
    assert covered == list(range(len(layer.symbols)))


def test_a_layer_may_stand_along_any_axis() -> None:
    layer = _mos2()
    turned = replace(layer, lattice=layer.cell[[2, 0, 1]])
    shape = dimensionality(turned)
    assert shape.periodic == (False, True, True)
    assert find_layer_symmetry(isolate(turned, shape)).number == 78


def test_dimensions_are_asked_for_or_told_by_the_empty_space() -> None:
    crystal = _structure(np.diag([4.0, 4.0, 4.0]), "Cu", [[0.9, 0, 0]])
    assert dimensionality(crystal).kind == "crystal"
    rod = _structure(np.diag([2.5, 15.0, 15.0]), "C C", [[0, 0, 0], [0.5, 0, 0.05]])
    assert dimensionality(rod).kind == "polymer"
    assert isolate(rod, dimensionality(rod)).pbc == (True, False, False)
    molecule = _structure(np.diag([12.0, 12.0, 12.0]), "O H", [[0, 0, 0.02], [0, 0, 0.94]])
    alone = isolate(molecule, dimensionality(molecule))
    assert alone.lattice is None
    assert np.linalg.norm(alone.positions[0] - alone.positions[1]) == pytest.approx(0.96)
    asked = dimensionality(crystal, "slab")
    assert (asked.kind, asked.decided_by) == ("slab", "request")
    assert any("empty along" in warning for warning in asked.warnings())
    assert any("taken as periodic" in w for w in dimensionality(_mos2(), "crystal").warnings())
    with pytest.raises(InputRejected, match="no cell"):
        dimensionality(alone, "slab")


def test_data_of_atoms_follow_them() -> None:
    given = repeated(
        _structure(np.diag([3.85, 3.85, 3.85]), "Sr V", [[0, 0, 0], [0.5] * 3]), (2, 1, 1)
    )
    given = replace(given, sites=SiteData(moments=(0.0, 1.0, 0.0, -1.0)))
    swapped = given.take([3, 2, 1, 0])
    assert swapped.sites.moments == (-1.0, 0.0, 1.0, 0.0)
    assert swapped.order.tolist() == [3, 2, 1, 0]
    found = find_symmetry(given)
    assert found.number == 221
    primitive = primitive_structure(given, found)
    assert len(primitive.symbols) == 2
    assert any("order of the spins is lost" in warning for warning in primitive.warnings)
    assert primitive.sites.moments is None


def test_standard_cells() -> None:
    given = random_crystal(166, 3)
    found = find_symmetry(given)
    conventional = conventional_structure(given, found)
    primitive = primitive_structure(given, found)
    assert len(conventional.symbols) == 3 * len(primitive.symbols)
    assert conventional.volume == pytest.approx(3 * primitive.volume)
    assert find_symmetry(primitive).number == 166


def test_the_operators_that_fit_exactly_are_taken_not_others_within_the_tolerance() -> None:
    """Here spglib finds a centre of inversion at 0.01 Å that stands 3 mÅ beside the exact one."""
    rng = np.random.default_rng((1, 590))
    given = crystals.given_otherwise(crystals.random_crystal(105, rng), rng)
    assert find_symmetry(given, 0.01).number == 15
    assert find_symmetry(given, 0.01).max_displacement_angstrom < 1e-6
