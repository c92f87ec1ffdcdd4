"""Our worker, driven by ASE's SocketIOCalculator as it is."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, ClassVar

import ase
import numpy as np
import pytest
from ase import Atoms
from ase.build import bulk, molecule
from ase.calculators.calculator import Calculator
from ase.calculators.emt import EMT
from ase.calculators.socketio import SocketIOCalculator
from ase.filters import FrechetCellFilter
from ase.optimize import BFGS

from crystalmath.forces.ipi import quirks
from crystalmath.forces.ipi.evaluator import Evaluator
from crystalmath.forces.ipi.serve import Service
from crystalmath.forces.ipi.template import Structure, read_template
from support.ipi import alloy, copper, differences, record, strain_stress

HANG_S = 60.0
STRESS = ("energy", "forces", "stress")


class Remembering(Evaluator):
    """Remembers what it was asked."""

    def __init__(self, calculator: Any) -> None:
        super().__init__(calculator)
        self.asked: list[Structure] = []

    def __call__(self, structure: Structure, mask: int) -> dict[str, Any]:
        self.asked.append(structure)
        return super().__call__(structure, mask)


class Echo(Calculator):
    """Positions as forces: what crosses is what was sent."""

    implemented_properties: ClassVar[list[str]] = list(STRESS)

    def calculate(self, atoms: Any = None, properties: Any = (), system_changes: Any = ()) -> None:
        self.results = {"energy": -1.0, "forces": atoms.positions.copy(), "stress": np.ones(6)}


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Callable[..., tuple[SocketIOCalculator, Service]]]:
    """Makes ASE's server and a worker of ours that it drives."""
    made: list[tuple[SocketIOCalculator, Service, threading.Thread]] = []

    def make(
        atoms: Atoms, calculator: Any = None, **options: Any
    ) -> tuple[SocketIOCalculator, Service]:
        template = tmp_path / f"template{len(made)}.xyz"
        atoms.write(template)
        name = f"cmtest{os.getpid()}x{len(made)}"
        server = SocketIOCalculator(unixsocket=name, timeout=HANG_S)
        options = {"properties": STRESS, **options}
        evaluate = Remembering(EMT() if calculator is None else calculator)
        service = Service(evaluate, read_template(template), f"{name}:UNIX", **options)
        thread = threading.Thread(target=service.run)
        thread.start()
        made.append((server, service, thread))
        return server, service

    yield make
    for server, _, thread in made:
        server.close()
        thread.join(HANG_S)
        assert not thread.is_alive()


@pytest.mark.parametrize("needs_init", [False, True])
@pytest.mark.parametrize("make", [copper, alloy])
def test_ase_drives_our_worker(served: Any, make: Callable[[], Atoms], needs_init: bool) -> None:
    atoms, own = make(), make()
    own.calc = EMT()
    atoms.calc, service = served(atoms, needs_init=needs_init)
    worst = np.zeros(3)
    for seed in range(4):
        worst = np.maximum(worst, differences(atoms, own))
        atoms.rattle(0.02, seed=seed)
        own.positions = atoms.positions
    assert (worst < 1e-6).all()
    assert service.structures == 4
    assert service.parameters == (b"\0" if needs_init else b"")
    measured = dict(zip(STRESS, (f"{value:.0e}" for value in worst), strict=True))
    asked = "once" if needs_init else "never"
    record("ase-server", ase.__version__, **measured, init=asked, transport="unix")


def test_with_the_servers_own_units_the_results_are_equal(served: Any) -> None:
    atoms, own = copper(), copper()
    own.calc = EMT()
    atoms.calc, _ = served(atoms, units=quirks.ASE.units)
    assert max(differences(atoms, own)) < 1e-12


def test_strain_derivatives_through_our_worker(served: Any) -> None:
    atoms = copper()
    atoms.calc, _ = served(atoms)
    stress = atoms.get_stress(voigt=False)
    difference = abs(strain_stress(atoms) - stress).max()
    assert difference < 1e-7
    record("ase-server", ase.__version__, strain=f"{difference:.0e}")


def test_ten_steps_through_our_worker(served: Any) -> None:
    energies = []
    for ours in (False, True):
        atoms = copper()
        atoms.calc = served(atoms)[0] if ours else EMT()
        BFGS(FrechetCellFilter(atoms), logfile=None).run(fmax=1e-9, steps=10)
        energies.append(atoms.get_potential_energy())
    assert energies[1] == pytest.approx(energies[0], abs=1e-7)
    difference = abs(energies[1] - energies[0])
    record("ase-server", ase.__version__, relax=f"10 steps, {difference:.0e} eV")


@pytest.mark.parametrize("repeat", [(1, 1, 1), (20, 20, 25)])
def test_one_and_ten_thousand_atoms_through_our_worker(
    served: Any, repeat: tuple[int, int, int]
) -> None:
    atoms = bulk("Cu") * repeat
    atoms.rattle(0.02, seed=3)
    atoms.calc, _ = served(atoms, Echo())
    np.testing.assert_allclose(atoms.get_forces(), atoms.positions, rtol=1e-7, atol=1e-7)
    np.testing.assert_allclose(atoms.get_stress(), 1.0, rtol=1e-6)


def test_a_molecule_through_our_worker(served: Any) -> None:
    atoms = molecule("H2O")
    own = atoms.copy()
    own.calc = EMT()
    atoms.calc, service = served(atoms, properties=("energy", "forces"))
    assert atoms.get_potential_energy() == pytest.approx(own.get_potential_energy(), rel=1e-6)
    np.testing.assert_allclose(atoms.get_forces(), own.get_forces(), atol=1e-6)
    (structure,) = service._evaluate.asked
    assert not structure.pbc.any()
    assert not structure.cell.any()
