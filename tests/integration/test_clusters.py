"""Jobs on a scripted SLURM: the real lane, steps, runner and job script; only SLURM is a stand-in.

What real SLURM says is tested in ``tests/testbed/test_slurm.py``.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from crystalmath.contract.jobs import CancelJobsParams, JobIdParams, LogParams
from crystalmath.contract.slurm import AdoptParams, QueueParams, SchedulerJobsParams, SyncParams
from crystalmath.errors import Conflict, InvalidParams, SlurmError, UnknownJob
from support.cluster_bench import ClusterBench, ScriptedSlurm
from support.service_fakes import FakeCall

ENDS = ("COMPLETED", "FAILED", "CANCELLED")


@pytest.fixture
def slurm(tmp_path: Path) -> ScriptedSlurm:
    return ScriptedSlurm(tmp_path / "slurm")


@pytest.fixture
def bench(tmp_path: Path, slurm: ScriptedSlurm) -> Iterator[ClusterBench]:
    made = ClusterBench(tmp_path, setup_commands=slurm.setup_commands)
    yield made
    made.close()


def test_a_job_runs_there_and_its_files_come_back(bench: ClusterBench) -> None:
    job = bench.send(
        "cat in.txt; echo 42 > out.txt", files=[{"path": "in.txt", "content": "hello\n"}]
    )
    bench.until_state(job, *ENDS)
    full = bench.service.get(JobIdParams(id=job))
    assert (full.state, full.runner, full.cluster) == ("COMPLETED", "slurm", "c")
    assert full.scheduler is not None
    assert (full.scheduler.id, full.scheduler.state) == ("100", "COMPLETED")
    here = Path(full.directory)
    assert (here / "stdout.log").read_text() == "hello\n"
    assert (here / "out.txt").read_text() == "42\n"
    assert [event.to_state for event in full.events if event.to_state != event.from_state] == [
        *("CREATED", "STAGED", "SUBMITTED"),
        *(["RUNNING"] if "the program runs" in bench.whys(job) else []),
        *("FINISHED", "COMPLETED"),
    ]


def test_the_script_can_be_seen_beforehand(bench: ClusterBench) -> None:
    from crystalmath.contract.jobs import SubmitParams

    params = SubmitParams.model_validate(
        {
            "name": "dry",
            "code": "command",
            "cluster": "c",
            "inputs": {"argv": ["true"]},
            "resources": {"walltime_s": "1:00:00", "partition": "main", "ntasks": 2},
            "dry_run": True,
        }
    )
    found = bench.service.submit(params, FakeCall()).dry_run  # type: ignore[arg-type]
    assert found is not None
    assert found.script is not None
    assert "#SBATCH --time=0-01:00:00" in found.script
    assert "#SBATCH --partition=main" in found.script
    assert "mpirun -n 2 true" in found.script
    assert bench.store.counts() == {}


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"cluster": "nowhere"}, "cluster"),
        ({"runner": "local"}, "cluster"),
        ({"runner": "ssh"}, "runner"),
        ({"resources": {"extra": ["--job-name=x"]}}, "resources.extra.0"),
    ],
)
def test_what_cannot_be_sent_is_refused(
    bench: ClusterBench, fields: dict[str, object], field: str
) -> None:
    with pytest.raises(InvalidParams) as caught:
        bench.send(**fields)
    assert caught.value.field == field
    assert bench.store.counts() == {}


def test_an_exit_code_is_a_failure_with_what_the_program_said(bench: ClusterBench) -> None:
    job = bench.send("echo no good >&2; exit 3")
    bench.until_state(job, *ENDS)
    row = bench.store.row(job)
    assert (row["state"], row["reason"]) == ("FAILED", "crashed")
    assert "no good" in row["message"]


def test_a_failed_poll_changes_nothing(bench: ClusterBench, slurm: ScriptedSlurm) -> None:
    job = bench.send("while [ ! -e go ]; do sleep 0.05; done")
    bench.until_state(job, "RUNNING")
    for fault in ("squeue", "cut"):
        slurm.fault(fault)
        before = bench.store.row(job)["rev"]
        for _ in range(5):
            bench.turn(later_s=400.0)
        assert bench.state(job) == "RUNNING"
        cluster = bench.clusters.cluster("c")
        assert cluster.unreachable_since is not None
        assert cluster.last_error
        assert bench.store.row(job)["rev"] == before
        slurm.fault(fault, on=False)
        bench.until(lambda: bench.clusters.cluster("c").unreachable_since is None, step_s=400.0)
    remote = bench.clusters.remote(job)
    Path(str(remote.directory), "go").touch()
    bench.until_state(job, *ENDS, step_s=10.0)
    assert bench.state(job) == "COMPLETED"


def test_an_end_between_two_polls_is_found_in_the_accounting(
    bench: ClusterBench, slurm: ScriptedSlurm
) -> None:
    slurm.fault("minjobage")
    job = bench.send("exit 0")
    bench.until_state(job, *ENDS, step_s=5.0)
    assert bench.state(job) == "COMPLETED"


def test_without_accounting_the_receipt_tells(bench: ClusterBench, slurm: ScriptedSlurm) -> None:
    slurm.fault("minjobage")
    slurm.fault("sacct")
    good, bad = bench.send("exit 0"), bench.send("exit 4")
    bench.until(lambda: {bench.state(good), bench.state(bad)} <= set(ENDS), step_s=5.0)
    assert (bench.state(good), bench.state(bad)) == ("COMPLETED", "FAILED")
    assert any("E5" in str(line["evidence"]) for line in bench.store.events(good))


def test_sbatch_that_times_out_after_it_worked_makes_one_job(
    bench: ClusterBench, slurm: ScriptedSlurm
) -> None:
    slurm.fault("timeout")
    job = bench.send("echo run >> ../ran")
    bench.until_state(job, *ENDS, step_s=31.0)
    assert bench.state(job) == "COMPLETED"
    assert len(slurm.submitted) == 1
    assert (bench.root / "remote" / "ran").read_text() == "run\n"


def test_a_limit_of_the_site_waits_and_goes_on(bench: ClusterBench, slurm: ScriptedSlurm) -> None:
    slurm.fault("limit")
    job = bench.send("exit 0")
    bench.until(lambda: bool(bench.store.row(job)["attention"]))
    assert bench.state(job) == "STAGED"
    assert "AssocMaxSubmitJobLimit" in bench.store.row(job)["attention"]
    before = bench.store.row(job)["tries"]
    bench.turn()
    assert bench.store.row(job)["tries"] == before, "one try per back-off step"
    slurm.fault("limit", on=False)
    bench.until_state(job, *ENDS, step_s=70.0)
    assert bench.state(job) == "COMPLETED"
    assert len(slurm.submitted) == 1


def test_a_controller_that_does_not_answer(bench: ClusterBench, slurm: ScriptedSlurm) -> None:
    slurm.fault("noctld")
    job = bench.send("exit 0")
    bench.until(lambda: bool(bench.store.row(job)["attention"]))
    slurm.fault("noctld", on=False)
    bench.until_state(job, *ENDS, step_s=70.0)
    assert bench.state(job) == "COMPLETED"


def test_cancel_of_a_running_job(bench: ClusterBench, slurm: ScriptedSlurm) -> None:
    job = bench.send("sleep 600")
    bench.until_state(job, "RUNNING")
    slurm.fault("noctld")
    bench.service.cancel(CancelJobsParams(id=job))
    for _ in range(3):
        bench.turn(later_s=1.0)
    assert bench.state(job) == "CANCELLING", "the wish stays while the scheduler cannot be told"
    slurm.fault("noctld", on=False)
    bench.until_state(job, *ENDS, step_s=5.0)
    assert bench.state(job) == "CANCELLED"


def test_cancel_before_anything_was_sent_needs_no_cluster(
    bench: ClusterBench, slurm: ScriptedSlurm
) -> None:
    job = bench.send("exit 0")
    bench.service.cancel(CancelJobsParams(id=job))
    bench.turn()
    assert bench.state(job) == "CANCELLED"
    assert slurm.submitted == []


def test_cancel_while_nobody_knows_whether_it_was_sent(
    bench: ClusterBench, slurm: ScriptedSlurm
) -> None:
    slurm.fault("timeout")
    slurm.fault("squeue")
    slurm.fault("sacct")
    job = bench.send("sleep 600")
    bench.until(lambda: bench.clusters.remote(job).doubted_at is not None)
    bench.service.cancel(CancelJobsParams(id=job))
    bench.turn(later_s=31.0)
    assert bench.state(job) == "CANCELLING"
    slurm.fault("squeue", on=False)
    slurm.fault("sacct", on=False)
    bench.until_state(job, *ENDS, step_s=31.0)
    assert bench.state(job) == "CANCELLED"
    assert len(slurm.submitted) == 1


def test_a_job_that_ends_before_the_cancel_keeps_its_end(bench: ClusterBench) -> None:
    job = bench.send("while [ ! -e go ]; do sleep 0.05; done")
    bench.until_state(job, "RUNNING")
    remote = bench.clusters.remote(job)
    Path(str(remote.directory), "go").touch()
    receipt = Path(str(remote.directory), ".cm", "end.1.json")
    bench.until(receipt.exists)
    if bench.state(job) == "RUNNING":
        bench.service.cancel(CancelJobsParams(id=job))
    bench.until_state(job, *ENDS, step_s=1.0)
    assert bench.state(job) == "COMPLETED"


def test_a_job_that_is_nowhere_is_lost_and_found_again(
    bench: ClusterBench, slurm: ScriptedSlurm
) -> None:
    job = bench.send("while [ ! -e go ]; do sleep 0.05; done")
    bench.until_state(job, "RUNNING")
    slurm.fault("forgotten")
    bench.turn(later_s=10.0)
    bench.turn(later_s=10.0)
    assert bench.state(job) == "RUNNING", "absence is not an end"
    bench.until_state(job, "LOST", step_s=100.0)
    slurm.fault("forgotten", on=False)
    bench.until_state(job, "RUNNING", step_s=3601.0)
    Path(str(bench.clusters.remote(job).directory), "go").touch()
    bench.until_state(job, *ENDS, step_s=10.0)
    assert bench.state(job) == "COMPLETED"


def test_a_lost_job_is_corrected_by_its_receipt(bench: ClusterBench, slurm: ScriptedSlurm) -> None:
    job = bench.send("while [ ! -e go ]; do sleep 0.05; done")
    bench.until_state(job, "RUNNING")
    slurm.fault("forgotten")
    bench.until_state(job, "LOST", step_s=200.0)
    where = Path(str(bench.clusters.remote(job).directory))
    (where / "go").touch()
    bench.until((where / ".cm" / "end.1.json").exists)
    assert bench.state(job) == "LOST"
    synced = bench.slurm.sync(SyncParams(cluster="c"), FakeCall())  # type: ignore[arg-type]
    assert [(one.from_state, one.to_state) for one in synced.data] == [("LOST", "FINISHED")]  # type: ignore[union-attr]
    bench.until_state(job, *ENDS)
    assert bench.state(job) == "COMPLETED"


def test_the_log_of_a_running_job_can_be_read(bench: ClusterBench) -> None:
    job = bench.send("echo first; while [ ! -e go ]; do sleep 0.05; done; echo second")
    bench.until_state(job, "RUNNING")
    params = LogParams(id=job)
    bench.until(lambda: "first" in bench.service.log(params).text, step_s=1.0)
    assert not bench.service.log(params).eof
    Path(str(bench.clusters.remote(job).directory), "go").touch()
    bench.until_state(job, *ENDS, step_s=1.0)
    log = bench.service.log(params)
    assert (log.text, log.eof) == ("first\nsecond\n", True)
    scheduler = bench.service.log(LogParams(id=job, stream="scheduler"))
    assert scheduler.path == "scheduler.log"


def test_a_file_over_the_limit_stays_there(bench: ClusterBench) -> None:
    from dataclasses import replace

    record = replace(bench.cluster.record, max_retrieve_mib=1)
    bench.clusters.change_cluster(bench.cluster.id, record, bench.now)
    job = bench.send("dd if=/dev/zero of=big bs=1024 count=1100 2>/dev/null; echo x > small")
    bench.until_state(job, *ENDS)
    here = bench.directories.path(bench.key(job))
    assert (here / "small").exists()
    assert not (here / "big").exists()
    [warning] = bench.store.documents(job).warnings
    assert "max_retrieve_mib" in warning


def test_max_concurrent_is_kept(bench: ClusterBench, slurm: ScriptedSlurm) -> None:
    from dataclasses import replace

    record = replace(bench.cluster.record, max_concurrent=1)
    bench.clusters.change_cluster(bench.cluster.id, record, bench.now)
    first = bench.send("while [ ! -e go ]; do sleep 0.05; done")
    second = bench.send("exit 0")
    bench.until_state(first, "RUNNING")
    bench.turn(later_s=1.0)
    assert bench.state(second) == "STAGED"
    assert len(slurm.submitted) == 1
    Path(str(bench.clusters.remote(first).directory), "go").touch()
    bench.until_state(second, *ENDS, step_s=1.0)
    assert (bench.state(first), bench.state(second)) == ("COMPLETED", "COMPLETED")


def test_the_queue_tells_whose_jobs_they_are_and_how_old_it_is(
    bench: ClusterBench, slurm: ScriptedSlurm
) -> None:
    slurm.fault("pending")
    job = bench.send("exit 0")
    bench.until_state(job, "SUBMITTED")
    found = bench.slurm.queue(QueueParams(cluster="c"))
    [row] = found.data
    assert (row.job, row.base_id, row.phase) == (job, 100, "waiting")  # type: ignore[union-attr]
    assert not found.meta.stale
    slurm.fault("squeue")
    bench.now += 100.0
    again = bench.slurm.queue(QueueParams(cluster="c"))
    assert again.meta.stale
    assert again.meta.age_s is not None
    assert again.meta.age_s >= 100.0
    assert len(again.data) == 1, "the last rows, never an empty list"
    with pytest.raises(SlurmError):
        bench.slurm.queue(QueueParams(cluster="c", all_users=True))


def test_cancel_by_the_schedulers_id_is_a_wish_too(
    bench: ClusterBench, slurm: ScriptedSlurm
) -> None:
    slurm.fault("pending")
    job = bench.send("exit 0")
    bench.until_state(job, "SUBMITTED")
    said = bench.slurm.cancel(SchedulerJobsParams(cluster="c", job_ids=["100", "999"]))
    assert [(one.job_id, one.job) for one in said.data] == [("100", job), ("999", None)]  # type: ignore[union-attr]
    bench.until_state(job, *ENDS, step_s=1.0)
    assert bench.state(job) == "CANCELLED"


def test_cancelled_by_others(bench: ClusterBench, slurm: ScriptedSlurm) -> None:
    slurm.fault("pending")
    job = bench.send("exit 0")
    bench.until_state(job, "SUBMITTED")
    bench.runners.of(bench.cluster).cancel_ids(["100"])
    bench.until_state(job, *ENDS, step_s=1.0)
    assert bench.state(job) == "CANCELLED"
    assert [line["to_state"] for line in bench.store.events(job)][-2:] == [
        "CANCELLING",
        "CANCELLED",
    ]


def test_a_second_job_in_the_same_directory_touches_nothing(
    bench: ClusterBench, slurm: ScriptedSlurm
) -> None:
    job = bench.send("echo run >> ran; while [ ! -e go ]; do sleep 0.05; done")
    bench.until_state(job, "RUNNING")
    where = Path(str(bench.clusters.remote(job).directory))
    bench.until((where / "ran").exists)
    shell = bench.runners.of(bench.cluster).on()
    again = shell.run(f"cd {where}; sbatch --parsable --job-name=x job.sh", deadline_s=30.0)
    assert again.out.strip() == b"101"
    log = where / "scheduler.log"
    bench.until(lambda: "works in this directory already" in log.read_text())
    (where / "go").touch()
    bench.until_state(job, *ENDS, step_s=1.0)
    assert bench.state(job) == "COMPLETED"
    assert (where / "ran").read_text() == "run\n"


def submit_by_hand(bench: ClusterBench, script: str) -> tuple[str, Path]:
    """A job that somebody submitted himself: its id and its directory."""
    where = bench.root / "by hand"
    where.mkdir()
    (where / "job.sh").write_text(f"#!/bin/bash\n{script}\n")
    shell = bench.runners.of(bench.cluster).on()
    ran = shell.run(
        f"cd '{where}'; sbatch --parsable --job-name='my relax' job.sh", deadline_s=30.0
    )
    return ran.out_text().strip(), where


def test_adopt_a_job_that_was_submitted_by_hand(bench: ClusterBench) -> None:
    ident, where = submit_by_hand(bench, "while [ ! -e go ]; do sleep 0.05; done; echo 7 > out.txt")
    params = AdoptParams(cluster="c", job_id=ident, code="command")
    job = bench.slurm.adopt(params).job
    assert (job.name, job.state, job.runner, job.cluster) == ("my relax", "SUBMITTED", "slurm", "c")
    with pytest.raises(Conflict, match=f"job {job.id} already"):
        bench.slurm.adopt(params)
    assert len(list(bench.directories.root.iterdir())) == 1, "the second left nothing"
    bench.until_state(job.id, "RUNNING")
    (where / "go").touch()
    bench.until_state(job.id, *ENDS, step_s=1.0)
    assert bench.state(job.id) == "COMPLETED"
    assert (bench.directories.path(bench.key(job.id)) / "out.txt").read_text() == "7\n"
    assert sorted(p.name for p in where.iterdir()) == ["go", "job.sh", "out.txt", "scheduler.log"]


def test_adopt_refuses_what_is_nobodys_or_unknown(bench: ClusterBench) -> None:
    with pytest.raises(UnknownJob):
        bench.slurm.adopt(AdoptParams(cluster="c", job_id="4711", code="command"))
    ident, _ = submit_by_hand(bench, "exit 0")
    with pytest.raises(InvalidParams) as caught:
        bench.slurm.adopt(AdoptParams(cluster="c", job_id=ident))
    assert caught.value.field == "code"
    assert list(bench.directories.root.iterdir()) == []
