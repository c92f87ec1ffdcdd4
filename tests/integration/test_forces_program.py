"""The program of a forces job as the daemon runs it: a process that is killed and started again."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from ase import Atoms
from ase.build import bulk
from ase.io import read

from crystalmath.codes.forces.adapter import ForcesAdapter
from crystalmath.services.ports import EndReceipt, JobRequest, Prepared, StructureData, Verdict
from crystalmath.services.structure_in import decode_structure
from crystalmath.structures.read import read_structure

_ADAPTER = ForcesAdapter()
_COPPER = Path(__file__).parents[2] / "examples" / "copper.cif"
_HANG_S = 90.0


def _prepare(
    folder: Path, structure: StructureData, task: str = "relax", **inputs: Any
) -> Prepared:
    prepared = _ADAPTER.prepare(JobRequest("t", task, "emt", None, structure, inputs, (), {}))
    for file in prepared.files:
        (folder / file.path).write_text(file.content or "", encoding="utf-8")
    return prepared


def _start(folder: Path, prepared: Prepared, **more: Any) -> subprocess.Popen[bytes]:
    with (folder / "stdout.log").open("ab") as out, (folder / "stderr.log").open("ab") as err:
        return subprocess.Popen(
            prepared.argv,
            cwd=folder,
            env={**os.environ, **prepared.env},
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            **more,
        )


def _judge(folder: Path, process: subprocess.Popen[bytes], cause: str = "exit") -> Verdict:
    rc = process.wait(_HANG_S)
    end = EndReceipt(1, rc if rc >= 0 else None, -rc if rc < 0 else None, cause, None, 0.0, 1.0)  # type: ignore[arg-type]
    return _ADAPTER.judge(folder, end)


def _large() -> StructureData:
    """A crystal that takes some steps, and some seconds: 32 atoms, rattled."""
    atoms: Atoms = bulk("Cu", a=3.7, cubic=True).repeat(2)
    atoms.rattle(0.1, seed=5)
    return StructureData(
        lattice=tuple(tuple(row) for row in atoms.cell.tolist()),
        pbc=(True, True, True),
        symbols=tuple(atoms.get_chemical_symbols()),
        positions=tuple(tuple(row) for row in atoms.positions.tolist()),
        formula="Cu",
    )


def _wait_for_step(folder: Path, step: int, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + _HANG_S
    while time.monotonic() < deadline:
        assert process.poll() is None, (folder / "stderr.log").read_text()
        progress = _ADAPTER.progress(folder)
        if progress is not None and int(progress.text.split()[1]) >= step:
            return
        os.sched_yield()
    pytest.fail(f"step {step} was not reached")


def _steps(folder: Path) -> list[int]:
    return [json.loads(line)["step"] for line in (folder / "steps.jsonl").read_text().splitlines()]


def test_the_example_relaxes_to_the_lattice_constant_of_emt(tmp_path: Path) -> None:
    structure = decode_structure(read_structure(path=str(_COPPER)))
    prepared = _prepare(tmp_path, structure)
    verdict = _judge(tmp_path, _start(tmp_path, prepared))
    assert verdict.completed, (tmp_path / "stderr.log").read_text()
    assert verdict.results["lattice"]["a_angstrom"] == pytest.approx(3.590, abs=0.002)
    assert verdict.energy_ev == pytest.approx(4 * -0.007036, abs=1e-5)
    assert verdict.converged is True
    assert "3.5898" in (tmp_path / str(prepared.output)).read_text(encoding="utf-8")
    assert (tmp_path / "stderr.log").read_text() == ""


def test_killed_and_started_again_it_comes_to_the_same_end(tmp_path: Path) -> None:
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    for folder in (whole, broken):
        folder.mkdir()
        prepared = _prepare(folder, _large())
    expected = _judge(whole, _start(whole, prepared))
    assert expected.completed

    for step in (4, 9):
        process = _start(broken, prepared)
        _wait_for_step(broken, step, process)
        process.kill()
        assert _judge(broken, process).reason == "crashed"
    # What a kill between two writes leaves: a step that has no checkpoint, and half a line.
    with (broken / "steps.jsonl").open("a") as stream:
        stream.write('{"step": 99, "energy_ev": 0.0, "fmax_ev_per_a": 9.0}\n{"step": 100, "en')
    verdict = _judge(broken, _start(broken, prepared))
    assert verdict.completed
    log = (broken / "relax.log").read_text(encoding="utf-8")
    assert log.count("going on from the checkpoint of step") == 2
    assert _steps(broken) == list(range(verdict.results["n_steps"] + 1))
    frames: Any = read(broken / "trajectory.extxyz", index=":")
    assert len(frames) == len(_steps(broken))
    assert verdict.energy_ev == pytest.approx(expected.energy_ev, abs=1e-3)
    for name in "abc":
        key = f"{name}_angstrom"
        assert verdict.results["lattice"][key] == pytest.approx(
            expected.results["lattice"][key], abs=5e-3
        )


def test_term_ends_it_after_a_checkpoint(tmp_path: Path) -> None:
    prepared = _prepare(tmp_path, _large())
    process = _start(tmp_path, prepared)
    _wait_for_step(tmp_path, 2, process)
    process.send_signal(signal.SIGTERM)
    verdict = _judge(tmp_path, process, cause="walltime")
    assert process.returncode == 143
    assert (verdict.completed, verdict.reason) == (False, "walltime")
    checkpoint = json.loads((tmp_path / "checkpoint.json").read_text())
    assert checkpoint["step"] == _steps(tmp_path)[-1] >= 2
    assert not (tmp_path / "result.json").exists()
    assert "stopped by SIGTERM" in (tmp_path / "relax.log").read_text(encoding="utf-8")


def test_numbers_that_are_none_end_it_with_a_reason(tmp_path: Path) -> None:
    # Two atoms at one place divide by a distance of zero.
    two = StructureData(None, (False,) * 3, ("Cu", "Cu"), ((0.0, 0.0, 0.0),) * 2, "Cu")
    verdict = _judge(tmp_path, _start(tmp_path, _prepare(tmp_path, two)))
    assert (verdict.completed, verdict.reason) == (False, "crashed")
    assert "no number" in (verdict.message or "")
    assert "NaN" not in (tmp_path / "result.json").read_text()


def test_a_file_of_the_job_directory_is_not_imported(tmp_path: Path) -> None:
    (tmp_path / "ase.py").write_text("raise SystemExit(77)\n")
    (tmp_path / "json.py").write_text("raise SystemExit(77)\n")
    structure = decode_structure(read_structure(path=str(_COPPER)))
    prepared = _prepare(tmp_path, structure, task="single_point")
    assert _judge(tmp_path, _start(tmp_path, prepared)).completed


def test_a_disk_without_room_is_named(tmp_path: Path) -> None:
    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))

    prepared = _prepare(tmp_path, _large())
    verdict = _judge(tmp_path, _start(tmp_path, prepared, preexec_fn=limit))
    assert (verdict.completed, verdict.reason) == (False, "disk_full"), verdict


def test_the_program_needs_nothing_of_the_daemon(tmp_path: Path) -> None:
    code = (
        "import sys, crystalmath.codes.forces.job, crystalmath.codes.forces.relax;"
        "rooms = ('crystalmath.server', 'crystalmath.storage', 'crystalmath.api', 'sqlalchemy');"
        "print([name for name in sys.modules if name.startswith(rooms)])"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", code],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == "[]"
