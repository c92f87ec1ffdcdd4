"""ASE's SocketClient as it is, driven by our host."""

from __future__ import annotations

import copy
import pickle
import subprocess
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import ase
import numpy as np
import pytest
from ase import Atoms
from ase.build import bulk, molecule
from ase.calculators.calculator import PropertyNotImplementedError
from ase.calculators.emt import EMT
from ase.filters import FrechetCellFilter
from ase.optimize import BFGS

from crystalmath.errors import BadResult, InputRejected
from crystalmath.forces.ipi import quirks
from crystalmath.forces.ipi.calculator import IpiCalculator
from crystalmath.forces.ipi.host import Host
from support.ipi import Overheard, alloy, ase_client, copper, differences, record, strain_stress

HANG_S = 60.0
STRESS = ("energy", "forces", "stress")


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Callable[..., IpiCalculator]]:
    """Makes a calculator whose program is an ASE client for these atoms."""
    made: list[IpiCalculator] = []

    def make(atoms: Atoms, transport: str = "unix", *more: str, **options: Any) -> IpiCalculator:
        structure = tmp_path / f"{len(made)}.xyz"
        atoms.write(structure)
        options = {"program": "ase", "stress": True, "transport": transport, **options}
        made.append(IpiCalculator(command=ase_client(structure, transport, *more), **options))
        return made[-1]

    yield make
    for one in made:
        one.close()


@pytest.mark.parametrize("transport", ["unix", "inet"])
def test_results_are_those_of_the_program(
    client: Callable[..., IpiCalculator], transport: str
) -> None:
    atoms, own = copper(), copper()
    own.calc = EMT()
    atoms.calc = client(atoms, transport)
    worst = np.zeros(3)
    for seed in range(5):
        worst = np.maximum(worst, differences(atoms, own))
        atoms.rattle(0.02, seed=seed)
        atoms.set_cell(atoms.cell.array + 0.01 * seed)
        own.set_cell(atoms.cell)
        own.positions = atoms.positions
    assert (worst < 1e-11).all()
    host = atoms.calc.host
    assert host.door.transport == transport
    atoms.calc.close()
    assert host.exit_code == 0
    measured = dict(zip(STRESS, (f"{value:.0e}" for value in worst), strict=True))
    record("ase", ase.__version__, **measured, transport=transport, exit_code=0)


def test_strain_derivatives_of_a_client(client: Callable[..., IpiCalculator]) -> None:
    atoms = copper()
    atoms.calc = client(atoms)
    stress = atoms.get_stress(voigt=False)
    difference = abs(strain_stress(atoms) - stress).max()
    assert difference < 1e-7
    assert abs(stress).min() > 1e-3
    record("ase", ase.__version__, strain=f"{difference:.0e}")


def test_ten_steps_of_a_relaxation_with_the_cell(client: Callable[..., IpiCalculator]) -> None:
    ends = []
    for calculator in (EMT(), None):
        atoms = copper()
        atoms.calc = client(atoms) if calculator is None else calculator
        BFGS(FrechetCellFilter(atoms), logfile=None).run(fmax=1e-9, steps=10)
        ends.append((atoms.get_potential_energy(), atoms.positions, atoms.cell.array))
    (energy, positions, cell), (ours, our_positions, our_cell) = ends
    assert ours == pytest.approx(energy, abs=1e-9)
    np.testing.assert_allclose(our_positions, positions, atol=1e-7)
    np.testing.assert_allclose(our_cell, cell, atol=1e-7)
    record("ase", ase.__version__, relax=f"10 steps, {abs(ours - energy):.0e} eV")


def test_words_with_a_client_that_takes_all_at_once(
    client: Callable[..., IpiCalculator], monkeypatch: pytest.MonkeyPatch
) -> None:
    heard = Overheard(monkeypatch)
    atoms = copper()
    results = []
    stepwise = replace(quirks.ASE, consolidated=False)
    for calculator in (client(atoms), client(atoms, program=stepwise)):
        one = copper()
        one.calc = calculator
        for seed in range(2):
            results.append((one.get_potential_energy(), one.get_forces()))
            one.rattle(0.01, seed=seed)
        calculator.close()
    at_once = [">STATUS", "<READY", ">POSDATA", ">GETFORCE", "<FORCEREADY"]
    step = [">STATUS", "<READY", ">POSDATA", ">STATUS", "<HAVEDATA", ">GETFORCE", "<FORCEREADY"]
    assert heard.words == [*at_once, *at_once[2:], ">EXIT", *step, *step, ">EXIT"]
    for (energy, forces), (again, forces_again) in zip(results[:2], results[2:], strict=True):
        assert energy == again
        assert (forces == forces_again).all()
    record("ase", ase.__version__, init="never", consolidated="bit-equal")


def test_another_order_of_the_program(tmp_path: Path) -> None:
    atoms = alloy()
    reference = atoms.copy()
    reference.calc = EMT()
    theirs = atoms[np.argsort(atoms.numbers, kind="stable")]
    assert list(theirs.symbols) != list(atoms.symbols)
    theirs.write(tmp_path / "theirs.xyz")
    with IpiCalculator(
        "ase", ase_client(tmp_path / "theirs.xyz"), species=list(theirs.symbols), stress=True
    ) as calculator:
        atoms.calc = calculator
        assert max(differences(atoms, reference)) < 1e-11
    with IpiCalculator(
        "ase", ase_client(tmp_path / "theirs.xyz"), template=tmp_path / "theirs.xyz", stress=True
    ) as calculator:
        atoms.calc = calculator
        assert max(differences(atoms, reference)) < 1e-11
    with (
        pytest.raises(InputRejected, match="Au3 Cu5") as caught,
        IpiCalculator("ase", ["unused"], species=["Cu"] * 8) as calculator,
    ):
        calculator.get_forces(atoms)
    assert caught.value.field == "species"


@pytest.mark.parametrize(("count", "repeat"), [(1, (1, 1, 1)), (10_000, (20, 20, 25))])
def test_one_and_ten_thousand_atoms(
    client: Callable[..., IpiCalculator], count: int, repeat: tuple[int, int, int]
) -> None:
    atoms = bulk("Cu") * repeat
    assert len(atoms) == count
    atoms.rattle(0.02, seed=3)
    atoms.calc = client(atoms)
    own = atoms.copy()
    own.calc = EMT()
    energy, forces, stress = differences(atoms, own)
    assert energy < 1e-11
    assert forces < 1e-11
    assert stress < 1e-11


def test_a_molecule_has_no_stress_and_needs_no_cell(client: Callable[..., IpiCalculator]) -> None:
    atoms = molecule("H2O")
    own = atoms.copy()
    own.calc = EMT()
    atoms.calc = client(atoms, "unix", "no-stress")
    assert atoms.get_potential_energy() == pytest.approx(own.get_potential_energy(), rel=1e-12)
    np.testing.assert_allclose(atoms.get_forces(), own.get_forces(), atol=1e-12)
    with pytest.raises(PropertyNotImplementedError, match="without a periodic cell"):
        atoms.get_stress()


def test_a_stress_that_was_not_calculated_is_never_zero(
    client: Callable[..., IpiCalculator],
) -> None:
    atoms = copper()
    atoms.calc = client(atoms, "unix", "no-stress", stress=False)
    atoms.get_forces()
    with pytest.raises(PropertyNotImplementedError, match="use_stress=True"):
        atoms.get_stress()
    atoms.calc = client(atoms, "unix", "no-stress", stress=True)
    with pytest.raises(BadResult, match="virial of zeros"):
        atoms.get_stress()


def test_changed_species_are_refused(client: Callable[..., IpiCalculator]) -> None:
    atoms = copper()
    atoms.calc = client(atoms)
    atoms.get_forces()
    atoms.symbols[0] = "Au"
    with pytest.raises(InputRejected, match="species"):
        atoms.get_forces()
    atoms.symbols[0] = "Cu"
    atoms.pbc[2] = False
    with pytest.raises(InputRejected, match="periodicity"):
        atoms.get_forces()
    atoms.pbc[2] = True
    atoms.get_forces()


def test_two_hosts_at_once(client: Callable[..., IpiCalculator]) -> None:
    pair = [copper(), alloy()]
    own = [atoms.copy() for atoms in pair]
    for atoms, reference in zip(pair, own, strict=True):
        atoms.calc, reference.calc = client(atoms), EMT()
    for seed in range(3):
        for atoms, reference in zip(pair, own, strict=True):
            assert max(differences(atoms, reference)) < 1e-11
            atoms.rattle(0.01, seed=seed)
            reference.positions = atoms.positions


def test_threads_take_turns(client: Callable[..., IpiCalculator]) -> None:
    atoms = copper()
    calculator = client(atoms)
    host = calculator.open(atoms)
    wrong: list[float] = []

    def ask(seed: int) -> None:
        moved, own = copper(), copper()
        for step in range(20):
            moved.rattle(0.02, seed=100 * seed + step)
            own.positions, own.calc = moved.positions, EMT()
            answer = host.evaluate(moved.positions, moved.cell.array)
            wrong.append(abs(answer.energy_ev - own.get_potential_energy()))

    threads = [threading.Thread(target=ask, args=(seed,)) for seed in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(HANG_S)
    assert len(wrong) == 60
    assert max(wrong) < 1e-11


def test_pickled_as_its_parameters(client: Callable[..., IpiCalculator]) -> None:
    atoms = copper()
    calculator = client(atoms)
    atoms.calc = calculator
    energy = atoms.get_potential_energy()
    with pickle.loads(pickle.dumps(calculator)) as again, copy.deepcopy(calculator) as other:
        assert again.host is None
        assert again.get_potential_energy(atoms) == energy
        assert other.get_potential_energy(atoms) == energy


def test_one_evaluation_serves_all(
    client: Callable[..., IpiCalculator], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    atoms = copper()
    atoms.calc = calculator = client(atoms)
    calls = []
    host = calculator.open(atoms)
    evaluate = host.evaluate

    def counted(*arguments: Any, **more: Any) -> Any:
        calls.append(1)
        return evaluate(*arguments, **more)

    monkeypatch.setattr(host, "evaluate", counted)
    atoms.get_forces()
    atoms.get_potential_energy()
    atoms.get_stress()
    assert set(calculator.results) == {"energy", "free_energy", "forces", "stress"}
    calculator.results["forces"][:] = 0.0
    atoms.get_forces()[:] = 0.0  # ours; the next one gets numbers again
    assert abs(atoms.get_forces()).max() > 0.1
    assert len(calls) == 1
    atoms.write(tmp_path / "with_results.traj")
    assert len(calls) == 1
    atoms.positions[0, 0] += 1e-9
    assert calculator.calculation_required(atoms, ["energy"])
    assert calculator.get_property("energy", atoms, allow_calculation=False) is None
    atoms.get_forces()
    assert len(calls) == 2


def test_a_program_that_somebody_else_starts(tmp_path: Path) -> None:
    atoms = copper()
    atoms.write(tmp_path / "cu.xyz")
    with Host("ase", len(atoms)) as host:
        mode = Path(host.door.path).stat().st_mode & 0o777
        assert mode == 0o600
        command = [host.door.fill_in(one) for one in ase_client(tmp_path / "cu.xyz")]
        with subprocess.Popen(command) as outside:
            result = host.evaluate(atoms.positions, atoms.cell.array)
            assert not Path(host.door.path).exists()
            atoms.calc = EMT()
            assert result.energy_ev == pytest.approx(atoms.get_potential_energy(), rel=1e-12)
            host.close()
            assert outside.wait(HANG_S) == 0
