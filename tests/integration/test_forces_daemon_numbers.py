"""What a worker of the daemon tells of itself reaches its clients: members, toys, several terms."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from ase import Atoms
from ase.build import bulk, molecule
from ase.calculators.emt import EMT
from ase.calculators.lj import LennardJones

from crystalmath import calculator
from crystalmath.errors import EngineChanged, UnsupportedSpecies
from support.daemon import PRODUCTION, ROOT, Daemon, wait_until

CELL = bulk("Cu", a=3.7, cubic=True)


@pytest.fixture
def started(make_daemon: Any, monkeypatch: pytest.MonkeyPatch) -> Daemon:
    """The daemon of this process, with engines of a user."""
    daemon: Daemon = make_daemon(program=PRODUCTION)
    engines = daemon.config / "crystalmath" / "engines"
    engines.mkdir(parents=True)
    for name in ("several", "filed"):
        text = (ROOT / f"tests/support/engines/{name}.py").read_text(encoding="utf-8")
        (engines / f"{name}.py").write_text(text, encoding="utf-8")
    text = (ROOT / "python/crystalmath/forces/envs/lj.py").read_text(encoding="utf-8")
    text = text.replace("host = true", "host = true\n# additive = true")
    (engines / "plus.py").write_text(text, encoding="utf-8")
    daemon.start()
    for name in ("XDG_RUNTIME_DIR", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "CRYSTALMATH_SERVER",
                 "CRYSTALMATH_DATA_DIR", "HOME"):  # fmt: skip
        monkeypatch.setenv(name, daemon.env[name])
    monkeypatch.delenv("CRYSTALMATH_SOCKET", raising=False)
    return daemon


def copper() -> Atoms:
    atoms: Atoms = CELL.copy()
    atoms.rattle(0.05, seed=1)
    return atoms


def as_params(atoms: Atoms) -> dict[str, Any]:
    return {
        "symbols": list(atoms.symbols),
        "positions_angstrom": atoms.positions.tolist(),
        "cell_angstrom": atoms.cell.tolist(),
    }


def test_toy_elements_are_refused_by_the_calculator_of_the_daemon_too(started: Daemon) -> None:
    with calculator("emt") as calc, pytest.raises(UnsupportedSpecies, match="toy"):
        calc.get_potential_energy(molecule("H2O"))
    with calculator("emt", allow_toy_elements=True) as calc:
        own = molecule("H2O")
        own.calc = EMT()
        assert calc.get_potential_energy(molecule("H2O")) == own.get_potential_energy()


def test_a_committee_of_the_daemon_has_its_members_and_spreads(started: Daemon) -> None:
    atoms = copper()
    alone = []
    for epsilon in (0.3, 0.4, 0.55):
        one = copper()
        one.calc = LennardJones(sigma=2.3, epsilon=epsilon, rc=6.0)
        alone.append((one.get_potential_energy(), one.get_forces()))
    energies = np.array([energy for energy, _ in alone])
    deviations = np.array([forces for _, forces in alone])
    deviations -= deviations.mean(axis=0)
    spread = np.sqrt((deviations**2).sum(axis=2).mean(axis=0))
    with calculator("several") as calc:
        assert np.array_equal(calc.get_property("committee_energy", atoms), energies)
        found = calc.get_spread(atoms)
        assert found.energy == pytest.approx(energies.std())
        assert np.allclose(found.forces, spread)
    (row,) = started.call(
        "forces.evaluate",
        {
            "engine": "several",
            "structures": [as_params(atoms)],
            "properties": ["energy", "forces", "committee_energy", "committee_forces"],
        },
    )["structures"]
    assert row["committee_energy_ev"] == energies.tolist()
    assert row["energy_spread_ev"] == pytest.approx(energies.std())
    assert np.allclose(row["force_spread_ev_per_a"], spread)
    assert np.array(row["committee_forces_ev_per_a"]).shape == (3, 4, 3)


def test_a_sum_of_the_daemon_is_the_sum_of_both(started: Daemon) -> None:
    atoms, first, second = copper(), copper(), copper()
    first.calc, second.calc = EMT(), LennardJones(sigma=2.3, epsilon=0.4, rc=6.0)
    energy = first.get_potential_energy() + second.get_potential_energy()
    stress = first.get_stress(voigt=False) + second.get_stress(voigt=False)
    asked = {"engine": "emt+plus", "structures": [as_params(atoms)],
             "properties": ["energy", "free_energy", "forces", "stress"]}  # fmt: skip
    found = started.call("forces.evaluate", asked)
    (row,) = found["structures"]
    assert row["energy_ev"] == pytest.approx(energy, abs=1e-12)
    assert row["free_energy_ev"] == pytest.approx(energy, abs=1e-12)
    assert np.allclose(row["stress_ev_per_a3"], stress, rtol=0, atol=1e-14)
    assert [who["engine"] for who in found["identity"]] == ["emt", "plus"]
    with calculator("emt+plus") as calc:
        atoms.calc = calc
        assert atoms.get_potential_energy() == pytest.approx(energy, abs=1e-12)
        assert np.allclose(atoms.get_stress(voigt=False), stress, rtol=0, atol=1e-14)


def test_memory_and_pid_of_a_worker_are_the_programs_own(started: Daemon) -> None:
    """And not those of the guard that it runs under, nor from before it was loaded."""
    with calculator("emt") as calc:
        calc.get_potential_energy(copper())
        (row,) = started.call("forces.workers")
    command = Path(f"/proc/{row['pid']}/cmdline").read_bytes().split(b"\0")
    assert command[1] == b"-I"
    assert command[2].endswith(b"worker/__main__.py")
    status = Path(f"/proc/{row['pid']}/status").read_text(encoding="utf-8")
    (resident,) = [line for line in status.splitlines() if line.startswith("VmRSS")]
    mib = int(resident.split()[1]) / 1024
    assert 0.5 * mib < row["rss_mib"] < 2 * mib
    assert row["rss_mib"] > 40  # with numpy and ase in it


def test_a_file_of_weights_that_changes_under_a_warm_worker(
    started: Daemon, tmp_path: Path
) -> None:
    """Who uses the old one goes on with it; the next start says that it is something else."""
    file = tmp_path / "depth.txt"
    file.write_text("0.4", encoding="ascii")
    atoms = copper()
    with calculator("filed", model=file) as old:
        energy = old.get_potential_energy(atoms)
        first = old.identity[0]["model_sha256"]
        file.write_text("0.8", encoding="ascii")
        with calculator("filed", model=file) as new:
            assert new.get_potential_energy(atoms) == pytest.approx(2 * energy, rel=1e-12)
            assert new.identity[0]["model_sha256"] != first
        moved = copper()
        moved.positions += 0.1
        assert old.get_potential_energy(moved) == pytest.approx(energy, abs=1e-9)

        def used() -> list[dict[str, Any]]:
            return [w for w in workers(started) if w["clients"] == 1]

        wait_until(lambda: len(used()) == 1, "the new one has left its worker")
        (mine,) = used()
        started.call("forces.stop", {"worker": mine["id"]})

        def gone() -> bool:
            return all(w["id"] != mine["id"] or w["state"] == "stopped" for w in workers(started))

        wait_until(gone, "the worker has ended")  # until then it may answer
        with pytest.raises(EngineChanged, match="has changed since"):
            old.get_potential_energy(copper())
    wait_until(lambda: all(w["clients"] == 0 for w in workers(started)), "all have left")


def workers(daemon: Daemon) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = daemon.call("forces.workers")
    return found
