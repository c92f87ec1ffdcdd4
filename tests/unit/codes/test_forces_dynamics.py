"""Molecular dynamics and symmetry of the code ``forces``, run in this process with EMT and LJ."""

from __future__ import annotations

import json
import signal
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spglib
from ase import Atoms
from ase.build import bulk, molecule
from ase.io import read

from crystalmath.codes.forces import job, record
from crystalmath.codes.forces.adapter import ForcesAdapter
from crystalmath.errors import InvalidParams
from crystalmath.services.ports import EndReceipt, InputFile, JobRequest, StructureData

_ADAPTER = ForcesAdapter()


def _structure(atoms: Atoms) -> StructureData:
    lattice = tuple(tuple(row) for row in atoms.cell.tolist()) if atoms.pbc.any() else None
    return StructureData(
        lattice=lattice,
        pbc=(bool(atoms.pbc[0]), bool(atoms.pbc[1]), bool(atoms.pbc[2])),
        symbols=tuple(atoms.get_chemical_symbols()),
        positions=tuple(tuple(row) for row in atoms.positions.tolist()),
        formula=str(atoms.symbols),
    )


def _request(atoms: Atoms, task: str, inputs: dict[str, Any], engine: str = "emt") -> JobRequest:
    return JobRequest("t", task, engine, None, _structure(atoms), inputs, (), {})


def _prepare(folder: Path, request: JobRequest) -> None:
    folder.mkdir(exist_ok=True)
    for file in _ADAPTER.prepare(request).files:
        text = file.content if file.source is None else Path(file.source).read_text()
        (folder / file.path).write_text(text or "", encoding="utf-8")


def _run(
    folder: Path, atoms: Atoms, task: str = "md", engine: str = "emt", **inputs: Any
) -> dict[str, Any]:
    _prepare(folder, _request(atoms, task, inputs, engine))
    assert job.main([str(folder / "input.json")]) == 0
    result: dict[str, Any] = json.loads((folder / "result.json").read_text(encoding="utf-8"))
    return result


def _copper(n: int = 2) -> Atoms:
    return bulk("Cu", a=3.6, cubic=True).repeat(n)


@pytest.mark.parametrize(("engine", "atoms"), [("emt", _copper()), ("lj", bulk("Ar", a=3.6) * 3)])
def test_energy_is_kept(tmp_path: Path, engine: str, atoms: Atoms) -> None:
    result = _run(tmp_path, atoms, engine=engine, ensemble="nve", steps=100, timestep_fs=2)
    assert result["time_fs"] == 200
    assert result["energy_spread_ev_per_atom"] < 2e-3
    assert abs(result["energy_drift_ev_per_atom"]) < 1e-3
    frames = read(tmp_path / "trajectory.extxyz", index=":")
    assert len(frames) == 11
    assert np.abs(frames[-1].get_momenta().sum(axis=0)).max() < 1e-6


def test_temperature_is_kept(tmp_path: Path) -> None:
    result = _run(tmp_path, _copper(), steps=200, temperature_k=600, timestep_fs=4, write_every=4,
                  thermostat_fs=30)  # fmt: skip
    assert result["temperature_mean_k"] == pytest.approx(600, rel=0.2)
    assert result["ensemble"] == "nvt"
    verdict = _ADAPTER.judge(tmp_path, EndReceipt(1, 0, None, "exit", None, 0.0, 1.0))
    assert verdict.completed
    assert verdict.converged is None


def test_pressure_is_kept(tmp_path: Path) -> None:
    """Copper under 20 GPa is smaller than without, and has about that pressure."""
    result = _run(tmp_path, _copper(1), ensemble="npt", pressure_gpa=20, steps=200, timestep_fs=4,
                  barostat_fs=200, write_every=4, thermostat_fs=30)  # fmt: skip
    assert result["pressure_mean_gpa"] == pytest.approx(20, abs=5)
    assert result["volume_mean_angstrom3"] < 0.97 * 3.59**3
    assert result["lattice"]["alpha_deg"] == pytest.approx(90, abs=1e-9)


def test_a_free_cell_changes_its_angles(tmp_path: Path) -> None:
    result = _run(tmp_path, _copper(), ensemble="npt", steps=20, timestep_fs=4, cell="full",
                  barostat_fs=100)  # fmt: skip
    assert abs(result["lattice"]["alpha_deg"] - 90) > 1e-6


def test_a_molecule_does_not_spin(tmp_path: Path) -> None:
    water = molecule("H2O")
    result = _run(tmp_path, water, ensemble="nve", steps=20, timestep_fs=0.2,
                  allow_toy_elements=True)  # fmt: skip
    first = read(tmp_path / "trajectory.extxyz", index=0)
    assert np.abs(first.get_angular_momentum()).max() < 1e-6
    assert "lattice" not in result


class _KilledError(Exception):
    """Stands for a kill between two steps."""


def _run_until(folder: Path, step: int, *, written: bool) -> None:
    """Run until a checkpoint, and break off before or after it is written."""
    kept = record.Record.checkpoint

    def checkpoint(self: record.Record, state: record.Checkpoint) -> None:
        if written:
            kept(self, state)
        if state.step == step:
            raise _KilledError
        if not written:
            kept(self, state)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(record.Record, "checkpoint", checkpoint)
        with pytest.raises(_KilledError):
            job.main([str(folder / "input.json")])


@pytest.mark.parametrize(
    "inputs",
    [
        {"ensemble": "nve"},
        {"ensemble": "nvt"},
        {"ensemble": "npt", "cell": "isotropic"},
        {"ensemble": "npt", "cell": "full"},
    ],
)
def test_broken_off_and_continued_it_is_the_same_to_the_last_bit(
    tmp_path: Path, inputs: dict[str, Any]
) -> None:
    more = {"steps": 60, "timestep_fs": 5, "temperature_k": 800, "write_every": 7, **inputs}
    whole, broken, further = (tmp_path / name for name in ("whole", "broken", "further"))
    expected = _run(whole, _copper(1), **more)

    request = _request(_copper(1), "md", more)
    _prepare(broken, request)
    _run_until(broken, 42, written=False)

    found = _ADAPTER.proceed(broken, request, "crashed")
    assert "step 35" in found.fix
    _prepare(further, JobRequest("t", "md", "emt", None, found.structure, found.inputs,
                                 found.files, {}))  # fmt: skip
    for folder in (broken, further):
        assert job.main([str(folder / "input.json")]) == 0
        result = json.loads((folder / "result.json").read_text())
        assert result["structure"] == expected["structure"]
        assert result["energy_ev"] == expected["energy_ev"]
        for name in ("steps.jsonl", "trajectory.extxyz"):
            assert (folder / name).read_text() == (whole / name).read_text()


def test_another_seed_is_another_run(tmp_path: Path) -> None:
    one = _run(tmp_path / "1", _copper(), steps=5)
    same = _run(tmp_path / "2", _copper(), steps=5)
    other = _run(tmp_path / "3", _copper(), steps=5, seed=1)
    assert one["structure"] == same["structure"] != other["structure"]


def test_term_stops_it_at_the_next_step(tmp_path: Path) -> None:
    _prepare(tmp_path, _request(_copper(), "md", {"steps": 10_000, "write_every": 5}))

    def term_at(self: record.Record, state: record.Checkpoint) -> None:
        kept(self, state)
        if state.step == 10:
            signal.raise_signal(signal.SIGTERM)

    kept = record.Record.checkpoint
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(record.Record, "checkpoint", term_at)
        assert job.main([str(tmp_path / "input.json")]) == 143
    assert json.loads((tmp_path / "checkpoint.json").read_text())["step"] == 10
    assert not (tmp_path / "result.json").exists()


def test_what_flies_apart_ends_with_advice(tmp_path: Path) -> None:
    two = Atoms("Ar2", [(0, 0, 0), (0, 0, 0.02)])
    _prepare(tmp_path, _request(two, "md", {"steps": 50, "timestep_fs": 20}, "lj"))
    assert job.main([str(tmp_path / "input.json")]) == 4
    result = json.loads((tmp_path / "result.json").read_text())
    assert result["reason"] == "crashed"
    assert "timestep_fs" in result["hint"]


# --- symmetry -------------------------------------------------------------------------------------


def _group(result: dict[str, Any]) -> str:
    structure = result["structure"]
    atoms = Atoms(structure["symbols"], positions=structure["positions"], cell=structure["lattice"])
    cell = (atoms.cell.array, atoms.get_scaled_positions(), atoms.numbers)
    found = spglib.get_symmetry_dataset(cell, symprec=1e-5)
    return str(found.international)


def _strained() -> Atoms:
    """Tetragonal copper, which EMT would rather have cubic, in a cell of 4 atoms."""
    atoms = bulk("Cu", a=3.6, cubic=True)
    atoms.set_cell([3.6, 3.6, 3.9], scale_atoms=True)
    return atoms


def test_the_space_group_is_kept(tmp_path: Path) -> None:
    result = _run(tmp_path, _strained(), task="relax", keep_symmetry=True)
    assert result["converged"]
    lengths = [result["lattice"][f"{n}_angstrom"] for n in "abc"]
    assert lengths[0] == pytest.approx(lengths[1], abs=1e-9)
    log = (tmp_path / "relax.log").read_text(encoding="utf-8")
    assert "keeping the space group I4/mmm (139)" in log
    assert result["criteria"]["keep_symmetry"] is True


def test_noise_below_a_hundredth_is_taken_for_symmetry(tmp_path: Path) -> None:
    atoms = _copper(1)
    atoms.rattle(0.0005, seed=3)
    assert _group(_run(tmp_path / "kept", atoms, task="relax", keep_symmetry=True)) == "Fm-3m"
    assert _group(_run(tmp_path / "free", atoms, task="relax", max_steps=500)) != "Fm-3m"


def test_after_a_restart_the_same_group_is_kept(tmp_path: Path) -> None:
    _prepare(tmp_path, _request(_strained(), "relax", {"keep_symmetry": True}))
    _run_until(tmp_path, 2, written=True)
    assert job.main([str(tmp_path / "input.json")]) == 0
    assert "I4/mmm" in (tmp_path / "relax.log").read_text(encoding="utf-8")
    assert "checkpoint of step 2" in (tmp_path / "relax.log").read_text(encoding="utf-8")


def test_a_checkpoint_of_another_code_file_is_refused_as_input() -> None:
    request = _request(_copper(), "md", {})
    with pytest.raises(InvalidParams):
        _ADAPTER.prepare(replace(request, files=(InputFile("x.json", source="/x"),)))
