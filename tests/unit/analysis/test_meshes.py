from __future__ import annotations

import numpy as np
import pytest

from crystalmath.analysis.mesh import (
    breaking_rotation,
    check_mesh,
    mesh_of,
    mesh_of_supercell,
    symmetric_mesh,
)
from crystalmath.analysis.phonons.supercell import (
    check_supercell,
    image_distance,
    supercell_sizes,
)
from crystalmath.analysis.point_group import on_cartesian, on_reciprocal, rotations_of
from crystalmath.errors import InputRejected, SymmetryBroken
from crystalmath.structures.structure import Integers, Structure
from support.crystals import crystal, hexagonal, rocksalt, rocksalt_primitive, water

GRAPHITE = crystal(
    hexagonal(2.46, 6.7),
    ["C"] * 4,
    [(0, 0, 0.25), (0, 0, 0.75), (1 / 3, 2 / 3, 0.25), (2 / 3, 1 / 3, 0.75)],
)
TETRAGONAL = crystal([4.0, 4.0, 2.9], ["Sn"], [(0, 0, 0)])


def _reciprocal(structure: Structure) -> Integers:
    return on_reciprocal(rotations_of(structure))


@pytest.mark.parametrize(
    ("structure", "count"),
    [(rocksalt(), 48), (rocksalt_primitive(), 48), (GRAPHITE, 24), (TETRAGONAL, 16)],
)
def test_rotations(structure: Structure, count: int) -> None:
    rotations = rotations_of(structure)
    assert len(rotations) == count
    turns = on_cartesian(rotations, structure.cell)
    assert turns @ np.swapaxes(turns, 1, 2) == pytest.approx(np.array([np.eye(3)] * count))


@pytest.mark.parametrize(
    ("structure", "mesh", "better"),
    [
        (rocksalt(), (4, 4, 5), "5 × 5 × 5"),
        (TETRAGONAL, (4, 6, 4), "6 × 6 × 4"),
        (GRAPHITE, (7, 8, 3), "8 × 8 × 3"),
    ],
)
def test_a_mesh_without_the_symmetry_is_refused(
    structure: Structure, mesh: tuple[int, int, int], better: str
) -> None:
    with pytest.raises(SymmetryBroken, match=" × ".join(map(str, mesh))) as caught:
        check_mesh(mesh, _reciprocal(structure))
    assert better in (caught.value.hint or "")


def test_a_shifted_mesh_of_a_hexagonal_or_primitive_fcc_cell_is_refused() -> None:
    for structure, mesh in ((GRAPHITE, (6, 6, 2)), (rocksalt_primitive(), (4, 4, 4))):
        check_mesh(mesh, _reciprocal(structure))
        with pytest.raises(SymmetryBroken, match="contains Γ"):
            check_mesh(mesh, _reciprocal(structure), (1, 0, 0))
    check_mesh((6, 6, 2), _reciprocal(GRAPHITE), (0, 0, 1))
    with pytest.raises(SymmetryBroken):
        check_mesh((6, 6, 2), _reciprocal(GRAPHITE), (1, 1, 0))
    check_mesh((4, 4, 4), _reciprocal(rocksalt()), (1, 1, 1))


def test_every_point_of_a_mesh_that_passes_has_its_images_in_it() -> None:
    """The rule against the points themselves, with and without shift."""
    for structure in (rocksalt_primitive(), GRAPHITE, TETRAGONAL):
        rotations = _reciprocal(structure)
        for mesh in ((2, 2, 2), (3, 3, 2), (2, 3, 2)):
            for shift in ((0, 0, 0), (1, 1, 1), (0, 0, 1), (1, 0, 0)):
                points = _points(mesh, shift)
                same = all(
                    _keys(points @ rotation.T, mesh) == _keys(points, mesh)
                    for rotation in rotations
                )
                assert (breaking_rotation(mesh, rotations, shift) is None) == same


def _points(mesh: tuple[int, ...], shift: tuple[int, ...]) -> np.ndarray:
    grid = np.array(np.meshgrid(*(np.arange(n) for n in mesh), indexing="ij")).reshape(3, -1).T
    return (grid + np.array(shift) / 2) / np.array(mesh)


def _keys(points: np.ndarray, mesh: tuple[int, ...]) -> set[tuple[int, ...]]:
    whole = np.rint(points * 24).astype(int)
    assert np.abs(points * 24 - whole).max() < 1e-9
    return {tuple(row % 24) for row in whole}


def test_a_spacing_makes_the_mesh_of_the_reciprocal_lengths() -> None:
    cell = rocksalt_primitive().cell
    mesh = mesh_of(cell, 0.30, _reciprocal(rocksalt_primitive()), 3)
    length = 2 * np.pi * np.linalg.norm(np.linalg.inv(cell)[:, 0])
    assert mesh == (int(np.ceil(length / 0.30)),) * 3
    assert mesh_of_supercell((8, 8, 5), (3, 3, 2)) == (3, 3, 3)
    assert symmetric_mesh((3, 5, 2), _reciprocal(TETRAGONAL)) == (5, 5, 2)


def test_a_supercell_is_wide_enough_and_keeps_the_symmetry() -> None:
    assert supercell_sizes(rocksalt()) == (3, 3, 3)
    assert supercell_sizes(rocksalt(), 15.0) == (4, 4, 4)
    sizes = supercell_sizes(rocksalt_primitive())
    assert len(set(sizes)) == 1
    assert image_distance(rocksalt_primitive().cell, sizes) >= 12.0
    assert image_distance(rocksalt_primitive().cell, [size - 1 for size in sizes]) < 12.0
    a, b, c = supercell_sizes(GRAPHITE)
    assert (a, b, c) == (5, 5, 2)


@pytest.mark.parametrize(
    ("structure", "sizes"),
    [(rocksalt(), (2, 1, 1)), (rocksalt_primitive(), (4, 4, 3)), (GRAPHITE, (4, 5, 2))],
)
def test_a_supercell_that_loses_rotations_is_refused(
    structure: Structure, sizes: tuple[int, int, int]
) -> None:
    with pytest.raises(SymmetryBroken, match="supercell") as caught:
        check_supercell(structure, sizes)
    assert caught.value.hint
    check_supercell(TETRAGONAL, (2, 2, 3))


def test_only_crystals_have_meshes_and_supercells() -> None:
    with pytest.raises(InputRejected, match="three directions"):
        rotations_of(water())
    with pytest.raises(InputRejected):
        supercell_sizes(rocksalt(), -1.0)
    with pytest.raises(InputRejected):
        check_supercell(rocksalt(), (0, 1, 1))
