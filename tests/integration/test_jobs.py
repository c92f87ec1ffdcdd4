"""Jobs over the wire: the real daemon, real programs, real ends."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from support.daemon import PRODUCTION, Daemon, RawSocket, wait_until

MakeDaemon = Callable[..., Daemon]
ENDS = ("COMPLETED", "FAILED", "CANCELLED")


@pytest.fixture
def started(daemon: Daemon) -> Daemon:
    daemon.start()
    return daemon


def submit(daemon: Daemon, *argv: str, **fields: Any) -> int:
    """Submit a command and return the job's id."""
    params = {"name": "a job", "code": "command", "inputs": {"argv": list(argv)}, **fields}
    return int(daemon.call("jobs.submit", params)["job"]["id"])


def job(daemon: Daemon, job_id: int) -> dict[str, Any]:
    found: dict[str, Any] = daemon.call("jobs.get", {"id": job_id})
    return found


def state(daemon: Daemon, job_id: int) -> str:
    return str(job(daemon, job_id)["state"])


def ended(daemon: Daemon, job_id: int) -> dict[str, Any]:
    """Wait for the end and return the job."""
    wait_until(lambda: state(daemon, job_id) in ENDS, f"job {job_id} ends")
    return job(daemon, job_id)


def lives(pid: str) -> bool:
    """Whether a process runs; one that waits to be reaped by init does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def error(raw: RawSocket, method: str, params: dict[str, Any]) -> dict[str, Any]:
    reply = raw.ask({"jsonrpc": "2.0", "id": "e", "method": method, "params": params})
    found: dict[str, Any] = reply["error"]
    return found


def test_submit_list_get_log_files(started: Daemon) -> None:
    content = "#!/bin/sh\necho out; echo err >&2; echo data > result.txt\n"
    job_id = submit(
        started,
        "./run.sh",
        files=[{"path": "run.sh", "content": content, "executable": True}],
        tags=["t"],
    )
    done = ended(started, job_id)
    assert (done["state"], done["reason"]) == ("COMPLETED", None)
    rows = started.call("jobs.list")
    assert [(row["id"], row["state"]) for row in rows] == [(job_id, "COMPLETED")]
    assert started.call("jobs.log", {"id": job_id})["text"] == "out\n"
    assert started.call("jobs.log", {"id": job_id, "stream": "stderr"})["text"] == "err\n"
    files = {file["path"]: file["kind"] for file in started.call("jobs.files", {"id": job_id})}
    assert files["run.sh"] == "input"
    assert files["result.txt"] == "output"
    text = started.call("jobs.read_file", {"id": job_id, "path": "result.txt"})["text"]
    assert text == "data\n"


@pytest.mark.parametrize(
    ("argv", "reason", "text"),
    [
        (("no-such-program-anywhere",), "did_not_start", "no-such-program-anywhere"),
        (("/bin/sh", "-c", "echo bad input >&2; exit 3"), "crashed", "bad input"),
        (("/bin/sh", "-c", "kill -SEGV $$"), "crashed", "SIGSEGV"),
        (("dd", "if=/dev/zero", "of=/dev/full", "count=1"), "disk_full", "No space left"),
        (("/bin/sh", "-c", "no-such-command"), "did_not_start", "no-such-command"),
    ],
)
def test_failures_have_reason_and_hint(
    started: Daemon, argv: tuple[str, ...], reason: str, text: str
) -> None:
    done = ended(started, submit(started, *argv))
    assert (done["state"], done["reason"]) == ("FAILED", reason)
    assert text in done["message"]
    assert done["hint"]


def test_unknown_and_ended_jobs(started: Daemon) -> None:
    done = ended(started, submit(started, "true"))
    with started.connect() as raw:
        for method in ("jobs.get", "jobs.cancel", "jobs.log", "jobs.files", "jobs.rerun"):
            found = error(raw, method, {"id": 99})
            assert (found["code"], found["data"]["kind"]) == (-32000, "not_found"), method
        found = error(raw, "jobs.cancel", {"id": done["id"]})
        assert (found["code"], found["data"]["kind"]) == (-32000, "illegal_transition")
        for method in ("get", "update", "delete", "test"):
            found = error(raw, f"clusters.{method}", {"id": 77})
            assert (found["code"], found["data"]["kind"]) == (-32000, "not_found"), method
            assert found["data"]["field"] == "id"
        found = error(raw, "slurm.queue", {"cluster": "nowhere"})
        assert (found["data"]["kind"], found["data"]["field"]) == ("not_found", "cluster")
        found = error(raw, "extensions.list", {})
        assert (found["code"], found["data"]["kind"]) == (-32000, "not_implemented")
        found = error(
            raw, "jobs.submit", {"name": "a", "code": "command", "runner": "aiida", "inputs": {}}
        )
        assert found["code"] == -32000
        assert "AiiDA" in found["message"]


def test_cancel_ends_child_and_grandchild(started: Daemon) -> None:
    script = "setsid sleep 600 & echo $! > grandchild; sleep 600 & echo $! > child; wait"
    job_id = submit(started, "/bin/sh", "-c", script)
    directory = Path(job(started, job_id)["directory"])
    pids = [directory / "child", directory / "grandchild"]
    wait_until(lambda: all(p.is_file() and p.read_text().strip() for p in pids), "children run")
    wait_until(lambda: state(started, job_id) == "RUNNING", "the job is seen running")
    started.call("jobs.cancel", {"id": job_id})
    assert ended(started, job_id)["state"] == "CANCELLED"
    for path in pids:
        assert not lives(path.read_text().strip())


def test_names_over_the_wire(started: Daemon) -> None:
    with started.connect() as raw:
        for name in ("a/b", "...", "a\x01b", "x" * 101, "   "):
            found = error(raw, "jobs.submit", {"name": name, "code": "command", "inputs": {}})
            assert (found["code"], found["data"]["field"]) == (-32602, "name")
    job_id = submit(started, "true", name=" ünïcode ")
    assert job(started, job_id)["name"] == "ünïcode"
    assert Path(job(started, job_id)["directory"]).name == job(started, job_id)["uuid"]


def test_a_relative_path_is_refused(started: Daemon) -> None:
    with started.connect() as raw:
        params = {
            "name": "a", "code": "command", "inputs": {"argv": ["true"]},
            "files": [{"path": "a.txt", "source": "a.txt"}],
        }  # fmt: skip
        found = error(raw, "jobs.submit", params)
        assert (found["code"], found["data"]["field"]) == (-32602, "files.0.source")
        params["files"] = [{"path": "a.txt", "source": "/nonexistent/a.txt"}]
        found = error(raw, "jobs.submit", params)
        assert (found["code"], found["data"]["field"]) == (-32602, "files.0.source")


def test_log_by_offset_and_tail(started: Daemon) -> None:
    job_id = submit(started, "/bin/sh", "-c", "seq 100000")
    ended(started, job_id)
    whole = "".join(f"{i}\n" for i in range(1, 100001))
    text, offset = "", 0
    while True:
        part = started.call("jobs.log", {"id": job_id, "offset": offset, "limit": 100000})
        text, offset = text + part["text"], part["offset"]
        if part["eof"]:
            break
    assert text == whole
    assert started.call("jobs.log", {"id": job_id, "tail": 2})["text"] == "99999\n100000\n"
    none = started.call("jobs.log", {"id": job_id, "tail": 0})
    assert (none["text"], none["size"]) == ("", len(whole))
    with started.connect() as raw:
        found = error(raw, "jobs.log", {"id": job_id, "tail": -5})
        assert (found["code"], found["data"]["field"]) == (-32602, "tail")


def test_a_token_on_another_connection_is_the_same_job(started: Daemon) -> None:
    params = {
        "name": "once", "code": "command", "inputs": {"argv": ["true"]},
        "client_token": "token-12345",
    }  # fmt: skip
    with started.connect() as raw:
        raw.send({"jsonrpc": "2.0", "id": 1, "method": "jobs.submit", "params": params})
    again = started.call("jobs.submit", params)
    assert again["job"]["name"] == "once"
    assert len(started.call("jobs.list")) == 1


def test_fifty_submits_at_once(started: Daemon) -> None:
    ids: list[int] = []

    def one(i: int) -> None:
        ids.append(submit(started, "true", name=f"job {i}"))

    threads = [threading.Thread(target=one, args=(i,)) for i in range(50)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(ids) == list(range(1, 51))
    directories = {job(started, i)["directory"] for i in ids}
    assert len(directories) == 50
    for i in ids:
        assert ended(started, i)["state"] == "COMPLETED"


def test_concurrency_limit_and_queue(make_daemon: MakeDaemon) -> None:
    daemon = make_daemon(program=PRODUCTION, env={"CRYSTALMATH_JOBS_MAX_CONCURRENT": "1"})
    daemon.start()
    first = submit(daemon, "sleep", "600")
    second = submit(daemon, "true")
    wait_until(lambda: state(daemon, first) == "RUNNING", "the first runs")
    assert state(daemon, second) in ("CREATED", "STAGED")
    daemon.call("jobs.cancel", {"id": first})
    assert ended(daemon, second)["state"] == "COMPLETED"


@pytest.mark.parametrize("ends_meanwhile", [False, True])
def test_killed_daemon_finds_its_job_again(started: Daemon, ends_meanwhile: bool) -> None:
    script = "echo begin >> ran; while [ ! -e go ]; do sleep 0.05; done; exit 7"
    job_id = submit(started, "/bin/sh", "-c", script)
    wait_until(lambda: state(started, job_id) == "RUNNING", "the job runs")
    directory = Path(job(started, job_id)["directory"])
    os.kill(started.pid(), signal.SIGKILL)
    if ends_meanwhile:
        (directory / "go").touch()
        wait_until((directory / ".cm" / "end.json").exists, "the receipt is there")
    hello = started.start()
    assert hello["state"] == "ready"
    if not ends_meanwhile:
        wait_until(lambda: state(started, job_id) == "RUNNING", "it is still running")
        (directory / "go").touch()
    done = ended(started, job_id)
    assert (done["state"], done["reason"]) == ("FAILED", "crashed")
    assert "7" in done["message"]
    assert (directory / "ran").read_text() == "begin\n"


def test_no_receipt_and_no_process_is_judged_from_the_output(started: Daemon) -> None:
    job_id = submit(started, "/bin/sh", "-c", "echo $$ > pid; sleep 600")
    wait_until(lambda: state(started, job_id) == "RUNNING", "the job runs")
    found = job(started, job_id)
    os.kill(started.pid(), signal.SIGKILL)
    os.kill(int(found["scheduler"]["id"]), signal.SIGKILL)
    for pid in started.pids():
        os.kill(pid, signal.SIGKILL)
    started.start()
    done = ended(started, job_id)
    assert (done["state"], done["reason"]) == ("FAILED", "crashed")


def test_a_running_job_keeps_an_idle_daemon(daemon: Daemon) -> None:
    daemon.start("--idle-timeout", "3")
    job_id = submit(daemon, "/bin/sh", "-c", "while [ ! -e go ]; do sleep 0.05; done")
    wait_until(lambda: state(daemon, job_id) == "RUNNING", "the job runs")
    directory = Path(job(daemon, job_id)["directory"])
    pid = daemon.pid()
    wait_until((directory / "stdout.log").exists, "there is a log")
    assert daemon.pid() == pid
    (directory / "go").touch()
    wait_until(lambda: not Path(f"/proc/{pid}").exists(), "the daemon has gone")


def test_walltime_over_the_wire(started: Daemon) -> None:
    job_id = submit(started, "sleep", "600", resources={"walltime_s": 0.5})
    done = ended(started, job_id)
    assert (done["state"], done["reason"]) == ("FAILED", "walltime")


def test_each_code_of_the_record_has_a_real_cause(daemon: Daemon) -> None:
    daemon.start()
    with daemon.connect() as raw:
        assert error(raw, "jobs.get", {"id": 5})["code"] == -32000
    daemon.stop()
    database = daemon.data / "crystalmath.db"
    database.write_bytes(b"no database" * 1000)
    done = daemon.run("start")
    assert done.returncode == 1
    assert "damaged" in done.stderr


def test_a_structure_of_a_job(started: Daemon) -> None:
    params = {
        "name": "relax", "code": "forces", "task": "relax", "engine": "emt",
        "structure": {"path": str(Path(__file__).parents[2] / "examples" / "copper.cif")},
    }  # fmt: skip
    first = started.call("jobs.submit", params)["job"]["id"]
    done = ended(started, first)
    assert done["state"] == "COMPLETED"
    assert done["results"]["lattice"]["a_angstrom"] == pytest.approx(3.590, abs=0.002)
    params |= {"task": "single_point", "structure": {"job": first}}
    second = ended(started, started.call("jobs.submit", params)["job"]["id"])
    assert second["science"]["energy_ev"] == pytest.approx(done["science"]["energy_ev"], abs=1e-9)


def test_a_job_that_removes_its_bookkeeping_runs_once(started: Daemon) -> None:
    script = "echo begin >> ran; rm -rf .cm; while [ ! -e go ]; do sleep 0.05; done"
    job_id = submit(started, "/bin/sh", "-c", script)
    directory = Path(job(started, job_id)["directory"])
    wait_until((directory / "ran").exists, "it has begun")
    wait_until(lambda: state(started, job_id) == "RUNNING", "it is seen running")
    (directory / "go").touch()
    assert ended(started, job_id)["state"] == "FAILED"
    assert (directory / "ran").read_text() == "begin\n"


def test_a_damaged_claim_is_no_obstacle_to_a_cancel(started: Daemon) -> None:
    job_id = submit(started, "/bin/sh", "-c", "mkdir -p .cm/claim.99; exec sleep 600")
    directory = Path(job(started, job_id)["directory"])
    wait_until((directory / ".cm" / "claim.99").exists, "the claim is damaged")
    started.call("jobs.cancel", {"id": job_id})
    assert ended(started, job_id)["state"] == "CANCELLED"
