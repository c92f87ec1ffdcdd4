"""Jobs on a host without a scheduler: everything is real, the host is this machine."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from crystalmath.contract.jobs import CancelJobsParams, JobIdParams
from crystalmath.errors import InvalidParams
from crystalmath.services.ports_cluster import ClusterRecord
from support.cluster_bench import ClusterBench

ENDS = ("COMPLETED", "FAILED", "CANCELLED")


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[ClusterBench]:
    record = ClusterRecord(
        name="c", kind="ssh", hostname="localhost", remote_workdir=str(tmp_path / "remote")
    )
    made = ClusterBench(tmp_path, record=record)
    yield made
    made.close()


def place(bench: ClusterBench, job: int) -> Path:
    return Path(str(bench.clusters.remote(job).directory))


def test_a_job_runs_there_and_its_files_come_back(bench: ClusterBench) -> None:
    job = bench.send("cat in.txt; echo 42 > out.txt", files=[{"path": "in.txt", "content": "x\n"}])
    bench.until_state(job, *ENDS, step_s=1.0)
    full = bench.service.get(JobIdParams(id=job))
    assert (full.state, full.runner) == ("COMPLETED", "ssh"), full.message
    assert (Path(full.directory) / "out.txt").read_text() == "42\n"
    assert (Path(full.directory) / "stdout.log").read_text() == "x\n"


def test_an_exit_code_is_a_failure(bench: ClusterBench) -> None:
    job = bench.send("echo no good >&2; exit 3")
    bench.until_state(job, *ENDS, step_s=1.0)
    row = bench.store.row(job)
    assert (row["state"], row["reason"]) == ("FAILED", "crashed")
    assert "no good" in row["message"]


def test_cancel_ends_everything_that_was_started(bench: ClusterBench) -> None:
    job = bench.send("sleep 600 & echo $! > child; wait")
    bench.until_state(job, "RUNNING", step_s=1.0)
    child = place(bench, job) / "child"
    bench.until(lambda: child.exists() and child.read_text().strip() != "")
    bench.service.cancel(CancelJobsParams(id=job))
    bench.until_state(job, *ENDS, step_s=1.0)
    assert bench.state(job) == "CANCELLED"
    assert not _runs(int(child.read_text()))


def test_the_time_limit_is_kept(bench: ClusterBench) -> None:
    job = bench.send("sleep 600", resources={"walltime_s": 2.0})
    bench.until_state(job, *ENDS, step_s=1.0)
    row = bench.store.row(job)
    assert (row["state"], row["reason"]) == ("FAILED", "walltime"), row["message"]


def test_a_script_that_was_killed_leaves_no_receipt(bench: ClusterBench) -> None:
    job = bench.send("sleep 600")
    bench.until_state(job, "RUNNING", step_s=1.0)
    pid = int(bench.store.row(job)["scheduler_id"])
    numbers = [int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit()]
    members = [number for number in numbers if _session(number) == pid]
    for one in members:
        os.kill(one, signal.SIGKILL)
    bench.until_state(job, *ENDS, step_s=5.0)
    assert (bench.state(job), bench.store.row(job)["reason"]) == ("FAILED", "crashed")


def test_after_a_restart_of_the_host_it_is_a_node_failure(bench: ClusterBench) -> None:
    job = bench.send("while [ ! -e go ]; do sleep 0.05; done")
    bench.until_state(job, "RUNNING", step_s=1.0)
    pid = place(bench, job) / ".cm" / "pid"
    number, born, _ = pid.read_text().split()
    pid.write_text(f"{number} {born} another-boot\n")
    bench.until_state(job, *ENDS, step_s=5.0)
    assert (bench.state(job), bench.store.row(job)["reason"]) == ("FAILED", "node_failure")
    (place(bench, job) / "go").touch()


def test_what_only_a_scheduler_can_give_is_refused(bench: ClusterBench) -> None:
    for name, value in (("partition", "main"), ("gpus", "2"), ("nodes", 2)):
        with pytest.raises(InvalidParams) as caught:
            bench.send("true", resources={name: value})
        assert caught.value.field == f"resources.{name}"


def _runs(pid: int) -> bool:
    """Whether a process is there that is more than its exit code."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except FileNotFoundError:
        return False
    return stat.rpartition(")")[2].split()[0] != "Z"


def _session(pid: int) -> int | None:
    try:
        return os.getsid(pid)
    except ProcessLookupError:
        return None
