"""pw.x driven by our host: results as by itself, its ways with INIT, its deaths."""

from __future__ import annotations

import os
import re
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from ase import Atoms
from ase.build import bulk
from ase.optimize import BFGS

from crystalmath.errors import InputRejected, WorkerDied
from crystalmath.forces.ipi import quirks
from crystalmath.forces.ipi.calculator import IpiCalculator
from crystalmath.forces.ipi.host import Deadlines, Host
from crystalmath.units import BOHR_ANGSTROM, RYDBERG_EV
from support.ipi import Overheard, nine, record, strain_stress

if TYPE_CHECKING:
    from conftest import QuantumEspresso

pytestmark = [pytest.mark.testbed, pytest.mark.timeout(900)]

DECK = """&control
 calculation = 'scf', prefix = 'si', outdir = './out', pseudo_dir = '{pseudo}'
 tprnfor = .true., tstress = .true.
/
&system
 ibrav = 0, nat = {count}, ntyp = 1, ecutwfc = 18.0, nosym = .true.
/
&electrons
 conv_thr = 1.0d-11, electron_maxstep = {steps}
/
ATOMIC_SPECIES
Si 28.086 Si.pz-vbc.UPF
CELL_PARAMETERS angstrom
{cell}
ATOMIC_POSITIONS angstrom
{positions}
K_POINTS automatic
2 2 2 1 1 1
"""
DEADLINES = Deadlines(connect_s=120.0, call_s=120.0, first_s=120.0)
NUMBER = r"(-?\d+\.\d+)"
EV_PER_ANGSTROM3 = RYDBERG_EV / BOHR_ANGSTROM**3


def silicon() -> Atoms:
    """Two atoms in a cell with nine non-zero entries."""
    atoms = bulk("Si", a=5.43)
    atoms.rattle(0.05, seed=1)
    return nine(atoms)


def deck(qe: QuantumEspresso, atoms: Atoms, steps: int = 100) -> str:
    def rows(array: Any, tag: str = "") -> str:
        return "\n".join(tag + " {:.14f} {:.14f} {:.14f}".format(*row) for row in array)

    return DECK.format(
        pseudo=qe.pseudo,
        count=len(atoms),
        steps=steps,
        cell=rows(atoms.cell.array),
        positions=rows(atoms.positions, "Si"),
    )


def alone(qe: QuantumEspresso, folder: Path, atoms: Atoms) -> tuple[float, Any, Any]:
    """Energy, forces and stress by the program itself, in eV and Å and ASE's signs."""
    folder.mkdir()
    (folder / "si.in").write_text(deck(qe, atoms))
    done = subprocess.run(
        [qe.pw_x, "-in", "si.in"],
        cwd=folder,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    (energy,) = re.findall(rf"^! +total energy += +{NUMBER} Ry", done.stdout, re.MULTILINE)
    forces = re.findall(rf"force = +{NUMBER} +{NUMBER} +{NUMBER}", done.stdout)[: len(atoms)]
    block = done.stdout.split("total   stress")[1].splitlines()[1:4]
    pressure = np.array([[float(word) for word in line.split()[:3]] for line in block])
    return (
        float(energy) * RYDBERG_EV,
        np.array(forces, float) * RYDBERG_EV / BOHR_ANGSTROM,
        -pressure * EV_PER_ANGSTROM3,
    )


def driven(qe: QuantumEspresso, folder: Path, atoms: Atoms, **options: Any) -> IpiCalculator:
    folder.mkdir(exist_ok=True)
    (folder / "si.in").write_text(deck(qe, atoms))
    options = {"program": "pw", "deadlines": DEADLINES, "template": "si.in", **options}
    return IpiCalculator(command=[str(qe.pw_x), "-in", "si.in"], directory=folder, **options)


def version(folder: Path) -> str:
    found = re.search(r"Program PWSCF v\.(\S+)", (folder / "pw.out").read_text())
    assert found is not None
    return found[1]


@pytest.mark.parametrize("transport", ["unix", "inet"])
def test_results_are_those_of_the_program(
    qe: QuantumEspresso, tmp_path: Path, transport: str
) -> None:
    atoms = silicon()
    worst = np.zeros(3)
    with driven(qe, tmp_path, atoms, transport=transport) as atoms.calc:
        for step in range(3):
            energy, forces, stress = alone(qe, tmp_path / f"alone{step}", atoms)
            found = atoms.get_stress(voigt=False)
            worst = np.maximum(
                worst,
                (
                    abs(atoms.get_potential_energy() / energy - 1.0),
                    abs(atoms.get_forces() - forces).max(),
                    abs(found - stress).max(),
                ),
            )
            assert abs(stress[np.tril_indices(3, -1)]).min() > 1e-3
            atoms.rattle(0.02, seed=step)
        host = atoms.calc.host
    assert worst[0] < 1e-6
    assert worst[1] < 1e-4
    assert worst[2] < 5e-6
    assert host.exit_code is not None
    assert "JOB DONE" in (tmp_path / "pw.out").read_text()
    names = ("energy", "forces", "stress")
    measured = dict(zip(names, (f"{value:.0e}" for value in worst), strict=True))
    record("pw", version(tmp_path), **measured, transport=transport, exit_code=host.exit_code)


def test_strain_derivatives(qe: QuantumEspresso, tmp_path: Path) -> None:
    """Of a calculation with a fixed set of plane waves, hence the tolerance."""
    atoms = silicon()
    with driven(qe, tmp_path, atoms) as atoms.calc:
        stress = atoms.get_stress(voigt=False)
        difference = abs(strain_stress(atoms) - stress).max()
    assert difference < 2e-4
    assert difference < 0.01 * abs(stress).max()
    record("pw", version(tmp_path), strain=f"{difference:.0e}")


def test_ten_steps_of_a_relaxation(qe: QuantumEspresso, tmp_path: Path) -> None:
    atoms = silicon()
    with driven(qe, tmp_path, atoms) as atoms.calc:
        before = atoms.get_potential_energy()
        BFGS(atoms, logfile=None).run(fmax=1e-9, steps=10)
        after = atoms.get_potential_energy()
    energy, _, _ = alone(qe, tmp_path / "alone", atoms)
    assert after < before - 0.01
    assert after == pytest.approx(energy, rel=1e-6)
    record("pw", version(tmp_path), relax=f"10 steps, {abs(after - energy):.0e} eV")


def test_words(qe: QuantumEspresso, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """NEEDINIT before every structure, which need not be obeyed after the first."""
    heard = Overheard(monkeypatch)
    results = []
    for consolidated in (True, False):
        atoms = silicon()
        program = replace(quirks.PW, consolidated=consolidated)
        with driven(qe, tmp_path / str(consolidated), atoms, program=program) as atoms.calc:
            for seed in range(2):
                results.append((atoms.get_potential_energy(), atoms.get_forces()))
                atoms.rattle(0.01, seed=seed)
    begin = [">STATUS", "<NEEDINIT", ">INIT", ">STATUS", "<READY"]
    at_once = [">POSDATA", ">GETFORCE", "<FORCEREADY"]
    step = [*begin, ">POSDATA", ">STATUS", "<HAVEDATA", ">GETFORCE", "<FORCEREADY"]
    assert heard.words == [*begin, *at_once, *at_once, ">EXIT", *step, *step, ">EXIT"]
    worst = 0.0
    for (energy, forces), (again, forces_again) in zip(results[:2], results[2:], strict=True):
        assert energy == pytest.approx(again, abs=1e-8)
        worst = max(worst, abs(forces - forces_again).max())
    assert worst < 1e-5
    found = version(tmp_path / "True")
    same = "bit-equal" if worst == 0.0 else f"equal to {worst:.0e} eV/Å"
    record("pw", found, init="before every structure", consolidated=same)


def test_another_number_of_atoms(qe: QuantumEspresso, tmp_path: Path) -> None:
    atoms = silicon()
    (tmp_path / "si.in").write_text(deck(qe, atoms))
    command = [str(qe.pw_x), "-in", "si.in"]
    with (
        pytest.raises(InputRejected, match="has Si2, the structure Si4"),
        IpiCalculator("pw", command, directory=tmp_path, template="si.in") as calculator,
    ):
        calculator.get_forces(atoms * (2, 1, 1))
    more = atoms * (40, 1, 1)
    with (
        pytest.raises(WorkerDied, match=r"pw\.x"),
        Host("pw", len(more), command=command, directory=tmp_path, deadlines=DEADLINES) as host,
    ):
        host.evaluate(more.positions, more.cell.array)


def test_an_scf_that_does_not_converge(qe: QuantumEspresso, tmp_path: Path) -> None:
    atoms = silicon()
    with driven(qe, tmp_path, atoms) as calculator:
        (tmp_path / "si.in").write_text(deck(qe, atoms, steps=2))
        with pytest.raises(WorkerDied) as caught:
            calculator.get_forces(atoms)
    assert "convergence NOT achieved" in (tmp_path / "pw.out").read_text()
    assert caught.value.hint


def test_a_cell_that_shrinks(qe: QuantumEspresso, tmp_path: Path) -> None:
    """Ends it, unless its input is one for variable cells."""
    atoms = silicon()
    with driven(qe, tmp_path / "scf", atoms) as atoms.calc:
        atoms.get_forces()
        atoms.set_cell(atoms.cell.array * 0.98, scale_atoms=True)
        with pytest.raises(WorkerDied, match="ended with exit code 1") as caught:
            atoms.get_forces()
    assert "larger cell_factor" in (caught.value.hint or "")

    atoms = silicon()
    with driven(qe, tmp_path / "cell", atoms) as atoms.calc:
        path = tmp_path / "cell" / "si.in"
        variable = "&ions\n/\n&cell\n cell_factor = 2.0\n/\nATOMIC_SPECIES"
        text = path.read_text().replace("'scf'", "'vc-relax'").replace("ATOMIC_SPECIES", variable)
        path.write_text(text)
        before = atoms.get_potential_energy()
        atoms.set_cell(atoms.cell.array * 0.98, scale_atoms=True)
        assert atoms.get_potential_energy() == pytest.approx(before, abs=0.5)


def test_a_bad_deck_is_told_with_its_last_words(qe: QuantumEspresso, tmp_path: Path) -> None:
    atoms = silicon()
    with driven(qe, tmp_path, atoms) as calculator:
        text = (tmp_path / "si.in").read_text().replace("ecutwfc", "ecutwfx")
        (tmp_path / "si.in").write_text(text)
        with pytest.raises(WorkerDied, match="before it connected") as caught:
            calculator.get_forces(atoms)
    assert "bad line in namelist &system" in (caught.value.hint or "")
