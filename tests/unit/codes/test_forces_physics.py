"""What the program of a forces job computes, run in this process.

The numbers of EMT were made once with ASE 3.22 to 3.29: fcc lattice constants of the relaxed cell
(Cu 3.58983, Al 3.99427 Å) and energies per atom (Cu -0.007036, Al -0.004883 eV).
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from ase import Atoms
from ase.build import bulk, fcc111
from ase.calculators.emt import EMT
from ase.cluster import Icosahedron
from ase.io import read

from crystalmath.codes.forces import job
from crystalmath.codes.forces.adapter import ForcesAdapter
from crystalmath.codes.forces.point import evaluate
from crystalmath.services.ports import JobRequest, StructureData

GPA = 160.21766


def _structure(atoms: Atoms) -> StructureData:
    lattice = tuple(tuple(row) for row in atoms.cell.tolist()) if atoms.pbc.any() else None
    return StructureData(
        lattice=lattice,
        pbc=(bool(atoms.pbc[0]), bool(atoms.pbc[1]), bool(atoms.pbc[2])),
        symbols=tuple(atoms.get_chemical_symbols()),
        positions=tuple(tuple(row) for row in atoms.positions.tolist()),
        formula=str(atoms.symbols),
    )


def _run(
    folder: Path, atoms: Atoms, task: str = "relax", expect: int = 0, **inputs: Any
) -> dict[str, Any]:
    request = JobRequest("t", task, "emt", None, _structure(atoms), inputs, (), {})
    (file,) = ForcesAdapter().prepare(request).files
    (folder / file.path).write_text(file.content or "", encoding="utf-8")
    assert job.main([str(folder / file.path)]) == expect
    result: dict[str, Any] = json.loads((folder / "result.json").read_text(encoding="utf-8"))
    return result


@pytest.mark.parametrize("start", [3.4, 3.61, 4.2])
@pytest.mark.parametrize("cubic", [True, False])
def test_copper(tmp_path: Path, start: float, cubic: bool) -> None:
    result = _run(tmp_path, bulk("Cu", a=start, cubic=cubic))
    a = result["lattice"]["a_angstrom"] * (1 if cubic else np.sqrt(2))
    assert a == pytest.approx(3.58983, abs=1e-4)
    assert result["energy_per_atom_ev"] == pytest.approx(-0.007036, abs=2e-6)
    assert result["lattice"]["alpha_deg"] == pytest.approx(90 if cubic else 60, abs=1e-3)
    assert result["converged"] is True
    assert result["smax_gpa"] <= 0.01
    assert result["warnings"] == []


def test_aluminium(tmp_path: Path) -> None:
    result = _run(tmp_path, bulk("Al", a=4.1, cubic=True))
    assert result["lattice"]["a_angstrom"] == pytest.approx(3.99427, abs=2e-4)
    assert result["energy_per_atom_ev"] == pytest.approx(-0.004883, abs=2e-6)


def test_the_shape_relaxes_while_the_volume_is_kept(tmp_path: Path) -> None:
    atoms = bulk("Cu", a=3.5, cubic=True)
    atoms.set_cell([3.45, 3.5, 3.6], scale_atoms=True)
    volume = atoms.get_volume()
    result = _run(tmp_path, atoms, cell="constant_volume", smax_gpa=0.005)
    assert result["volume_angstrom3"] == pytest.approx(volume, rel=1e-9)
    for name in ("a_angstrom", "b_angstrom", "c_angstrom"):
        assert result["lattice"][name] == pytest.approx(volume ** (1 / 3), abs=2e-4)
    assert result["smax_gpa"] <= 0.005
    assert result["pressure_gpa"] > 5


@pytest.mark.parametrize("optimizer", ["lbfgs", "BFGS", "fire"])
def test_rattled_crystal_returns(tmp_path: Path, optimizer: str) -> None:
    atoms = bulk("Cu", a=3.7, orthorhombic=True)
    atoms.rattle(0.05, seed=1)
    result = _run(tmp_path, atoms, optimizer=optimizer)
    assert result["volume_angstrom3"] == pytest.approx(2 * 3.58983**3 / 4, rel=1e-3)
    assert result["lattice"]["c_angstrom"] == pytest.approx(3.58983, abs=2e-3)
    assert result["fmax_ev_per_a"] <= 0.005


def test_only_the_volume_changes(tmp_path: Path) -> None:
    atoms = bulk("Cu", a=3.7, cubic=True)
    atoms.set_cell([3.7, 3.7, 4.0], scale_atoms=True)
    result = _run(tmp_path, atoms, cell="isotropic")
    assert result["lattice"]["c_angstrom"] / result["lattice"]["a_angstrom"] == pytest.approx(
        4.0 / 3.7
    )
    stress = np.array(result["stress_ev_per_a3"])
    assert abs(np.trace(stress)) / 3 * GPA <= 0.01
    assert np.abs(stress).max() * GPA > 1


def test_fixed_cell_stays(tmp_path: Path) -> None:
    atoms = bulk("Cu", a=3.7, cubic=True)
    atoms.rattle(0.05, seed=1)
    result = _run(tmp_path, atoms, cell="fixed")
    assert result["structure"]["lattice"] == atoms.cell.tolist()
    assert result["pressure_gpa"] < -1  # it would shrink


def test_cluster_has_no_lattice_and_no_stress(tmp_path: Path) -> None:
    atoms = Icosahedron("Cu", 2)
    atoms.rattle(0.1, seed=1)
    atoms.pbc = False
    result = _run(tmp_path, atoms)
    assert len(result["forces_ev_per_a"]) == 13
    assert result["fmax_ev_per_a"] <= 0.005
    assert not {"stress_ev_per_a3", "smax_gpa", "lattice", "volume_angstrom3"} & set(result)
    positions = np.array(result["structure"]["positions"])
    centre = np.argmin(np.linalg.norm(positions - positions.mean(axis=0), axis=1))
    shell = np.delete(np.linalg.norm(positions - positions[centre], axis=1), centre)
    assert np.ptp(shell) < 0.01  # the icosahedron is back


def test_slab_keeps_its_cell(tmp_path: Path) -> None:
    atoms = fcc111("Cu", (1, 1, 4), a=3.58983, vacuum=8)
    result = _run(tmp_path, atoms)
    np.testing.assert_allclose(result["structure"]["lattice"], atoms.cell.array)
    assert "stress_ev_per_a3" not in result
    assert result["criteria"]["smax_gpa"] is None
    heights = np.sort(np.array(result["structure"]["positions"])[:, 2])
    assert np.diff(heights)[0] < 3.58983 / np.sqrt(3)  # the surface layer moves inwards


def test_single_point(tmp_path: Path) -> None:
    atoms = bulk("Cu", a=3.61, cubic=True)
    result = _run(tmp_path, atoms, task="single_point")
    atoms.calc = EMT()
    assert result["energy_ev"] == pytest.approx(atoms.get_potential_energy())
    np.testing.assert_allclose(result["stress_ev_per_a3"], atoms.get_stress(voigt=False))
    assert result["structure"]["positions"] == atoms.positions.tolist()
    assert "converged" not in result
    assert (tmp_path / "single_point.log").read_text(encoding="utf-8").count("eV per atom") == 1


def test_stress_is_the_strain_derivative_of_the_energy() -> None:
    atoms = bulk("Cu", a=3.7, cubic=True)
    atoms.rattle(0.05, seed=3)
    atoms.calc = EMT()
    point = evaluate(atoms)
    assert point.stress is not None
    h = 1e-5
    for i, j in ((0, 0), (1, 2)):
        energies = []
        for sign in (h, -h):
            strain = np.eye(3)
            strain[i, j] += sign
            moved = atoms.copy()
            moved.set_cell(atoms.cell.array @ strain.T, scale_atoms=True)
            moved.calc = EMT()
            energies.append(moved.get_potential_energy())
        slope = (energies[0] - energies[1]) / (2 * h) / atoms.get_volume()
        assert point.stress[i, j] == pytest.approx(slope, abs=1e-6)


def test_not_converged_keeps_what_it_has(tmp_path: Path) -> None:
    atoms = bulk("Cu", a=4.2, cubic=True)
    result = _run(tmp_path, atoms, expect=3, max_steps=2)
    assert result["converged"] is False
    assert result["n_steps"] == 2
    assert result["lattice"]["a_angstrom"] < 4.2
    assert "NOT converged" in (tmp_path / "relax.log").read_text(encoding="utf-8")


def test_files_of_each_step(tmp_path: Path) -> None:
    result = _run(tmp_path, bulk("Cu", a=4.2, cubic=True))
    steps = [json.loads(line) for line in (tmp_path / "steps.jsonl").read_text().splitlines()]
    assert [row["step"] for row in steps] == list(range(result["n_steps"] + 1))
    assert steps[-1]["energy_ev"] == result["energy_ev"]
    frames: Any = read(tmp_path / "trajectory.extxyz", index=":")
    assert len(frames) == len(steps)
    assert frames[-1].get_potential_energy() == pytest.approx(result["energy_ev"], abs=1e-6)
    checkpoint = json.loads((tmp_path / "checkpoint.json").read_text())
    assert checkpoint["step"] == result["n_steps"]
    assert checkpoint["positions"] == result["structure"]["positions"]
    plots = ForcesAdapter().series(tmp_path)
    assert plots["a"]["y"][-1] == pytest.approx(result["lattice"]["a_angstrom"])


def test_atoms_that_do_not_touch(tmp_path: Path) -> None:
    result = _run(tmp_path, bulk("Cu", a=10.0), expect=4)
    assert result["status"] == "failed"
    assert result["reason"] == "input_rejected"
    apart = Atoms("Cu2", [[0, 0, 0], [0, 0, 9]])
    assert "touch no other" in _run(tmp_path, apart)["warnings"][0]


def test_vacuum_in_a_cell_that_moves_is_warned_of(tmp_path: Path) -> None:
    atoms = fcc111("Cu", (1, 1, 3), vacuum=6)
    atoms.pbc = True
    result = _run(tmp_path, atoms, max_steps=1, expect=3)
    assert "empty for 12" in result["warnings"][0]
    assert "along c" in result["warnings"][0]


def test_running_it_again_changes_nothing(tmp_path: Path) -> None:
    atoms = bulk("Cu", a=3.7, cubic=True)
    first = _run(tmp_path, atoms)
    second = _run(tmp_path, atoms)
    assert "going on from the checkpoint" in (tmp_path / "relax.log").read_text(encoding="utf-8")
    for key in ("energy_ev", "n_steps", "structure"):
        assert second[key] == first[key]


@pytest.mark.parametrize("checkpoint", ["", "{", "{}", "[]", '{"digest": "x"}', "other"])
def test_a_checkpoint_of_no_use_is_said_and_left(tmp_path: Path, checkpoint: str) -> None:
    if checkpoint == "other":
        _run(tmp_path, bulk("Cu", a=3.65, cubic=True))
    else:
        (tmp_path / "checkpoint.json").write_text(checkpoint)
    result = _run(tmp_path, bulk("Cu", a=3.7, cubic=True))
    assert result["lattice"]["a_angstrom"] == pytest.approx(3.58983, abs=1e-4)
    assert "starting from the input" in (tmp_path / "relax.log").read_text(encoding="utf-8")
    steps = [json.loads(line) for line in (tmp_path / "steps.jsonl").read_text().splitlines()]
    assert steps[0]["step"] == 0
    assert steps[0]["a_angstrom"] == pytest.approx(3.7)


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"format": 9}', None])
def test_input_that_cannot_be_used(
    tmp_path: Path, text: str | None, capsys: pytest.CaptureFixture[str]
) -> None:
    if text is not None:
        (tmp_path / "input.json").write_text(text)
    assert job.main([str(tmp_path / "input.json")]) == 5
    assert "input.json cannot be used" in capsys.readouterr().err
