"""What happens to jobs when the database is taken away, locked, or on a full disk."""

from __future__ import annotations

import contextlib
import sqlite3
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from support.daemon import PRODUCTION, Daemon, RpcFailure, wait_until

MakeDaemon = Callable[..., Daemon]


def submit(daemon: Daemon, *argv: str) -> int:
    params = {"name": "a job", "code": "command", "inputs": {"argv": list(argv)}}
    return int(daemon.call("jobs.submit", params)["job"]["id"])


def job(daemon: Daemon, job_id: int) -> dict[str, Any]:
    found: dict[str, Any] = daemon.call("jobs.get", {"id": job_id})
    return found


def until(daemon: Daemon, job_id: int, state: str) -> dict[str, Any]:
    wait_until(lambda: job(daemon, job_id)["state"] == state, f"job {job_id} is {state}")
    return job(daemon, job_id)


def refusal(daemon: Daemon, method: str, params: dict[str, Any] | None = None) -> RpcFailure:
    with pytest.raises(RpcFailure) as caught:
        daemon.call(method, params)
    assert caught.value.code == -32001
    return caught.value


def test_a_deleted_database_is_noticed_and_can_be_put_back(daemon: Daemon) -> None:
    daemon.start()
    gate = daemon.root / "gate"
    job_id = submit(daemon, "sh", "-c", f"until [ -e {gate} ]; do sleep 0.02; done; exit 0")
    until(daemon, job_id, "RUNNING")
    (daemon.data / "crystalmath.db").unlink()
    for method, params in (
        ("jobs.list", {}),
        ("jobs.get", {"id": job_id}),
        ("jobs.cancel", {"id": job_id}),
        ("jobs.submit", {"name": "n", "code": "command", "inputs": {"argv": ["true"]}}),
    ):
        error = refusal(daemon, method, params)
        assert "crystalmath.db was deleted or moved" in error.error["message"]
    (copy,) = daemon.data.glob("crystalmath.db.saved-*")
    assert copy.name in error.data["hint"]
    status = daemon.call("system.status")
    assert "deleted" in status["jobs_problem"]
    assert "deleted" in daemon.run("status").stdout

    daemon.stop()
    for name in ("crystalmath.db-wal", "crystalmath.db-shm"):
        (daemon.data / name).unlink(missing_ok=True)
    copy.rename(daemon.data / "crystalmath.db")
    daemon.start()
    assert job(daemon, job_id)["state"] == "RUNNING", "nothing has ended the program meanwhile"
    gate.touch()
    until(daemon, job_id, "COMPLETED")
    assert daemon.call("system.status")["jobs_problem"] is None


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Somebody else writes and does not come to an end."""
    connection = sqlite3.connect(path, isolation_level=None)
    try:
        connection.execute("BEGIN IMMEDIATE")
        yield
    finally:
        connection.rollback()
        connection.close()


def test_a_cancel_that_cannot_be_recorded_reaches_the_program(daemon: Daemon) -> None:
    daemon.start()
    pid = daemon.root / "pid"
    job_id = submit(daemon, "sh", "-c", f"echo $$ > {pid}; exec sleep 600")
    until(daemon, job_id, "RUNNING")
    wait_until(lambda: pid.exists() and pid.read_text().strip(), "it has told its pid")
    process = Path("/proc") / pid.read_text().strip()
    with locked(daemon.data / "crystalmath.db"):
        error = refusal(daemon, "jobs.cancel", {"id": job_id})
        assert "is being ended all the same" in error.error["message"]
        wait_until(lambda: not process.exists(), "the program ends")
        assert job(daemon, job_id)["state"] == "RUNNING"
    done = until(daemon, job_id, "CANCELLED")
    assert any("could not be written" in event["why"] for event in done["events"])


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    mount = tmp_path / "small"
    mount.mkdir()
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=8m,mode=700", "tmpfs", mount],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode != 0:
        pytest.skip(f"cannot mount a small tmpfs: {done.stderr.strip()}")
    yield mount
    subprocess.run(["umount", "--lazy", mount], check=True)


def fill(path: Path) -> None:
    with path.open("wb", buffering=0) as file, contextlib.suppress(OSError):
        while file.write(bytes(4096)):
            pass


def test_on_a_full_disk_jobs_are_ended_and_removed(
    make_daemon: MakeDaemon, small_disk: Path
) -> None:
    daemon = make_daemon(program=PRODUCTION, data=small_disk / "data")
    daemon.start()
    ended = submit(daemon, "true")
    until(daemon, ended, "COMPLETED")
    jobs = [submit(daemon, "sleep", "600")]
    until(daemon, jobs[0], "RUNNING")
    fill(small_disk / "fill")
    for _ in range(60):  # more than the log holds without being folded into the file
        with contextlib.suppress(RpcFailure):
            jobs.append(submit(daemon, "sleep", "600"))
    outcomes = daemon.call("jobs.cancel", {"ids": jobs})
    assert [outcome["ok"] for outcome in outcomes] == [True] * len(jobs)
    for job_id in jobs:
        until(daemon, job_id, "CANCELLED")
    (outcome,) = daemon.call("jobs.delete", {"ids": [ended], "files": True})
    assert outcome["ok"], outcome
    assert ended not in {row["id"] for row in daemon.call("jobs.list")}
