"""i-PI itself at the other end: its Python driver under our host, its server over our worker."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from ase import Atoms
from ase.build import bulk
from ase.calculators.emt import EMT
from ase.filters import FrechetCellFilter
from ase.io import read
from ase.optimize import BFGS

from crystalmath.forces.ipi import quirks
from crystalmath.forces.ipi.calculator import IpiCalculator
from crystalmath.forces.ipi.host import Deadlines
from crystalmath.forces.ipi.serve import Service
from crystalmath.forces.ipi.template import Structure, read_template
from support.ipi import Overheard, copper, record, strain_stress

pytestmark = [pytest.mark.testbed, pytest.mark.timeout(900)]

DEADLINES = Deadlines(connect_s=60.0, call_s=60.0, first_s=60.0, leave_s=20.0)
PES = Path(__file__).with_name("ipi") / "emt_pes.py"
NAMES = ("energy", "forces", "stress")
HANG_S = 120.0


@dataclass(frozen=True, slots=True)
class Ipi:
    """What ``ipi-up`` has installed."""

    programs: Path
    version: str


@pytest.fixture(scope="session")
def ipi(set_up: Callable[[str], str]) -> Ipi:
    printed = set_up("ipi-up")
    found = re.search(r"\(i-PI (\S+), ASE .*\): (\S+)/i-pi", printed)
    assert found is not None, printed
    return Ipi(Path(found[2]), found[1])


def driven(ipi: Ipi, folder: Path, atoms: Atoms, **options: Any) -> IpiCalculator:
    folder.mkdir(exist_ok=True)
    atoms.write(folder / "cu.xyz")
    command = [ipi.programs / "i-pi-driver-py", "-m", "custom", "-P", PES, "-o", "cu.xyz"]
    options = {"program": "i-pi-driver", "deadlines": DEADLINES, "template": "cu.xyz", **options}
    return IpiCalculator(command=[str(word) for word in command], directory=folder, **options)


def differences(atoms: Atoms) -> Any:
    """Of energy (relative), forces and stress, from EMT in this process."""
    own = atoms.copy()
    own.calc = EMT()
    energy = own.get_potential_energy()
    stress = atoms.get_stress(voigt=False) - own.get_stress(voigt=False)
    return np.array(
        (
            abs(atoms.get_potential_energy() / energy - 1.0),
            abs(atoms.get_forces() - own.get_forces()).max(),
            abs(stress).max(),
        )
    )


@pytest.mark.parametrize("transport", ["unix", "inet"])
def test_results_are_those_of_the_program(ipi: Ipi, tmp_path: Path, transport: str) -> None:
    atoms = copper()
    worst = np.zeros(3)
    with driven(ipi, tmp_path, atoms, transport=transport) as atoms.calc:
        for seed in range(3):
            worst = np.maximum(worst, differences(atoms))
            atoms.rattle(0.02, seed=seed)
            atoms.set_cell(atoms.cell.array + 0.01 * seed)
        host = atoms.calc.host
    assert (worst < 1e-6).all()
    assert host.exit_code == 0
    measured = dict(zip(NAMES, (f"{value:.0e}" for value in worst), strict=True))
    record("i-pi-driver", ipi.version, **measured, transport=transport, exit_code=0)


def test_strain_derivatives(ipi: Ipi, tmp_path: Path) -> None:
    atoms = copper()
    with driven(ipi, tmp_path, atoms) as atoms.calc:
        stress = atoms.get_stress(voigt=False)
        difference = abs(strain_stress(atoms) - stress).max()
    assert difference < 1e-6
    record("i-pi-driver", ipi.version, strain=f"{difference:.0e}")


def test_ten_steps_of_a_relaxation_with_the_cell(ipi: Ipi, tmp_path: Path) -> None:
    energies = []
    for ours in (True, False):
        atoms = copper()
        with driven(ipi, tmp_path, atoms) as calculator:
            atoms.calc = calculator if ours else EMT()
            BFGS(FrechetCellFilter(atoms), logfile=None).run(fmax=1e-9, steps=10)
            energies.append(atoms.get_potential_energy())
    difference = abs(energies[0] - energies[1])
    assert difference < 1e-6
    record("i-pi-driver", ipi.version, relax=f"10 steps, {difference:.0e} eV")


def test_words(ipi: Ipi, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    heard = Overheard(monkeypatch)
    results = []
    for consolidated in (True, False):
        atoms = copper()
        program = replace(quirks.IPI_DRIVER, consolidated=consolidated)
        with driven(ipi, tmp_path / str(consolidated), atoms, program=program) as atoms.calc:
            for seed in range(2):
                results.append((atoms.get_potential_energy(), atoms.get_forces()))
                atoms.rattle(0.01, seed=seed)
    begin = [">STATUS", "<NEEDINIT", ">INIT", ">STATUS", "<READY"]
    at_once = [">POSDATA", ">GETFORCE", "<FORCEREADY"]
    step = [">POSDATA", ">STATUS", "<HAVEDATA", ">GETFORCE", "<FORCEREADY"]
    again = [">STATUS", "<READY"]
    first = [*begin, *at_once, *at_once, ">EXIT"]
    assert heard.words == [*first, *begin, *step, *again, *step, ">EXIT"]
    for (energy, forces), (same, same_forces) in zip(results[:2], results[2:], strict=True):
        assert energy == same
        assert (forces == same_forces).all()
    record("i-pi-driver", ipi.version, init="once", consolidated="bit-equal")


def test_a_driver_that_would_spin_for_ever_is_ended(ipi: Ipi, tmp_path: Path) -> None:
    """It does not notice a closed connection; after an error there is no EXIT."""
    atoms = copper()
    with driven(ipi, tmp_path, atoms) as atoms.calc:
        atoms.get_forces()
        host = atoms.calc.host
        process = host._held.program.process
        host.door.close()
        host._abandon(KeyboardInterrupt())
        assert process.poll() is not None
        assert host.exit_code == -signal.SIGTERM


INPUT = """<simulation verbosity='medium'>
  <output prefix='sim'>
    <properties filename='out' stride='1'>
      [ step, potential{{electronvolt}}, virial_md{{ev/ang3}} ]
    </properties>
    <trajectory filename='x' stride='1' format='ase'> positions{{ase}} </trajectory>
    <trajectory filename='f' stride='1' format='ase'> forces{{ase}} </trajectory>
  </output>
  <total_steps>10</total_steps>
  <prng><seed>1</seed></prng>
  <ffsocket mode='{mode}' name='w' pbc='False'>
    <address>{address}</address><port>{port}</port><latency>1e-4</latency><timeout>60</timeout>
  </ffsocket>
  <system>
    <initialize nbeads='1'><file mode='xyz'> init.xyz </file></initialize>
    <forces><force forcefield='w'/></forces>
    <ensemble><temperature units='kelvin'>300</temperature></ensemble>
    <motion mode='minimize'><optimizer mode='bfgs'>
      <tolerances><energy>1e-10</energy><force>1e-7</force><position>1e-6</position></tolerances>
    </optimizer></motion>
  </system>
</simulation>
"""


class Emt:
    """Evaluates with EMT and keeps what it was asked and said."""

    def __init__(self) -> None:
        self.seen: list[tuple[Atoms, dict[str, Any]]] = []

    def __call__(self, structure: Structure, mask: int) -> dict[str, Any]:
        atoms = Atoms(
            structure.numbers, structure.positions, cell=structure.cell, pbc=structure.pbc
        )
        atoms.calc = EMT()
        found = {
            "energy": atoms.get_potential_energy(),
            "forces": atoms.get_forces(),
            "stress": atoms.get_stress(voigt=False),
        }
        self.seen.append((atoms.copy(), found))
        return found


def triclinic() -> Atoms:
    """In the way that i-PI wants cells to lie: a along x, b in the xy plane."""
    atoms = bulk("Cu", cubic=True)
    atoms.rattle(0.05, seed=1)
    atoms.set_cell([[3.7, 0.0, 0.0], [0.1, 3.8, 0.0], [0.2, -0.1, 3.65]], scale_atoms=True)
    return atoms


@pytest.mark.parametrize("needs_init", [False, True])
@pytest.mark.parametrize("mode", ["unix", "inet"])
def test_the_server_relaxes_with_our_worker(
    ipi: Ipi, tmp_path: Path, mode: str, needs_init: bool
) -> None:
    atoms = triclinic()
    atoms.write(tmp_path / "template.xyz")
    cell = " ".join(f"{number:.14f}" for number in atoms.cell.array.T.ravel())
    lines = [str(len(atoms)), f"# CELL{{H}}: {cell} positions{{angstrom}} cell{{angstrom}}"]
    lines += [f"Cu {x:.14f} {y:.14f} {z:.14f}" for x, y, z in atoms.positions]
    (tmp_path / "init.xyz").write_text("\n".join(lines) + "\n")
    name, port = f"cmtest{os.getpid()}{needs_init:d}", 31500 + 2 * (os.getpid() % 500) + needs_init
    address = name if mode == "unix" else "127.0.0.1"
    (tmp_path / "in.xml").write_text(INPUT.format(mode=mode, address=address, port=port))

    emt = Emt()
    service = Service(
        emt,
        read_template(tmp_path / "template.xyz"),
        f"{name}:UNIX" if mode == "unix" else f"127.0.0.1:{port}",
        properties=NAMES,
        needs_init=needs_init,
        units=quirks.IPI_DRIVER.units,
        connect_s=60.0,
    )
    with (tmp_path / "ipi.out").open("w") as out:
        server = subprocess.Popen(
            [ipi.programs / "i-pi", "in.xml"], cwd=tmp_path, stdout=out, stderr=subprocess.STDOUT
        )
    thread = threading.Thread(target=service.run)
    thread.start()
    try:
        code = server.wait(HANG_S)
    finally:
        service.stop()
        server.kill()
        server.wait()
        thread.join(HANG_S)
    assert code == 0, (tmp_path / "ipi.out").read_text()
    assert not thread.is_alive()
    worst = compare(tmp_path, emt)
    assert (worst < 1e-6).all()
    told = dict(zip(NAMES, (f"{value:.0e}" for value in worst), strict=True))
    init = "once" if needs_init else "never"
    steps = "10 steps"
    record("i-pi-server", ipi.version, **told, init=init, relax=steps, transport=mode)


def compare(folder: Path, emt: Emt) -> Any:
    """What the server wrote of eleven steps, against EMT in this process."""
    table = np.loadtxt(folder / "sim.out")
    assert len(table) == 11
    assert table[-1, 1] < table[0, 1] - 0.1
    positions = read(next(folder.glob("sim.x_0*")), index=":")
    forces = read(next(folder.glob("sim.f_0*")), index=":")
    worst = np.zeros(3)
    for row, moved, given in zip(table, positions, forces, strict=True):
        seen, found = min(emt.seen, key=lambda one: abs(one[0].positions - moved.positions).max())
        np.testing.assert_allclose(seen.cell.array, triclinic().cell.array, atol=1e-6)
        np.testing.assert_allclose(seen.positions, moved.positions, atol=1e-6)
        xx, yy, zz, xy, xz, yz = row[2:]
        virial = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        pushed = given.calc.results["forces"]
        off = (
            abs(row[1] / found["energy"] - 1.0),
            abs(pushed - found["forces"]).max(),
            abs(virial + found["stress"]).max(),
        )
        worst = np.maximum(worst, off)
    return worst
