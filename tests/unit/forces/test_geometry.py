"""What is refused before a structure is sent."""

from __future__ import annotations

import pytest
from ase import Atoms
from ase.build import bulk

from crystalmath.calculators.request import requests_of
from crystalmath.errors import InputRejected
from crystalmath.forces.geometry import check_arrays, check_cell, check_near


def cell_of(rows: list[list[float]], pbc: bool | list[bool]) -> tuple[bytes, bytes]:
    atoms = Atoms("Cu", cell=rows, pbc=pbc)
    return atoms.cell.array.tobytes(), atoms.pbc.tobytes()


@pytest.mark.parametrize(
    "rows",
    [
        [[0, 0, 0], [0, 0, 0], [0, 0, 0]],
        [[3, 0, 0], [6, 0, 0], [0, 0, 3]],
        [[3, 0, 0], [0, 3, 0], [1, 1, 0]],
    ],
)
def test_vectors_that_span_nothing_are_refused(rows: list[list[float]]) -> None:
    with pytest.raises(InputRejected, match="depend on each other") as caught:
        check_cell(*cell_of(rows, True))
    assert caught.value.field == "structure.cell"
    check_cell(*cell_of(rows, False))


def test_only_the_periodic_directions_count() -> None:
    check_cell(*cell_of([[3, 0, 0], [0, 3, 0], [0, 0, 0]], [True, True, False]))
    check_cell(*cell_of([[0, 0, 0], [0, 0, 0], [0, 0, 1e-4]], [False, False, True]))
    with pytest.raises(InputRejected):
        check_cell(*cell_of([[3, 0, 0], [3, 0, 0], [0, 0, 9]], [True, True, False]))


@pytest.mark.parametrize("far", [1e8, -1e12, 1e300])
def test_coordinates_without_digits_for_distances_are_refused(far: float) -> None:
    atoms = bulk("Cu", cubic=True)
    atoms.positions[2, 1] = far
    with pytest.raises(InputRejected, match="y of atom 2") as caught:
        check_near(atoms)
    assert caught.value.field == "structure.positions.2.1"
    atoms.positions[2, 1] = 1e7
    check_near(atoms)


def test_what_is_no_structure_is_named() -> None:
    with pytest.raises(InputRejected, match="str is no structure"):
        check_arrays("copper.cif", "structures.0")


def test_a_sum_names_each_engine_once() -> None:
    with pytest.raises(InputRejected, match="twice"):
        requests_of("emt+emt", None, None, "cpu", {})
