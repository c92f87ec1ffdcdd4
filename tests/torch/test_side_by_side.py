"""SevenNet and MACE, which no resolver can install together, behind one daemon.

Their environments are built once for all files here, by the daemon itself. The reference energies
of SevenNet are per atom in eV, with the largest force component in eV/Å (7net-l3i5 of sevenn
0.13.0, cubic cells rattled by 0.02 Å with seed 1); those of the random MACE model come from its own
environment.
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from ase.build import bulk

from support.daemon import ROOT, Daemon, wait_until
from support.torch_engines import call

pytestmark = [pytest.mark.torch, pytest.mark.timeout(1800)]

CRYSTALS = {
    "Cu": (("fcc", 3.60), -4.084, 0.398),
    "Si": (("diamond", 5.43), -5.414, 0.686),
    "NaCl": (("rocksalt", 5.64), -3.384, 0.097),
    "MgO": (("rocksalt", 4.21), -5.969, 0.540),
}


def crystal(name: str) -> dict[str, Any]:
    (kind, a), *_ = CRYSTALS[name]
    atoms = bulk(name, kind, a=a, cubic=True)
    atoms.rattle(0.02, seed=1)
    return {
        "symbols": atoms.get_chemical_symbols(),
        "positions_angstrom": atoms.positions.tolist(),
        "cell_angstrom": atoms.cell.tolist(),
    }


def evaluate(daemon: Daemon, engine: str, name: str, **more: Any) -> dict[str, Any]:
    asked = {"engine": engine, "structures": [crystal(name)], **more}
    found: dict[str, Any] = call(daemon, "forces.evaluate", asked)
    return found


def in_process(home: Path, engine: str, model: str) -> list[float]:
    script = ROOT / "tests" / "support" / "in_process.py"
    done = subprocess.run(
        [home / "bin" / "python", "-I", script, engine, model],
        check=True, capture_output=True, text=True, timeout=900,
    )  # fmt: skip
    return json.loads(done.stdout.splitlines()[-1])


def largest(forces: list[list[float]]) -> float:
    return max(abs(component) for force in forces for component in force)


@pytest.mark.parametrize("name", CRYSTALS)
def test_sevenn_gives_its_reference_energies(
    daemon: Daemon, homes: dict[str, Path], name: str
) -> None:
    _, energy, force = CRYSTALS[name]
    found = evaluate(daemon, "sevenn", name)
    (row,) = found["structures"]
    assert row["energy_ev"] / row["n_atoms"] == pytest.approx(energy, abs=6e-4)  # three decimals
    assert largest(row["forces_ev_per_a"]) == pytest.approx(force, abs=6e-4)
    (who,) = found["identity"]
    assert (who["engine"], who["model"], who["dtype"]) == ("sevenn", "7net-l3i5", "float32")
    assert who["version"] == "sevenn 0.13.0"


def test_both_answer_side_by_side_as_alone(
    daemon: Daemon, homes: dict[str, Path], mace_model: Path
) -> None:
    ours = evaluate(daemon, "mace", "Si", model=str(mace_model))
    theirs = evaluate(daemon, "sevenn", "Si")
    workers = {w["engine"] for w in daemon.call("forces.workers") if w["state"] == "idle"}
    assert workers >= {"sevenn", "mace"}
    for engine, model, found, tolerance in (
        ("mace", str(mace_model), ours, 1e-9),
        ("sevenn", "7net-l3i5", theirs, 2e-6),  # it computes in single precision
    ):
        energy, force = in_process(homes[engine], engine, model)
        (row,) = found["structures"]
        assert row["energy_ev"] == pytest.approx(energy, rel=tolerance)
        assert largest(row["forces_ev_per_a"]) == pytest.approx(force, rel=max(tolerance, 1e-5))
    (who,) = ours["identity"]
    assert who["model_sha256"] is not None


def test_a_model_trained_on_emt_has_its_forces(daemon: Daemon, trained_model: Path) -> None:
    asked = {"structures": [crystal("Cu")]}
    (wanted,) = call(daemon, "forces.evaluate", {"engine": "emt", **asked})["structures"]
    mace = {"engine": "mace", "model": str(trained_model), **asked}
    (found,) = call(daemon, "forces.evaluate", mace)["structures"]
    # 0.03 eV/Å is what the training reaches; the largest force is 0.36
    for mine, other in zip(found["forces_ev_per_a"], wanted["forces_ev_per_a"], strict=True):
        assert mine == pytest.approx(other, abs=0.05)
    silicon = {**mace, "structures": [crystal("Si")]}
    (refused,) = call(daemon, "forces.evaluate", silicon)["structures"]
    assert refused["kind"] == "unsupported_species"


def test_an_element_that_a_model_does_not_know_is_refused(daemon: Daemon, mace_model: Path) -> None:
    silver = bulk("Ag", "fcc", a=4.09, cubic=True)
    structure = {
        "symbols": silver.get_chemical_symbols(),
        "positions_angstrom": silver.positions.tolist(),
        "cell_angstrom": silver.cell.tolist(),
    }
    asked = {"engine": "mace", "model": str(mace_model), "structures": [structure]}
    (row,) = call(daemon, "forces.evaluate", asked)["structures"]
    assert row["kind"] == "unsupported_species"
    assert "Ag" in row["message"]


def test_the_second_relaxation_finds_the_model_loaded(
    daemon: Daemon, homes: dict[str, Path]
) -> None:
    asked = {
        "name": "silicon",
        "code": "forces",
        "task": "relax",
        "structure": {"path": str(ROOT / "examples" / "silicon.cif")},
    }
    for _ in range(2):
        job = daemon.call("jobs.submit", asked)["job"]["id"]

        def state(job: int = job) -> str:
            return str(daemon.call("jobs.get", {"id": job})["state"])

        wait_until(lambda: state() in ("COMPLETED", "FAILED"), "the job ends", 900)
        found = daemon.call("jobs.get", {"id": job})
        assert found["state"] == "COMPLETED", found
        assert found["results"]["lattice"]["a_angstrom"] == pytest.approx(5.466, abs=0.01)
    (worker,) = [w for w in daemon.call("forces.workers") if w["engine"] == "sevenn"]
    assert worker["id"] is not None
