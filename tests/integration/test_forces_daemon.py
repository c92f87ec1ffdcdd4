"""Force engines of the real daemon: evaluation, shared workers, faults, jobs, ends."""

from __future__ import annotations

import os
import signal
import socket as sockets
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from ase import Atoms
from ase.build import bulk
from ase.calculators.emt import EMT
from ase.io import write

from crystalmath import calculator
from crystalmath.errors import CrystalMathError, WorkerDied
from support.daemon import (
    PRODUCTION,
    ROOT,
    Daemon,
    RpcFailure,
    descriptors,
    resident_kib,
    wait_until,
)

MakeDaemon = Callable[..., Daemon]
LONG_S = 120.0


@pytest.fixture
def started(make_daemon: MakeDaemon) -> Daemon:
    """The production daemon with the engine ``trial`` of a user."""
    daemon = make_daemon(program=PRODUCTION)
    engines = daemon.config / "crystalmath" / "engines"
    engines.mkdir(parents=True)
    text = (ROOT / "tests/support/engines/trial.py").read_text(encoding="utf-8")
    (engines / "trial.py").write_text(text, encoding="utf-8")
    daemon.start()
    return daemon


@pytest.fixture
def user(started: Daemon, monkeypatch: pytest.MonkeyPatch) -> Daemon:
    """The same, and this process is its user."""
    for name in ("XDG_RUNTIME_DIR", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "CRYSTALMATH_SERVER",
                 "CRYSTALMATH_DATA_DIR", "HOME"):  # fmt: skip
        monkeypatch.setenv(name, started.env[name])
    monkeypatch.delenv("CRYSTALMATH_SOCKET", raising=False)
    return started


def copper(x: float = 0.0) -> dict[str, Any]:
    return {"symbols": ["Cu", "Cu"], "positions_angstrom": [[x, 0.0, 0.0], [x, 0.0, 2.4]]}


def evaluate(daemon: Daemon, *structures: dict[str, Any], **more: Any) -> dict[str, Any]:
    params = {"engine": "trial", "structures": list(structures or (copper(),)), **more}
    found: dict[str, Any] = daemon.call("forces.evaluate", params)
    return found


def workers(daemon: Daemon) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = daemon.call("forces.workers")
    return found


def processes_of(daemon: Daemon) -> list[int]:
    """Everything that was started below the daemon's data directory: guards and workers."""
    mark = str(daemon.data).encode()
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                if mark in (entry / "environ").read_bytes() + (entry / "cmdline").read_bytes():
                    found.append(int(entry.name))
            except OSError:
                continue
    return found


# --- evaluation -----------------------------------------------------------------------------------


def test_the_built_in_engine_works_without_any_installation(started: Daemon) -> None:
    path = str(ROOT / "examples" / "copper.cif")
    properties = ["energy", "forces", "stress"]
    found = started.call(
        "forces.evaluate",
        {"engine": "emt", "structures": [{"path": path}], "properties": properties},
    )
    (row,) = found["structures"]
    atoms = bulk("Cu", a=row["stress_ev_per_a3"] and 3.61, cubic=True)
    atoms.calc = EMT()
    assert row["n_atoms"] == 4
    assert row["energy_ev"] == pytest.approx(atoms.get_potential_energy(), abs=0.05)
    assert found["identity"][0]["version"].startswith("ase ")
    engines = {row["name"]: row for row in started.call("forces.engines")}
    assert engines["emt"]["installed"]
    assert engines["trial"]["origin"] == "user"
    assert engines["emt"]["workers"] == 1


def test_numbers_are_those_of_the_engine_itself_to_the_last_bit(user: Daemon) -> None:
    atoms = bulk("Cu", a=3.6, cubic=True)
    atoms.rattle(0.05, seed=1)
    mine = atoms.copy()
    mine.calc = EMT()
    atoms.calc = calculator("emt")
    assert atoms.get_potential_energy() == mine.get_potential_energy()
    assert np.array_equal(atoms.get_forces(), mine.get_forces())
    assert np.array_equal(atoms.get_stress(), mine.get_stress())
    atoms.calc.close()


def test_the_daemon_itself_loads_no_numerical_library(started: Daemon) -> None:
    evaluate(started)
    maps = Path(f"/proc/{started.pid()}/maps").read_text(encoding="utf-8")
    assert "numpy" not in maps
    assert "site-packages/ase/" not in maps


def test_refusals_name_their_field(started: Daemon) -> None:
    cases: list[tuple[dict[str, Any], str, str]] = [
        ({"engine": "nope"}, "not_found", "engine"),
        ({"engine": "trial", "model": "nope"}, "not_found", "model"),
        ({"engine": "trial", "properties": ["charges"]}, "input_rejected", "properties"),
        ({"engine": "trial", "options": {"colour": 1}}, "input_rejected", "options"),
    ]
    for params, kind, field in cases:
        with pytest.raises(RpcFailure) as caught:
            started.call("forces.evaluate", {"structures": [copper()], **params})
        assert caught.value.data["kind"] == kind, params
        assert str(caught.value.data["field"]).startswith(field), params


# --- sharing --------------------------------------------------------------------------------------


def test_eight_clients_share_one_worker_and_get_their_own_answers(user: Daemon) -> None:
    wrong: list[object] = []
    expected = {}
    for number in range(8):
        atoms = Atoms("Cu2", [(0, 0, 0), (0, 0, 2.2 + 0.05 * number)])
        atoms.calc = EMT()
        expected[number] = atoms.get_potential_energy()

    def client(number: int) -> None:
        atoms = Atoms("Cu2", [(0, 0, 0), (0, 0, 2.2 + 0.05 * number)])
        with calculator("trial") as calc:
            atoms.calc = calc
            for i in range(500):
                atoms.positions[:, 0] = 0.001 * i
                energy = atoms.get_potential_energy()
                if abs(energy - expected[number]) > 1e-9:
                    wrong.append((number, i, energy))

    threads = [threading.Thread(target=client, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    (row,) = workers(user)
    assert row["requests"] >= 4000


def test_a_long_queue_of_one_client_delays_another_by_one_turn(user: Daemon) -> None:
    """Structures of the first take 20 ms each, 64 of them a turn."""
    options = {"delay_s": 0.02}
    evaluate(user, options=options)  # loaded
    long: list[Any] = []
    queue = [copper(0.001 * i) for i in range(640)]
    thread = threading.Thread(
        target=lambda: long.append(evaluate(user, *queue, options=options, properties=["energy"]))
    )
    thread.start()
    wait_until(lambda: any(row["state"] == "busy" for row in workers(user)), "it computes")
    for _ in range(3):
        evaluate(user, options=options)
    assert long == []  # three turns of the other, and not ten, have gone by
    thread.join()
    assert long[0]["failed"] == 0


def test_coming_and_going_and_vanishing_leave_nothing(user: Daemon) -> None:
    atoms = Atoms("Cu2", [(0, 0, 0), (0, 0, 2.4)])

    def visit(*, vanish: bool) -> None:
        calc = calculator("trial")
        atoms.calc = calc
        atoms.rattle(0.001, rng=np.random.default_rng(1))
        atoms.get_forces()
        if vanish:  # as if this process had died: its sockets close in the middle of something
            connection = calc._connected().connections[0]
            connection._sock.shutdown(sockets.SHUT_RDWR)
        calc.close()

    for _ in range(20):
        visit(vanish=False)
    pid = user.pid()
    worker = workers(user)[0]
    before = (len(descriptors(pid)), resident_kib(pid))
    for i in range(200):
        visit(vanish=i % 2 == 1)
    wait_until(lambda: workers(user)[0]["clients"] == 0, "all are gone")
    assert workers(user)[0]["id"] == worker["id"]
    assert len(descriptors(pid)) <= before[0] + 2  # the connection that asks, and its lane
    assert resident_kib(pid) <= before[1] + 8192


def test_a_fork_and_a_pickle_have_connections_of_their_own(user: Daemon) -> None:
    import pickle

    atoms = Atoms("Cu2", [(0, 0, 0), (0, 0, 2.4)])
    atoms.calc = calculator("trial")
    energy = atoms.get_potential_energy()
    again = pickle.loads(pickle.dumps(atoms.calc))
    other = atoms.copy()
    other.calc = again
    assert other.get_potential_energy() == energy
    read, written = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            atoms.positions[1, 2] += 1e-4
            os.write(written, f"{atoms.get_potential_energy():.12f}".encode())
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    text = os.read(read, 100)
    os.close(read)
    os.close(written)
    atoms.positions[1, 2] += 1e-4
    assert float(text) == pytest.approx(atoms.get_potential_energy(), abs=1e-12)
    again.close()
    atoms.calc.close()


# --- faults ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(("fail", "word"), [("exit", "exit code 7"), ("segv", "SIGSEGV")])
def test_death_in_a_call_is_told_with_the_report(user: Daemon, fail: str, word: str) -> None:
    atoms = Atoms("Cu2", [(0, 0, 0), (0, 0, 2.4)])
    with calculator("trial", fail=fail) as calc:
        atoms.calc = calc
        energy = atoms.get_potential_energy()
        atoms.positions[:, 0] = 60
        with pytest.raises(WorkerDied, match=word):
            atoms.get_potential_energy()
        atoms.positions[:, 0] = 0
        assert atoms.get_potential_energy() == energy  # the next request has a new worker
    crashed = [row for row in workers(user) if row["state"] == "crashed"]
    assert crashed[0]["last_error"]["request"] == "2 atoms"


def test_a_worker_that_is_killed_is_replaced(started: Daemon) -> None:
    first = evaluate(started)
    pid = workers(started)[0]["pid"]
    os.kill(pid, signal.SIGKILL)
    wait_until(lambda: workers(started)[0]["state"] == "crashed", "its death is noticed")
    assert evaluate(started)["structures"][0]["energy_ev"] == first["structures"][0]["energy_ev"]


def test_a_hanging_call_ends_at_its_deadline(started: Daemon) -> None:
    options = {"fail": "hang"}
    evaluate(started, options=options)
    with pytest.raises(RpcFailure) as caught:
        evaluate(started, copper(60.0), options=options, deadline_s=1.0)
    assert caught.value.data["kind"] == "worker_timeout"
    assert evaluate(started, options=options)["failed"] == 0


def test_three_crashes_open_the_breaker(started: Daemon) -> None:
    options = {"fail": "raise"}
    for _ in range(3):
        with pytest.raises(RpcFailure, match="no weights today"):
            evaluate(started, options=options)
    with pytest.raises(RpcFailure, match="crashed 3 times"):
        evaluate(started, options=options)
    (paused,) = started.call("forces.status")["broken"]
    assert paused["retry_in_s"] <= 60
    assert evaluate(started)["failed"] == 0


def test_the_daemon_killed_in_an_evaluation_leaves_nothing(user: Daemon) -> None:
    atoms = Atoms("Cu2", [(0, 0, 0), (0, 0, 2.4)])
    atoms.calc = calculator("trial", delay_s=5)
    failed: list[BaseException] = []

    def ask() -> None:
        try:
            atoms.get_potential_energy()
        except CrystalMathError as error:
            failed.append(error)

    thread = threading.Thread(target=ask)
    thread.start()
    wait_until(lambda: any(r["state"] == "busy" for r in workers(user)), "it computes", LONG_S)
    os.kill(user.pid(), signal.SIGKILL)
    began = time.monotonic()
    thread.join(30)
    assert "ended with the daemon" in str(failed[0])
    assert time.monotonic() - began < 20
    wait_until(lambda: not processes_of(user), "workers and guards end with it")
    user.start()
    door = list(user.runtime.glob("cmf-*"))
    evaluate(user)
    user.call("forces.attach", {"engine": "trial"})
    assert len(list(user.runtime.glob("cmf-*"))) == 1
    assert len(door) <= 1  # the leftover is taken over, not added to


def test_stopping_the_daemon_ends_everything(started: Daemon) -> None:
    evaluate(started)
    started.call("forces.attach", {"engine": "trial"})
    assert processes_of(started)
    assert started.stop().returncode == 0
    wait_until(lambda: not processes_of(started), "workers and guards end with it")
    assert list(started.runtime.glob("cmf-*")) == []


def test_a_ping_is_answered_while_engines_load(started: Daemon) -> None:
    done: list[Any] = []
    thread = threading.Thread(
        target=lambda: done.append(evaluate(started, options={"spin_s": 3.0}))
    )
    thread.start()
    slowest_s = 0.0
    with started.connect() as raw:
        while thread.is_alive():
            began = time.monotonic()
            raw.call("system.ping")
            slowest_s = max(slowest_s, time.monotonic() - began)
    thread.join()
    assert done[0]["failed"] == 0
    assert slowest_s < 2.0  # a hang; the figure itself is the benchmark's


# --- jobs -----------------------------------------------------------------------------------------


def submit(daemon: Daemon, tmp_path: Path, task: str = "relax", **inputs: Any) -> int:
    atoms = bulk("Cu", a=3.7, cubic=True)
    atoms.rattle(0.1, seed=2)
    write(tmp_path / "cu.extxyz", atoms)
    params = {
        "name": "with an engine of its own",
        "code": "forces",
        "task": task,
        "engine": "trial",
        "structure": {"path": str(tmp_path / "cu.extxyz")},
        "inputs": inputs,
    }
    return int(daemon.call("jobs.submit", params)["job"]["id"])


def job(daemon: Daemon, job_id: int) -> dict[str, Any]:
    found: dict[str, Any] = daemon.call("jobs.get", {"id": job_id})
    return found


def ended(daemon: Daemon, job_id: int) -> dict[str, Any]:
    ends = ("COMPLETED", "FAILED", "CANCELLED")
    wait_until(lambda: job(daemon, job_id)["state"] in ends, "the job ends", LONG_S)
    return job(daemon, job_id)


def log_of(daemon: Daemon, job_id: int) -> str:
    return str(daemon.call("jobs.log", {"id": job_id})["text"])


def test_jobs_share_the_warm_worker(started: Daemon, tmp_path: Path) -> None:
    first = ended(started, submit(started, tmp_path))
    assert first["state"] == "COMPLETED", first["message"]
    assert first["results"]["engine"]["model_key"].endswith(":trial")
    assert first["results"]["lattice"]["a_angstrom"] == pytest.approx(3.59, abs=0.02)
    (row,) = workers(started)
    second = ended(started, submit(started, tmp_path, task="single_point"))
    assert second["state"] == "COMPLETED"
    (again,) = workers(started)
    assert again["id"] == row["id"]
    assert again["evaluations"] == row["evaluations"] + 1


def test_a_dynamics_runs_with_the_daemon(started: Daemon, tmp_path: Path) -> None:
    done = ended(started, submit(started, tmp_path, task="md", steps=20, ensemble="nve"))
    assert done["state"] == "COMPLETED", done["message"]
    assert done["results"]["n_steps"] == 20
    series = started.call("jobs.series", {"id": done["id"]})["series"]
    assert "temperature" in series


def test_forces_relax_submits_a_job(started: Daemon, tmp_path: Path) -> None:
    write(tmp_path / "cu.extxyz", bulk("Cu", a=3.7, cubic=True))
    structure = {"path": str(tmp_path / "cu.extxyz")}
    made = started.call(
        "forces.relax", {"engine": "trial", "structure": structure, "keep_symmetry": True}
    )
    done = ended(started, made["job"]["id"])
    assert done["state"] == "COMPLETED", done["message"]
    assert "Fm-3m" in log_of(started, done["id"])


def test_an_engine_that_dies_ends_the_job_with_its_report(started: Daemon, tmp_path: Path) -> None:
    atoms = Atoms("Cu2", [(60, 0, 0), (60, 0, 2.4)])
    write(tmp_path / "far.xyz", atoms)
    params = {
        "name": "dies",
        "code": "forces",
        "task": "single_point",
        "engine": "trial",
        "structure": {"path": str(tmp_path / "far.xyz")},
        "inputs": {"engine_options": {"fail": "exit"}},
    }
    done = ended(started, started.call("jobs.submit", params)["job"]["id"])
    assert (done["state"], done["reason"]) == ("FAILED", "crashed")
    assert "exit code 7" in done["message"]
    crashes = [row for row in workers(started) if row["state"] == "crashed"]
    assert len(crashes) == 1  # nothing was tried again


def test_a_relaxation_outlives_the_daemon(started: Daemon, tmp_path: Path) -> None:
    job_id = submit(started, tmp_path, engine_options={"delay_s": 0.2})
    folder = Path(job(started, job_id)["directory"])
    wait_until((folder / "checkpoint.json").exists, "it is under way", LONG_S)
    os.kill(started.pid(), signal.SIGKILL)
    started.start()
    done = ended(started, job_id)
    assert done["state"] == "COMPLETED", (done["message"], log_of(started, job_id))
    text = log_of(started, job_id)
    assert "ended with the daemon" in text
    assert "going on with an own worker" not in text


def test_without_a_daemon_it_goes_on_with_a_worker_of_its_own(
    make_daemon: MakeDaemon, tmp_path: Path
) -> None:
    daemon = make_daemon(program=PRODUCTION, env={"CRYSTALMATH_DAEMON_GRACE_S": "1"})
    engines = daemon.config / "crystalmath" / "engines"
    engines.mkdir(parents=True)
    text = (ROOT / "tests/support/engines/trial.py").read_text(encoding="utf-8")
    (engines / "trial.py").write_text(text, encoding="utf-8")
    daemon.start()
    job_id = submit(daemon, tmp_path, engine_options={"delay_s": 0.2})
    folder = Path(job(daemon, job_id)["directory"])
    wait_until((folder / "checkpoint.json").exists, "it is under way", LONG_S)
    os.kill(daemon.pid(), signal.SIGKILL)
    wait_until((folder / "result.json").exists, "it comes to its end alone", LONG_S)
    log = (folder / "relax.log").read_text(encoding="utf-8")
    assert "going on with an own worker" in log
    assert "converged after" in log
    wait_until(lambda: not processes_of(daemon), "and leaves nothing")
