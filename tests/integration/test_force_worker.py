"""The worker and the calculator in two processes: the same numbers as in one, and no more work."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from ase import Atoms
from ase.build import bulk, fcc111, molecule
from ase.calculators.calculator import PropertyNotImplementedError
from ase.calculators.emt import EMT

from crystalmath.errors import InputRejected, UnsupportedSpecies
from crystalmath.forces.lean import LeanCalculator
from support.force_engines import calculator, evaluations, launch


@pytest.fixture(scope="module")
def emt(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LeanCalculator]:
    with calculator(tmp_path_factory.mktemp("emt"), launch("emt")) as lean:
        yield lean


def copper(seed: int = 1) -> Atoms:
    atoms = bulk("Cu", "fcc", a=3.6, cubic=True) * (2, 1, 1)
    atoms.rattle(0.05, seed=seed)
    return atoms


def skewed() -> Atoms:
    atoms = copper()
    atoms.set_cell(
        atoms.cell @ [[1.0, 0.1, 0.05], [-0.08, 1.02, 0.03], [0.04, -0.06, 0.97]], scale_atoms=True
    )
    return atoms


def slab() -> Atoms:
    atoms = fcc111("Cu", (2, 2, 3), vacuum=6.0)
    atoms.pbc = [True, True, False]
    atoms.rattle(0.05, seed=2)
    return atoms


@pytest.mark.parametrize("make", [copper, skewed, slab])
def test_the_numbers_are_those_of_one_process_to_the_last_bit(emt: Any, make: Any) -> None:
    atoms, own = make(), make()
    atoms.calc, own.calc = emt, EMT()
    assert atoms.get_potential_energy() == own.get_potential_energy()
    assert atoms.get_potential_energy(force_consistent=True) == own.get_potential_energy()
    assert np.array_equal(atoms.get_forces(), own.get_forces())
    assert np.array_equal(atoms.get_stress(), own.get_stress())
    assert np.array_equal(atoms.get_potential_energies(), own.get_potential_energies())


def test_energy_and_forces_are_one_evaluation_and_every_change_is_one_more(
    tmp_path: Path,
) -> None:
    atoms = copper()
    with calculator(tmp_path, launch("emt")) as lean:
        atoms.calc = lean
        atoms.get_potential_energy()
        start = evaluations(lean)
        atoms.get_forces()
        atoms.get_potential_energy()
        assert evaluations(lean) == start
        for change in (
            lambda: atoms.positions.__setitem__((0, 0), 0.3),
            lambda: atoms.symbols.__setitem__(1, "Ni"),
            lambda: atoms.set_cell(atoms.cell * 1.01),
            lambda: atoms.set_pbc([True, True, False]),
        ):
            change()
            own = atoms.copy()
            own.calc = EMT()
            assert atoms.get_potential_energy() == own.get_potential_energy()
            assert np.array_equal(atoms.get_forces(), own.get_forces())
            start += 1
            assert evaluations(lean) == start


def test_arrays_belong_to_whoever_asked(emt: LeanCalculator) -> None:
    atoms = copper()
    atoms.calc = emt
    first = atoms.get_forces()
    kept = first.copy()
    first[:] = 0.0
    assert np.array_equal(atoms.get_forces(), kept)
    atoms.positions[0, 0] += 0.1
    atoms.get_forces()
    assert not first.any()


def test_several_structures_at_once_are_the_single_ones(emt: LeanCalculator) -> None:
    many = [copper(1), skewed(), copper(2) * (2, 1, 1), slab()]
    together = emt.evaluate(many, ["energy", "forces", "stress"])
    for atoms, found in zip(many, together, strict=True):
        (alone,) = emt.evaluate([atoms], ["energy", "forces", "stress"])
        assert found["energy"] == pytest.approx(alone["energy"], abs=1e-8)
        assert np.allclose(found["forces"], alone["forces"], atol=1e-8)
        assert found["stress"].shape == (3, 3)


def test_one_bad_structure_leaves_the_others_their_results(emt: LeanCalculator) -> None:
    many = [copper(seed) for seed in range(1, 5)]
    many[2].symbols[0] = "Si"
    found = emt.evaluate(many, errors="return")
    assert isinstance(found[2], UnsupportedSpecies)
    assert found[2].field == "structures.2"
    assert all("energy" in found[i] for i in (0, 1, 3))


def test_what_does_not_exist_is_an_error(emt: LeanCalculator) -> None:
    gas = molecule("N2")
    gas.numbers[:] = 29
    gas.calc = emt
    gas.get_potential_energy()
    with pytest.raises(PropertyNotImplementedError, match="no stress"):
        gas.get_stress()
    with pytest.raises(PropertyNotImplementedError, match="charges"):
        gas.get_charges()
    gas.info["charge"] = 1
    with pytest.raises(InputRejected, match="charge") as caught:
        gas.get_potential_energy()
    assert caught.value.field == "structure.info.charge"


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_position_that_is_no_number_is_named(emt: LeanCalculator, value: float) -> None:
    atoms = copper()
    atoms.calc = emt
    atoms.get_potential_energy()
    atoms.positions[3, 1] = value
    with pytest.raises(InputRejected, match="y of atom 3") as caught:
        atoms.get_forces()
    assert caught.value.field == "structure.positions.3.1"


def test_toy_elements_are_for_those_who_ask(emt: LeanCalculator, tmp_path: Path) -> None:
    water = molecule("H2O")
    water.calc = emt
    with pytest.raises(UnsupportedSpecies, match="toy"):
        water.get_potential_energy()
    with calculator(tmp_path, launch("emt"), allow_toy_elements=True) as lean:
        water.calc = lean
        own = water.copy()
        own.calc = EMT()
        assert water.get_potential_energy() == own.get_potential_energy()


def test_it_pickles_as_its_parameters(emt: LeanCalculator) -> None:
    copy = pickle.loads(pickle.dumps(emt))
    with copy:
        atoms = copper()
        own = copper()
        atoms.calc, own.calc = copy, EMT()
        assert atoms.get_potential_energy() == own.get_potential_energy()
