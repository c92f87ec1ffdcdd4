"""LAMMPS driven by our host: results as by itself, in cells that lie as it does not want them."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from ase import Atoms
from ase.build import bulk
from ase.calculators.lammps import Prism
from ase.filters import FrechetCellFilter
from ase.io import write
from ase.optimize import BFGS

from crystalmath.errors import InputRejected, WorkerDied
from crystalmath.forces.ipi import quirks
from crystalmath.forces.ipi.calculator import IpiCalculator
from crystalmath.forces.ipi.host import Deadlines
from support.ipi import Overheard, nine, record, strain_stress

pytestmark = [pytest.mark.testbed, pytest.mark.timeout(900)]

INPUT = """units metal
atom_style atomic
atom_modify sort 0 0.0
boundary p p p
box tilt large
read_data {data}
pair_style tersoff
pair_coeff * * {potentials}/SiC.tersoff C Si
"""
ALONE = """compute stress all pressure NULL virial
thermo_style custom pe c_stress[1] c_stress[2] c_stress[3] c_stress[4] c_stress[5] c_stress[6]
thermo_modify format float %.16g
dump forces all custom 1 forces.txt id fx fy fz
dump_modify forces sort id format float %.16g
run 0
"""
BAR_PER_EV_ANGSTROM3 = 1.6021765e6
"""LAMMPS' own nktv2p in units metal."""
DEADLINES = Deadlines(connect_s=60.0, call_s=60.0, first_s=60.0)


@dataclass(frozen=True, slots=True)
class Lammps:
    """What ``lammps-up`` has installed."""

    potentials: str
    version: str

    def write(
        self, folder: Path, atoms: Atoms, last: str = "fix 1 all ipi ${ipi}\nrun 1000"
    ) -> None:
        write(folder / "in.data", atoms, format="lammps-data", specorder=["C", "Si"], masses=True)
        text = INPUT.format(data="in.data", potentials=self.potentials)
        (folder / "in.lmp").write_text(text + last)

    def alone(self, folder: Path, atoms: Atoms) -> tuple[float, Any, Any]:
        """Energy, forces and stress by the program itself, in eV and Å and ASE's signs."""
        folder.mkdir()
        self.write(folder, atoms, ALONE)
        environment = {**os.environ, "OMP_NUM_THREADS": "1"}
        environment |= dict.fromkeys(
            ("OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"), "1"
        )
        done = subprocess.run(
            ["lmp", "-in", "in.lmp"],
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        printed = re.search(r"PotEng.*\n(.*)\n", done.stdout)
        assert printed is not None, done.stdout
        energy, *pressure = (float(word) for word in printed[1].split())
        table = np.loadtxt(folder / "forces.txt", skiprows=9)
        prism = Prism(atoms.cell.array)
        xx, yy, zz, xy, xz, yz = pressure
        turned = -np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) / BAR_PER_EV_ANGSTROM3
        return energy, prism.vector_to_ase(table[:, 1:]), prism.tensor2_to_ase(turned)


@pytest.fixture(scope="session")
def lammps(set_up: Callable[[str], str]) -> Lammps:
    printed = set_up("lammps-up")
    found = re.search(r"\(LAMMPS (.*)\); potentials in (\S+)", printed)
    assert found is not None, printed
    return Lammps(found[2], found[1])


def carbide() -> Atoms:
    """Silicon carbide, species mixed, in a cell with nine non-zero entries."""
    atoms = bulk("SiC", "zincblende", a=4.36, cubic=True)
    atoms.rattle(0.05, seed=1)
    return nine(atoms)


def in_their_order(atoms: Atoms) -> Atoms:
    theirs = atoms[np.argsort(atoms.numbers, kind="stable")]
    assert list(theirs.symbols) != list(atoms.symbols)
    return theirs


def driven(lammps: Lammps, folder: Path, atoms: Atoms, **options: Any) -> IpiCalculator:
    """A calculator whose LAMMPS has the atoms sorted by species."""
    theirs = in_their_order(atoms)
    lammps.write(folder, theirs)
    options = {"program": "lammps", "deadlines": DEADLINES, **options}
    return IpiCalculator(
        command=["lmp", "-in", "in.lmp"],
        directory=folder,
        template="in.data",
        **options,
    )


@pytest.mark.parametrize("transport", ["unix", "inet"])
def test_results_are_those_of_the_program(lammps: Lammps, tmp_path: Path, transport: str) -> None:
    atoms = carbide()
    with driven(lammps, tmp_path, atoms, transport=transport) as calculator:
        atoms.calc = calculator
        worst = np.zeros(3)
        for step in range(3):
            energy, forces, stress = lammps.alone(tmp_path / f"alone{step}", atoms)
            worst = np.maximum(
                worst,
                (
                    abs(atoms.get_potential_energy() / energy - 1.0),
                    abs(atoms.get_forces() - forces).max(),
                    abs(atoms.get_stress(voigt=False) - stress).max(),
                ),
            )
            assert abs(stress).min() > 1e-3
            atoms.rattle(0.02, seed=step)
            atoms.set_cell(atoms.cell.array * (1.0 + 0.01 * step), scale_atoms=True)
        assert worst[0] < 1e-6
        assert worst[1] < 1e-5
        assert worst[2] < 1e-6
        host = calculator.host
    assert host is not None
    assert host.exit_code is not None
    names = ("energy", "forces", "stress")
    measured = dict(zip(names, (f"{value:.0e}" for value in worst), strict=True))
    record("lammps", lammps.version, **measured, transport=transport, exit_code=host.exit_code)


def test_strain_derivatives(lammps: Lammps, tmp_path: Path) -> None:
    atoms = carbide()
    with driven(lammps, tmp_path, atoms) as atoms.calc:
        stress = atoms.get_stress(voigt=False)
        difference = abs(strain_stress(atoms) - stress).max()
    assert difference < 1e-6
    record("lammps", lammps.version, strain=f"{difference:.0e}")


def test_ten_steps_of_a_relaxation_with_the_cell(lammps: Lammps, tmp_path: Path) -> None:
    atoms = carbide()
    with driven(lammps, tmp_path, atoms) as atoms.calc:
        before = atoms.get_potential_energy()
        BFGS(FrechetCellFilter(atoms), logfile=None).run(fmax=1e-9, steps=10)
        after = atoms.get_potential_energy()
    energy, _, _ = lammps.alone(tmp_path / "alone", atoms)
    assert after < before - 0.1
    assert after == pytest.approx(energy, rel=1e-6)
    record("lammps", lammps.version, relax=f"10 steps, {abs(after - energy):.0e} eV")


def test_words(lammps: Lammps, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    heard = Overheard(monkeypatch)
    results = []
    for consolidated in (True, False):
        folder = tmp_path / str(consolidated)
        folder.mkdir()
        atoms = carbide()
        program = replace(quirks.LAMMPS, consolidated=consolidated)
        with driven(lammps, folder, atoms, program=program) as atoms.calc:
            for seed in range(2):
                results.append((atoms.get_potential_energy(), atoms.get_forces()))
                atoms.rattle(0.01, seed=seed)
    at_once = [">STATUS", "<READY", ">POSDATA", ">GETFORCE", "<FORCEREADY"]
    step = [">STATUS", "<READY", ">POSDATA", ">STATUS", "<HAVEDATA", ">GETFORCE", "<FORCEREADY"]
    assert heard.words == [*at_once, *at_once[2:], ">EXIT", *step, *step, ">EXIT"]
    for (energy, forces), (again, forces_again) in zip(results[:2], results[2:], strict=True):
        assert energy == again
        assert (forces == forces_again).all()
    record("lammps", lammps.version, init="never", consolidated="bit-equal")


@pytest.mark.parametrize("repeat", [(2, 1, 1), (1, 1, 1)])
def test_another_number_of_atoms(
    lammps: Lammps, tmp_path: Path, repeat: tuple[int, int, int]
) -> None:
    """LAMMPS itself answers with our count and nonsense: its data file tells beforehand."""
    atoms = carbide()
    theirs = atoms * repeat
    if repeat == (1, 1, 1):
        del theirs[0]
    lammps.write(tmp_path, theirs)
    with (
        pytest.raises(InputRejected, match="the structure C4 Si4") as caught,
        IpiCalculator(
            "lammps", ["lmp", "-in", "in.lmp"], directory=tmp_path, template="in.data"
        ) as atoms.calc,
    ):
        atoms.get_forces()
    assert caught.value.field == "species"


def test_what_lammps_would_not_notice_must_be_said(tmp_path: Path) -> None:
    with (
        pytest.raises(InputRejected, match="does not notice") as caught,
        IpiCalculator("lammps", ["lmp", "-in", "in.lmp"], directory=tmp_path) as calculator,
    ):
        calculator.get_forces(carbide())
    assert caught.value.field == "template"


def test_a_bad_input_is_told_with_its_last_words(lammps: Lammps, tmp_path: Path) -> None:
    atoms = carbide()
    with driven(lammps, tmp_path, atoms) as calculator:
        (tmp_path / "in.lmp").write_text("units metal\npair_style nonsense\n")
        with pytest.raises(WorkerDied, match="before it connected") as caught:
            calculator.get_forces(atoms)
    assert "nonsense" in (caught.value.hint or "")
