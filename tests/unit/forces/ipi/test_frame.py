"""The other end's order of atoms, and cells that it wants to lie otherwise."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from crystalmath.errors import InputRejected
from crystalmath.forces.ipi.frame import Turn, order_for

NUMBERS = st.floats(-5.0, 5.0)
MATRICES = st.lists(NUMBERS, min_size=9, max_size=9).map(lambda nine: np.reshape(nine, (3, 3)))


@given(st.lists(st.sampled_from(["H", "C", "O"]), min_size=1, max_size=30), st.randoms())
def test_every_atom_gets_one_of_its_species(ours: list[str], random: object) -> None:
    theirs = list(ours)
    random.shuffle(theirs)  # type: ignore[attr-defined]
    order = order_for(ours, theirs)
    assert [ours[i] for i in order] == theirs
    assert sorted(order) == list(range(len(ours)))


def test_the_same_order_changes_nothing() -> None:
    assert order_for(["H", "O", "H"], ["H", "O", "H"]).tolist() == [0, 1, 2]


@pytest.mark.parametrize("theirs", [["H"], ["H", "H"], ["H", "O", "O"], []])
def test_other_atoms_are_refused(theirs: list[str]) -> None:
    with pytest.raises(InputRejected, match="the structure H1 O1") as caught:
        order_for(["O", "H"], theirs)
    assert caught.value.field == "species"


@given(MATRICES, MATRICES)
def test_a_turned_structure_is_the_same_structure(cell: np.ndarray, virial: np.ndarray) -> None:
    assume(abs(np.linalg.det(cell)) > 1e-2)
    if np.linalg.det(cell) < 0.0:
        cell[[0, 1]] = cell[[1, 0]]
    turn = Turn(cell)
    assert (np.diag(turn.cell) > 0.0).all()
    assert not np.triu(turn.cell, 1).any()
    np.testing.assert_allclose(turn.cell @ turn.cell.T, cell @ cell.T, atol=1e-10)
    positions = np.array([[0.1, 0.2, 0.3], [1.0, -2.0, 3.0]])
    there = turn.there(positions)
    fractions = np.linalg.solve(cell.T, positions.T)
    np.testing.assert_allclose(np.linalg.solve(turn.cell.T, there.T), fractions, atol=1e-6)
    forces, back = turn.back(there, virial)
    np.testing.assert_allclose(forces, positions, atol=1e-10)
    assert np.trace(back) == pytest.approx(np.trace(virial), abs=1e-9)
    # x·V·x is a number that no rotation changes
    np.testing.assert_allclose(
        np.einsum("ni,ij,nj->n", positions, back, positions),
        np.einsum("ni,ij,nj->n", there, virial, there),
        atol=1e-7,
    )


def test_a_triangular_cell_stays_as_it_is() -> None:
    cell = np.array([[4.0, 0.0, 0.0], [-1.0, 5.0, 0.0], [0.5, 0.3, 6.0]])
    turn = Turn(cell)
    positions = np.ones((2, 3))
    assert (turn.cell == cell).all()
    assert turn.there(positions) is positions
    assert turn.back(positions, cell)[0] is positions
    assert turn.is_for(cell.copy())
    assert not turn.is_for(cell + 1e-9)


@pytest.mark.parametrize("cell", [np.zeros((3, 3)), np.diag([1.0, 1.0, -1.0]), np.ones((3, 3))])
def test_flat_and_left_handed_cells_are_refused(cell: np.ndarray) -> None:
    with pytest.raises(InputRejected, match="flat or left-handed") as caught:
        Turn(cell)
    assert caught.value.field == "cell"
