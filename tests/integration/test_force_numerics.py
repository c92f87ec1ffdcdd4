"""What a calculator over a worker gives, next to the engine in this process, and in ASE's tools."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import threading
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from ase import Atoms, units
from ase.build import bulk, fcc111
from ase.calculators.calculator import PropertyNotImplementedError
from ase.calculators.emt import EMT
from ase.calculators.lj import LennardJones
from ase.constraints import FixAtoms
from ase.eos import EquationOfState
from ase.filters import FrechetCellFilter
from ase.md.velocitydistribution import thermalize_momenta
from ase.md.verlet import VelocityVerlet
from ase.mep import NEB
from ase.optimize import BFGS
from ase.phonons import Phonons

from crystalmath.errors import BadResult, InputRejected
from crystalmath.forces.ase_calculator import CrystalMathCalculator
from crystalmath.forces.lean import LeanCalculator
from support.force_engines import calculator, evaluations, launch

LJ = {"sigma": 2.3, "epsilon": 0.4, "rc": 6.0}
EPSILONS = np.array([0.3, 0.4, 0.55])


@pytest.fixture(scope="module")
def emt(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LeanCalculator]:
    with calculator(tmp_path_factory.mktemp("emt"), launch("emt")) as lean:
        yield lean


@pytest.fixture(scope="module")
def lj(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LeanCalculator]:
    with calculator(tmp_path_factory.mktemp("lj"), launch("lj")) as lean:
        yield lean


@pytest.fixture(scope="module")
def several(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LeanCalculator]:
    with calculator(tmp_path_factory.mktemp("several"), launch("several")) as lean:
        yield lean


def crystal(seed: int = 1) -> Atoms:
    atoms = bulk("Cu", "fcc", a=3.6, cubic=True)
    atoms.rattle(0.05, seed=seed)
    return atoms


def skewed() -> Atoms:
    atoms = crystal()
    skew = [[1.03, 0.11, 0.05], [-0.08, 0.98, 0.07], [0.04, -0.06, 1.01]]
    atoms.set_cell(atoms.cell @ skew, scale_atoms=True)
    return atoms


def slab() -> Atoms:
    atoms = fcc111("Cu", (2, 2, 3), vacuum=6.0)
    atoms.pbc = [True, True, False]
    atoms.rattle(0.05, seed=2)
    return atoms


def cluster() -> Atoms:
    atoms = crystal(3)
    atoms.pbc = False
    atoms.cell[:] = 0.0
    return atoms


# --- the numbers ----------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [crystal, skewed, slab, cluster])
@pytest.mark.parametrize("engine", ["emt", "lj"])
def test_built_in_engines_are_equal_to_the_last_bit(
    request: pytest.FixtureRequest, engine: str, make: Any
) -> None:
    atoms, own = make(), make()
    atoms.calc = request.getfixturevalue(engine)
    own.calc = EMT() if engine == "emt" else LennardJones(**LJ)
    assert atoms.get_potential_energy() == own.get_potential_energy()
    assert atoms.get_potential_energy(force_consistent=True) == own.get_potential_energy()
    assert np.array_equal(atoms.get_forces(), own.get_forces())
    assert np.array_equal(atoms.get_potential_energies(), own.get_potential_energies())
    if atoms.pbc.any():
        assert np.array_equal(atoms.get_stress(), own.get_stress())
        assert np.array_equal(atoms.get_stress(voigt=False), own.get_stress(voigt=False))


def test_the_numbers_of_every_component_are_the_derivatives(emt: LeanCalculator) -> None:
    """All forces and all six stresses, one by one: what the doctor looks at in samples."""
    atoms = skewed()
    atoms.calc = emt
    forces, stress = atoms.get_forces(), atoms.get_stress(voigt=False)
    step = 1e-4
    moved = []
    for atom in range(len(atoms)):
        for axis in range(3):
            for sign in (1, -1):
                one = atoms.copy()
                one.positions[atom, axis] += sign * step
                moved.append(one)
    energies = [found["energy"] for found in emt.evaluate(moved, ["energy"])]
    differences = -(np.array(energies[::2]) - energies[1::2]) / (2 * step)
    assert np.abs(differences - forces.ravel()).max() < 1e-6
    for i in range(3):
        for j in range(i, 3):
            strain = np.zeros((3, 3))
            strain[i, j] += 0.5e-5
            strain[j, i] += 0.5e-5
            pair = []
            for sign in (1, -1):
                one = atoms.copy()
                one.set_cell(atoms.cell @ (np.eye(3) + sign * strain), scale_atoms=True)
                pair.append(one)
            up, down = (found["energy"] for found in emt.evaluate(pair, ["energy"]))
            assert (up - down) / (2e-5 * atoms.get_volume()) == pytest.approx(
                stress[i, j], abs=1e-7
            )


def test_every_change_is_one_evaluation_and_none_is_none(
    several: LeanCalculator, tmp_path: Path
) -> None:
    """Counted in the worker: species at equal count, cell, pbc, info."""
    atoms = crystal()
    with calculator(tmp_path, launch("several")) as lean:
        atoms.calc = lean
        energy = atoms.get_potential_energy()
        counted = evaluations(lean)

        def changed(change: Any) -> float:
            nonlocal counted
            change()
            found = float(atoms.get_potential_energy())
            atoms.get_forces()
            atoms.get_potential_energy()
            counted += 1
            assert evaluations(lean) == counted
            return found

        assert changed(lambda: atoms.info.update(charge=1)) == pytest.approx(energy + 1)
        assert changed(lambda: atoms.info.update(charge=np.int64(2))) == pytest.approx(energy + 2)
        atoms.info["charge"] = 2  # the same number of another type
        atoms.info["name"] = "copper"  # no engine reads it
        atoms.get_potential_energy()
        assert evaluations(lean) == counted
        assert changed(lambda: atoms.info.pop("charge")) == energy
        changed(lambda: atoms.symbols.__setitem__(1, "Ni"))
        changed(lambda: atoms.set_cell(atoms.cell * 1.01))
        assert changed(lambda: atoms.set_pbc([True, True, False])) != energy
        changed(lambda: atoms.positions.__setitem__((0, 0), 0.3))


def test_a_free_energy_is_kept_apart(several: LeanCalculator) -> None:
    atoms = crystal()
    atoms.calc = several
    energy = atoms.get_potential_energy()
    assert atoms.get_potential_energy(force_consistent=True) == energy - 0.25
    assert atoms.get_potential_energy() == energy


def test_what_does_not_exist_is_an_error_and_never_zero(several: LeanCalculator) -> None:
    gas = cluster()
    gas.calc = several
    gas.get_forces()
    with pytest.raises(PropertyNotImplementedError, match="no stress"):
        gas.get_stress()
    with pytest.raises(PropertyNotImplementedError, match="magmoms"):
        gas.get_magnetic_moments()
    (found,) = several.evaluate([gas], ["stress"], errors="return")
    assert isinstance(found, InputRejected)
    gas.info["spin"] = 1
    with pytest.raises(InputRejected, match="spin"):
        gas.get_potential_energy()


def test_a_property_that_a_model_claims_and_does_not_give_is_an_error(tmp_path: Path) -> None:
    atoms = crystal()
    with calculator(tmp_path, launch("several", options={"missing": "forces"})) as lean:
        atoms.calc = lean
        with pytest.raises(BadResult, match="no forces"):
            atoms.get_forces()


def test_a_result_that_is_no_number_names_property_and_atom(several: LeanCalculator) -> None:
    far = crystal()
    far.positions[:, 0] += 60
    far.calc = several
    with pytest.raises(BadResult, match="nan as forces of atom 1"):
        far.get_forces()
    found = several.evaluate([crystal(), far, crystal(2)], errors="return")
    assert isinstance(found[1], BadResult)
    assert found[1].field == "structures.1"
    assert "forces" in found[0]
    assert "forces" in found[2]


def test_a_committee_has_a_mean_members_and_spreads(several: LeanCalculator) -> None:
    atoms = skewed()
    alone = []
    for epsilon in EPSILONS:
        one = atoms.copy()
        one.calc = LennardJones(sigma=2.3, epsilon=epsilon, rc=6.0)
        alone.append((one.get_potential_energy(), one.get_forces()))
    energies = np.array([energy for energy, _ in alone])
    forces = np.array([force for _, force in alone])
    atoms.calc = several
    assert atoms.get_potential_energy() == pytest.approx(energies.mean(), rel=1e-14)
    assert np.allclose(atoms.get_forces(), forces.mean(axis=0), rtol=0, atol=1e-13)
    assert np.array_equal(several.get_property("committee_energy", atoms), energies)
    assert np.array_equal(several.get_property("committee_forces", atoms), forces)
    spread = several.get_spread(atoms)
    assert spread.energy == pytest.approx(energies.std())
    deviation = np.linalg.norm(forces - forces.mean(axis=0), axis=2)
    assert np.allclose(spread.forces, np.sqrt((deviation**2).mean(axis=0)))


def test_an_engine_without_members_has_no_spread(emt: LeanCalculator) -> None:
    with pytest.raises(PropertyNotImplementedError, match="committee"):
        emt.get_spread(crystal())


def test_a_sum_is_the_sum_of_both_stress_too(tmp_path: Path) -> None:
    atoms, first, second = skewed(), skewed(), skewed()
    first.calc, second.calc = EMT(), LennardJones(**LJ)
    with calculator(tmp_path, [launch("emt"), launch("lj")]) as both:
        atoms.calc = both
        names = ("energy", "free_energy", "forces", "stress", "energies")
        assert set(names) <= set(both.implemented_properties)
        for name in names:
            expected = first.calc.get_property(name, first) + second.calc.get_property(name, second)
            assert np.allclose(both.get_property(name, atoms), expected, rtol=0, atol=1e-13)
        (found,) = both.evaluate([skewed()], ["energy", "stress"])
        assert found["energy"] == pytest.approx(atoms.get_potential_energy(), abs=1e-13)
        with pytest.raises(InputRejected, match="stresses"):  # of one of them only
            both.evaluate([atoms], ["stresses"])


@pytest.mark.parametrize("engine", ["emt", "lj", "several"])
def test_several_at_once_are_the_single_ones(request: pytest.FixtureRequest, engine: str) -> None:
    lean = request.getfixturevalue(engine)
    many = [crystal(1), slab(), cluster(), skewed(), crystal(2) * (2, 1, 1)]
    names = ["energy", "forces"]
    for atoms, found in zip(many, lean.evaluate(many, names), strict=True):
        (alone,) = lean.evaluate([atoms], names)
        assert found["energy"] == pytest.approx(alone["energy"], rel=1e-8)
        assert np.allclose(found["forces"], alone["forces"], rtol=1e-8, atol=1e-12)


# --- the tools of ASE -----------------------------------------------------------------------------


@pytest.fixture(params=["lean", "ase"])
def calc(request: pytest.FixtureRequest, emt: LeanCalculator) -> Any:
    """Both calculators, which every tool must take."""
    return emt if request.param == "lean" else CrystalMathCalculator(emt)


def test_a_relaxation_takes_the_same_steps(calc: Any) -> None:
    mine, theirs = crystal(), crystal()
    mine.calc, theirs.calc = calc, EMT()
    for atoms in (mine, theirs):
        assert BFGS(atoms, logfile=None).run(fmax=1e-3, steps=100)
    assert np.array_equal(mine.positions, theirs.positions)


def test_a_cell_is_relaxed(calc: Any) -> None:
    mine, theirs = skewed(), skewed()
    mine.calc, theirs.calc = calc, EMT()
    for atoms in (mine, theirs):
        BFGS(FrechetCellFilter(atoms), logfile=None).run(fmax=5e-3, steps=15)
    assert np.allclose(mine.cell.array, theirs.cell.array, rtol=0, atol=1e-12)
    assert np.abs(mine.get_stress()).max() < np.abs(skewed_stress()).max()


def skewed_stress() -> Any:
    atoms = skewed()
    atoms.calc = EMT()
    return atoms.get_stress()


def test_a_dynamics_keeps_its_energy(calc: Any) -> None:
    atoms = crystal() * (2, 2, 2)
    atoms.calc = calc
    thermalize_momenta(atoms, 300, rng=np.random.default_rng(1))
    dynamics = VelocityVerlet(atoms, timestep=2 * units.fs)
    totals = []
    dynamics.attach(lambda: totals.append(atoms.get_total_energy()), interval=1)
    dynamics.run(100)
    drift = abs(np.polyfit(np.arange(len(totals)), totals, 1)[0]) * 100
    assert drift < 1e-3 * len(atoms)  # eV in 200 fs
    assert np.ptp(totals) < 5e-3 * len(atoms)


def test_the_images_of_a_band_share_one_worker(calc: Any, emt: LeanCalculator) -> None:
    """A vacancy moves along a close-packed row; NEB asks for all images in turn."""
    initial = bulk("Cu", cubic=True) * (2, 2, 2)
    del initial[0]
    final = initial.copy()
    distances = np.linalg.norm(final.positions, axis=1)
    nearest = int(np.argmin(distances))
    final.positions[nearest] = 0.0
    images = [initial, *(initial.copy() for _ in range(3)), final]
    for image in images:
        image.calc = calc
    band = NEB(images, allow_shared_calculator=True, method="improvedtangent")
    band.interpolate(mic=True)
    BFGS(band, logfile=None).run(fmax=0.1, steps=30)
    energies = [image.get_potential_energy() for image in images]
    assert energies[0] == pytest.approx(energies[-1], abs=1e-3)
    assert 0.3 < max(energies) - energies[0] < 1.5
    source = emt._source
    assert len(source.workers) == 1  # type: ignore[attr-defined]


def test_an_equation_of_state(calc: Any) -> None:
    volumes, energies = [], []
    for scale in np.linspace(0.97, 1.03, 7):
        atoms = bulk("Cu", a=3.59 * scale)
        atoms.calc = calc
        volumes.append(atoms.get_volume())
        energies.append(atoms.get_potential_energy())
    volume, _energy, modulus = EquationOfState(volumes, energies).fit()
    assert (4 * volume) ** (1 / 3) == pytest.approx(3.59, abs=0.01)
    assert modulus / units.GPa == pytest.approx(134, abs=8)


def test_phonons_by_finite_displacements(calc: Any, tmp_path: Path) -> None:
    atoms = bulk("Cu", a=3.59)
    frequencies = []
    for name, one in (("mine", calc), ("theirs", EMT())):
        phonons = Phonons(atoms, one, supercell=(3, 3, 3), delta=0.02, name=str(tmp_path / name))
        phonons.run()
        phonons.read(acoustic=True)
        path = atoms.cell.bandpath("GX", npoints=5)
        frequencies.append(phonons.get_band_structure(path).energies)
    assert np.allclose(frequencies[0], frequencies[1], rtol=0, atol=1e-9)
    assert 0.02 < frequencies[0].max() < 0.05  # eV


def test_constraints_and_trajectories(calc: Any, tmp_path: Path) -> None:
    from ase.io import read

    atoms = slab()
    atoms.set_constraint(FixAtoms(range(4)))
    atoms.calc = calc
    BFGS(atoms, logfile=None, trajectory=str(tmp_path / "a.traj")).run(fmax=0.05, steps=5)
    frames = read(tmp_path / "a.traj", index=":")
    assert frames[-1].get_potential_energy() == atoms.get_potential_energy()
    assert np.array_equal(frames[0].positions[:4], atoms.positions[:4])


# --- processes and threads ------------------------------------------------------------------------


def test_both_calculators_pickle(calc: Any) -> None:
    again = pickle.loads(pickle.dumps(calc))
    try:
        atoms, own = crystal(), crystal()
        atoms.calc, own.calc = again, EMT()
        assert type(again) is type(calc)
        assert np.array_equal(atoms.get_forces(), own.get_forces())
    finally:
        again.close()


def energy_of(seed_and_calc: tuple[int, Any]) -> float:
    seed, calc = seed_and_calc
    atoms = crystal(seed)
    with calc:
        return float(calc.get_potential_energy(atoms))


def test_a_pool_of_processes_computes_with_copies(emt: LeanCalculator) -> None:
    expected = []
    for seed in range(4):
        own = crystal(seed)
        own.calc = EMT()
        expected.append(own.get_potential_energy())
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        assert pool.map(energy_of, [(seed, emt) for seed in range(4)]) == expected


def test_a_fork_after_use_has_a_worker_of_its_own(emt: LeanCalculator) -> None:
    atoms, own = crystal(), crystal(7)
    atoms.calc, own.calc = emt, EMT()
    atoms.get_potential_energy()
    read, written = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            with emt:
                os.write(written, repr(float(emt.get_potential_energy(crystal(7)))).encode())
        finally:
            os._exit(0)
    os.close(written)
    with os.fdopen(read, encoding="ascii") as answer:
        assert float(answer.read()) == own.get_potential_energy()
    os.waitpid(child, 0)
    counted = evaluations(emt)
    atoms.positions[0, 0] += 0.01
    atoms.get_forces()
    assert evaluations(emt) == counted + 1  # the parent goes on with its own


def test_two_threads_on_one_calculator_get_their_own_answers(calc: Any) -> None:
    expected = {}
    for seed in range(8):
        own = crystal(seed)
        own.calc = EMT()
        expected[seed] = (own.get_potential_energy(), own.get_forces())
    lean = calc.lean if isinstance(calc, CrystalMathCalculator) else calc
    wrong: list[int] = []

    def ask(seeds: range) -> None:
        for _ in range(50):
            for seed in seeds:
                energy, forces = expected[seed]
                atoms = crystal(seed)
                # EMT keeps its list of neighbours, whose order changes the last bits
                off = abs(lean.get_potential_energy(atoms) - energy)
                if max(off, np.abs(lean.get_forces(atoms) - forces).max()) > 1e-12:
                    wrong.append(seed)

    threads = [threading.Thread(target=ask, args=(range(n, 8, 2),)) for n in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_structures_in_turn_keep_their_own_numbers(emt: LeanCalculator) -> None:
    """Alternating between two, as a minimizer with backtracking does: nothing is stale."""
    a, b = crystal(1), crystal(2)
    fresh = {}
    for atoms in (a, b):
        own = atoms.copy()
        own.calc = EMT()
        fresh[id(atoms)] = own.get_potential_energy()
        atoms.calc = emt
    for one, other in pairwise([a, b] * 3):
        assert one.get_potential_energy() == pytest.approx(fresh[id(one)], abs=1e-12)
        assert other.get_potential_energy() == pytest.approx(fresh[id(other)], abs=1e-12)
