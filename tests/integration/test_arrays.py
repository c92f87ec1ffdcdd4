"""Job arrays on a scripted SLURM: the real lane, runner and job script; only SLURM is a stand-in.

What real SLURM says is tested in ``tests/testbed/test_slurm_arrays.py``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from crystalmath.contract.jobs import (
    CancelJobsParams,
    ContinueParams,
    Job,
    JobIdParams,
    LogParams,
    RerunParams,
)
from crystalmath.contract.slurm import SchedulerJobsParams
from crystalmath.errors import IllegalTransition, InvalidParams
from support.cluster_bench import QUICK, ClusterBench, ScriptedSlurm
from support.service_fakes import FakeCall

ENDS = ("COMPLETED", "FAILED", "CANCELLED")
SCRIPT = """
cat in.txt > out.txt; echo changed > in.txt; echo "I am $SLURM_ARRAY_TASK_ID"
[ "$SLURM_ARRAY_TASK_ID" != 2 ] || { echo no good >&2; exit 3; }
"""


@pytest.fixture
def slurm(tmp_path: Path) -> ScriptedSlurm:
    return ScriptedSlurm(tmp_path / "slurm")


@pytest.fixture
def bench(tmp_path: Path, slurm: ScriptedSlurm) -> Iterator[ClusterBench]:
    timing = replace(QUICK, usage_after_s=0.0)
    made = ClusterBench(tmp_path, setup_commands=slurm.setup_commands, timing=timing)
    yield made
    made.close()


def job_of(bench: ClusterBench, job: int) -> Job:
    return bench.service.get(JobIdParams(id=job))


def array(bench: ClusterBench, script: str = SCRIPT, tasks: str = "1-3") -> int:
    files = [{"path": "in.txt", "content": "hello\n"}]
    return bench.send(script, files=files, resources={"array": tasks})


def test_one_array_is_one_job_with_a_folder_for_each_task(
    bench: ClusterBench, slurm: ScriptedSlurm
) -> None:
    job = array(bench)
    bench.until_state(job, *ENDS)
    assert len(slurm.submitted) == 1
    found = job_of(bench, job)
    assert [(task.task, task.state, task.reason) for task in found.tasks] == [
        (1, "COMPLETED", None),
        (2, "FAILED", "crashed"),
        (3, "COMPLETED", None),
    ]
    assert (found.state, found.reason) == ("FAILED", "crashed")
    assert found.message == "1 of 3 tasks failed: 2 (crashed)"
    here = Path(found.directory)
    assert (here / "in.txt").read_text() == "hello\n"
    for number in (1, 2, 3):
        folder = here / found.tasks[number - 1].directory
        assert (folder / "out.txt").read_text() == "hello\n"
        assert (folder / "in.txt").read_text() == "changed\n", "the task's own copy"
        log = bench.service.log(LogParams(id=job, task=number))
        assert (log.text, log.path) == (f"I am {number}\n", f"tasks/{number}/stdout.log")


def test_logs_of_tasks_that_are_not_there(bench: ClusterBench) -> None:
    job, single = array(bench), bench.send("true")
    for params, hint in (
        (LogParams(id=job), "1-3"),
        (LogParams(id=job, task=4), "1-3"),
        (LogParams(id=single, task=1), "leave"),
    ):
        with pytest.raises(InvalidParams) as caught:
            bench.service.log(params)
        assert caught.value.field == "task"
        assert hint in (caught.value.hint or "")


def test_tasks_that_left_the_queue_are_found_in_the_accounting(
    bench: ClusterBench, slurm: ScriptedSlurm
) -> None:
    slurm.fault("minjobage")
    job = array(bench)
    bench.until_state(job, *ENDS, step_s=5.0)
    assert [task.state for task in job_of(bench, job).tasks] == ["COMPLETED", "FAILED", "COMPLETED"]


def test_without_accounting_the_receipts_of_the_tasks_tell(
    bench: ClusterBench, slurm: ScriptedSlurm
) -> None:
    slurm.fault("minjobage")
    slurm.fault("sacct")
    job = array(bench)
    bench.until_state(job, *ENDS, step_s=5.0)
    assert [task.state for task in job_of(bench, job).tasks] == ["COMPLETED", "FAILED", "COMPLETED"]


def test_it_runs_while_a_task_runs_and_is_no_requeue_when_others_wait(
    bench: ClusterBench, slurm: ScriptedSlurm
) -> None:
    slurm.fault("pending")
    job = array(bench, "exit 0", "1-2")
    bench.until(lambda: bench.store.row(job)["scheduler_state"] == "2 PENDING")
    assert bench.state(job) == "SUBMITTED"
    slurm.run(100)
    bench.until(lambda: job_of(bench, job).tasks[0].state == "FINISHED")
    row = bench.store.row(job)
    assert (row["state"], row["attempt"]) == ("RUNNING", 1)
    assert row["progress_text"] == "1 of 2 tasks ended, 0 running"
    slurm.run(101)
    bench.until_state(job, *ENDS)
    assert bench.state(job) == "COMPLETED"
    assert bench.store.row(job)["attempt"] == 1


def test_cancel_of_the_whole_array(bench: ClusterBench) -> None:
    job = array(bench, "[ $SLURM_ARRAY_TASK_ID = 1 ] || sleep 600", "1-3")
    bench.until(lambda: job_of(bench, job).tasks[0].state == "FINISHED")
    bench.service.cancel(CancelJobsParams(id=job))
    bench.until_state(job, *ENDS, step_s=1.0)
    bench.until(lambda: bench.clusters.remote(job).collected)
    found = job_of(bench, job)
    assert found.state == "CANCELLED"
    assert [task.state for task in found.tasks] == ["COMPLETED", "CANCELLED", "CANCELLED"]
    assert found.message == "2 of 3 cancelled: 2-3"


def test_cancel_of_one_task_lets_the_others_go_on(bench: ClusterBench) -> None:
    job = array(bench, "while [ ! -e ../../go ]; do sleep 0.05; done", "1-2")
    bench.until(lambda: {task.state for task in job_of(bench, job).tasks} == {"RUNNING"})
    bench.slurm.cancel(SchedulerJobsParams(cluster="c", job_ids=["100_2"]))
    bench.until(lambda: job_of(bench, job).tasks[1].state == "CANCELLED")
    assert bench.state(job) == "RUNNING"
    Path(str(bench.clusters.remote(job).directory), "go").touch()
    bench.until_state(job, *ENDS)
    bench.until(lambda: bench.clusters.remote(job).collected)
    found = job_of(bench, job)
    assert (found.state, [task.state for task in found.tasks]) == (
        "CANCELLED",
        ["COMPLETED", "CANCELLED"],
    )


def test_failed_tasks_run_again(bench: ClusterBench) -> None:
    job = array(bench)
    bench.until_state(job, *ENDS)
    again = bench.service.rerun(RerunParams(id=job, failed_tasks=True), FakeCall()).job  # type: ignore[arg-type]
    assert again is not None
    assert [task.task for task in job_of(bench, again.id).tasks] == [2]
    for changes, field in (
        ({"resources": {"array": "2-4"}}, "changes.resources.array"),
        ({"resources": {"array": "9"}}, "changes.resources.array"),
    ):
        params = RerunParams.model_validate({"id": job, "changes": changes})
        with pytest.raises(InvalidParams, match=r"never had tasks? [49]") as caught:
            bench.service.rerun(params, FakeCall())  # type: ignore[arg-type]
        assert caught.value.field == field
    with pytest.raises(IllegalTransition, match="array"):
        bench.service.continue_(ContinueParams(id=job), FakeCall())  # type: ignore[arg-type]


def test_what_it_used_is_asked_once(bench: ClusterBench) -> None:
    job, single = array(bench), bench.send("true")
    bench.until(lambda: all(job_of(bench, one).usage is not None for one in (job, single)))
    used, one = job_of(bench, job).usage, job_of(bench, single).usage
    assert used is not None
    assert one is not None
    assert (used.source, used.n_cpus, used.elapsed_s, used.cpu_s) == ("sacct", 2, 270.0, 10.5)
    assert used.core_hours == pytest.approx(0.15)
    assert (one.core_hours, one.max_rss_mib) == (pytest.approx(0.05), 2.0)
    assert [task.max_rss_mib for task in job_of(bench, job).tasks] == [2.0] * 3
    assert bench.store.core_seconds() == {"c": pytest.approx(720.0)}
    assert bench.clusters.unaccounted("c", bench.now, 10) == []


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"resources": {"array": "1-2"}, "cluster": None}, "resources.array"),
        ({"resources": {"array": "1-1000"}}, "resources.array"),
        ({"resources": {"array": "1-2"}, "files": [{"path": "tasks/a", "content": ""}]},
         "files.0.path"),
    ],
)  # fmt: skip
def test_arrays_that_cannot_be(bench: ClusterBench, fields: dict[str, object], field: str) -> None:
    probe = {"scheduler": {"name": "slurm", "max_array_size": 1000}}
    bench.clusters.set_health(bench.cluster.id, probe=probe)
    with pytest.raises(InvalidParams) as caught:
        bench.send(**fields)
    assert caught.value.field == field
    assert bench.store.counts() == {}


def test_what_does_not_fit_on_a_node_is_a_warning(bench: ClusterBench) -> None:
    partition = {"name": "main", "default": True, "nodes": 2, "cpus_per_node": 2,
                 "memory_mib_per_node": 1000, "max_walltime_s": 3600.0}  # fmt: skip
    bench.clusters.set_health(bench.cluster.id, probe={"partitions": [partition]})
    asked = {"nodes": 2, "ntasks_per_node": 4, "memory_mib": 2000, "walltime_s": 7200.0}
    warnings = job_of(bench, bench.send(resources=asked)).warnings
    assert [text.partition(",")[0] for text in warnings] == [
        "it asks for 4 cores of a node",
        "it asks for 2000 MiB of a node",
        "it asks for 7200 s",
    ]
    assert job_of(bench, bench.send(resources={"nodes": 2, "ntasks_per_node": 2})).warnings == []


def test_old_evidence_becomes_a_line_of_the_history(bench: ClusterBench) -> None:
    job = array(bench, "exit 0", "1-2")
    bench.until_state(job, *ENDS)
    assert bench.clusters.evidence_of([job])[job]
    assert bench.clusters.fold_evidence(bench.now - 30 * 86_400.0, 10) == 0
    bench.turn(later_s=31 * 86_400.0)
    assert bench.clusters.evidence_of([job])[job] == []
    line = bench.store.events(job)[-1]
    assert "were folded into this line" in line["why"]
    assert line["evidence"]["sources"]["squeue"] > 0
