"""The graph of steps on a real database, with jobs, computations and a clock of the test."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import ANY

import pytest

from crystalmath.errors import (
    Conflict,
    DatabaseError,
    InputRejected,
    NotBracketed,
    NotFound,
    OutputUnreadable,
    Overloaded,
    WorkerDied,
)
from crystalmath.services.ports_store import Move
from crystalmath.services.workflows.computations import ARRAYS
from crystalmath.services.workflows.step_jobs import DeskJobs, JobEnd
from support.service_fakes import Bench, FakeCode
from support.workflow_fakes import Killed, KillingStore, WorkflowBench, make_template

TOTAL = '{"total":6}'
"""2·0 + 2·1 + 2·2."""
FAILED = JobEnd("FAILED", reason="not_converged", message="no luck", hint="try")


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_template(tmp_path_factory.mktemp("template") / "crystalmath.db")


@pytest.fixture
def bench(tmp_path: Path, template: Path) -> Iterator[WorkflowBench]:
    made = WorkflowBench(tmp_path, template)
    yield made
    made.close()


def test_a_workflow_runs_to_its_results(bench: WorkflowBench) -> None:
    i = bench.create()
    assert bench.play(i) == "COMPLETED"
    assert bench.results(i) == TOTAL
    assert bench.job_names() == ["first", "part-0", "part-1", "part-2"]
    assert bench.computed == ["parts", "total"]


def test_steps_that_a_step_adds_come_with_its_end(bench: WorkflowBench) -> None:
    i = bench.create()
    bench.conductor.advance(i)
    assert bench.states(i) == {"first": "RUNNING", "parts": "PENDING"}
    bench.end_job(bench.step(i, "first"))
    [ended] = bench.store.ended_jobs()
    bench.conductor.settle(ended)
    bench.conductor.advance(i)
    bench.conductor.finish(i, bench.step(i, "parts").id)
    assert bench.states(i)["parts"] == "COMPLETED"
    assert bench.states(i)["total"] == "PENDING"
    assert bench.step(i, "total").after == ("part-0", "part-1", "part-2")


def test_a_result_is_stored_once_and_equal_work_is_done_once(bench: WorkflowBench) -> None:
    def same(function: str, arguments: object, deadline_s: float) -> object:
        return {"parts": [{"value": 5}] * 3} if function == "parts" else {"total": 0}

    conductor = bench.new_conductor(compute=same)
    i = bench.create()
    assert bench.play(i, conductor) == "COMPLETED"
    assert bench.job_names() == ["first", "part-0"]
    parts = [bench.step(i, f"part-{n}") for n in range(3)]
    assert [part.reused for part in parts] == [None, "part-0", "part-0"]
    assert len({part.output_hash for part in parts}) == 1
    with bench.jobs_store.reading() as connection:
        rows = connection.exec_driver_sql("SELECT count(*) FROM artefacts").scalar_one()
    assert rows == 5  # the start, the number, the parts, what a part gave, the total


def test_what_jobs_lose_is_said_by_their_workflow_once(bench: WorkflowBench) -> None:
    of_job = bench.jobs.end
    bench.jobs.end = lambda job: replace(of_job(job), warnings=("lost",))  # type: ignore[method-assign]
    i = bench.create()
    assert bench.store.workflow(i).warnings == ()
    assert bench.play(i) == "COMPLETED"
    assert bench.store.workflow(i).warnings == ("lost",)


def test_siblings_of_a_failed_step_go_on_and_the_workflow_waits(bench: WorkflowBench) -> None:
    bench.jobs.ends["part-1"] = FAILED
    i = bench.create()
    assert bench.play(i) == "WAITING"
    assert bench.states(i) == {
        "first": "COMPLETED",
        "parts": "COMPLETED",
        "part-0": "COMPLETED",
        "part-1": "FAILED",
        "part-2": "COMPLETED",
        "total": "PENDING",
    }
    workflow = bench.store.workflow(i)
    assert workflow.message == "step part-1: no luck"
    assert "workflows.retry" in (workflow.hint or "")


def test_a_retry_runs_that_step_alone(bench: WorkflowBench) -> None:
    bench.jobs.ends["part-1"] = FAILED
    i = bench.create()
    bench.play(i)
    before = bench.job_names()
    del bench.jobs.ends["part-1"]
    assert bench.store.again(i, ["part-1"])
    assert bench.play(i) == "COMPLETED"
    assert bench.results(i) == TOTAL
    assert bench.job_names() == [*before, "part-1"]
    step = bench.step(i, "part-1")
    assert (step.attempt, len(step.jobs)) == (2, 2)
    assert bench.computed == ["parts", "total"]


def test_a_job_that_completed_after_all_is_not_run_again(bench: WorkflowBench) -> None:
    bench.jobs.ends["part-1"] = FAILED
    i = bench.create()
    bench.play(i)
    job = bench.step(i, "part-1").jobs[-1]
    bench.jobs.to_state(job, "FINISHED", "COMPLETED")  # better evidence has come
    names = bench.job_names()
    assert bench.store.again(i, ["part-1"])
    assert bench.play(i) == "COMPLETED"
    assert bench.job_names() == names


def test_a_completed_job_whose_files_are_gone_is_run_again(bench: WorkflowBench) -> None:
    bench.jobs.ends["part-1"] = FAILED
    i = bench.create()
    bench.play(i)
    job = bench.step(i, "part-1").jobs[-1]
    bench.jobs.to_state(job, "FINISHED", "COMPLETED")
    bench.jobs.unreadable.add(job)
    del bench.jobs.ends["part-1"]
    names = bench.job_names()
    assert bench.store.again(i, ["part-1"])
    assert bench.play(i) == "COMPLETED"
    assert bench.job_names() == [*names, "part-1"]


def test_a_part_that_is_not_required_is_left_out(bench: WorkflowBench) -> None:
    bench.kind.required = False
    bench.jobs.ends["part-2"] = FAILED
    i = bench.create()
    assert bench.play(i) == "COMPLETED"
    assert bench.results(i) == '{"total":2}'


def test_a_refused_input_ends_the_workflow_when_its_siblings_have(bench: WorkflowBench) -> None:
    bench.jobs.refused["part-0"] = InputRejected("no such thing", hint="another")
    i = bench.create()
    assert bench.play(i) == "FAILED"
    assert bench.states(i)["part-2"] == "COMPLETED"
    workflow = bench.store.workflow(i)
    assert (workflow.message, workflow.hint) == ("step part-0: no such thing", "another")


@pytest.mark.parametrize(
    ("error", "state"),
    [
        (NotBracketed("outside"), "FAILED"),
        (WorkerDied("gone"), "WAITING"),
        (KeyError("a bug"), "WAITING"),
    ],
)
def test_a_computation_that_fails(bench: WorkflowBench, error: Exception, state: str) -> None:
    def fails(function: str, arguments: object, deadline_s: float) -> object:
        raise error

    i = bench.create()
    assert bench.play(i, bench.new_conductor(compute=fails)) == state
    assert "a bug" not in (bench.store.workflow(i).message or "")


def test_busy_workers_are_no_failure(bench: WorkflowBench) -> None:
    def busy(function: str, arguments: object, deadline_s: float) -> object:
        raise Overloaded("busy")

    i = bench.create()
    assert bench.play(i, bench.new_conductor(compute=busy)) == "RUNNING"
    assert bench.states(i)["parts"] == "RUNNING"
    assert bench.play(i) == "COMPLETED"


def test_workers_that_end_with_the_daemon_are_no_failure(bench: WorkflowBench) -> None:
    def dies(function: str, arguments: object, deadline_s: float) -> object:
        raise WorkerDied("killed")

    i = bench.create()
    bench.conductor.advance(i)
    bench.end_job(bench.step(i, "first"))
    for ended in bench.store.ended_jobs():
        bench.conductor.settle(ended)
    bench.conductor.advance(i)
    stopping = bench.new_conductor(compute=dies)
    assert not stopping.finish(i, bench.step(i, "parts").id, lambda: True)
    assert bench.states(i)["parts"] == "RUNNING"


def test_trouble_of_the_machine_has_the_step_tried_later(bench: WorkflowBench) -> None:
    bench.jobs.refused["part-1"] = DatabaseError("the disk is full")
    i = bench.create()
    assert bench.play(i) == "RUNNING"
    step = bench.step(i, "part-1")
    assert (step.state, step.message, step.next_try_at) == ("PENDING", "the disk is full", 1030.0)
    del bench.jobs.refused["part-1"]
    assert bench.play(i) == "RUNNING"
    bench.now += 31
    assert bench.play(i) == "COMPLETED"


def test_a_job_that_was_deleted_is_told_and_can_be_retried(bench: WorkflowBench) -> None:
    bench.jobs.ends["first"] = JobEnd("RUNNING")
    i = bench.create()
    bench.play(i)
    job = bench.step(i, "first").jobs[-1]
    bench.jobs.to_state(job, "FINISHED", "COMPLETED")
    bench.jobs_store.delete(job)
    assert bench.play(i) == "WAITING"
    assert "deleted" in (bench.store.workflow(i).message or "")
    del bench.jobs.ends["first"]
    bench.store.again(i, ["first"])
    assert bench.play(i) == "COMPLETED"


def test_cancel_ends_what_runs_and_resume_goes_on(bench: WorkflowBench) -> None:
    bench.jobs.ends["part-1"] = JobEnd("RUNNING")
    i = bench.create()
    assert bench.play(i) == "RUNNING"
    assert bench.store.ask_cancel(i, "RUNNING", "asked", bench.now)
    del bench.jobs.ends["part-1"]
    assert bench.play(i) == "CANCELLED"
    assert bench.jobs.cancelled == [bench.step(i, "part-1").jobs[-1]]
    assert bench.states(i)["part-0"] == "COMPLETED"
    assert bench.states(i)["total"] == "CANCELLED"
    stopped = [n for n, s in bench.states(i).items() if s == "CANCELLED"]
    assert bench.store.again(i, stopped)
    assert bench.play(i) == "COMPLETED"
    assert bench.results(i) == TOTAL
    assert bench.job_names().count("part-0") == 1
    assert bench.job_names().count("part-1") == 2


def test_a_waiting_workflow_that_the_user_ends_is_failed(bench: WorkflowBench) -> None:
    bench.jobs.ends["part-1"] = FAILED
    i = bench.create()
    bench.play(i)
    assert bench.store.ask_cancel(i, "WAITING", "ended by the user", bench.now)
    assert bench.store.workflow(i).state == "FAILED"


def test_a_step_that_moved_meanwhile_is_left_alone(bench: WorkflowBench) -> None:
    i = bench.create()
    seen = bench.step(i, "first")
    bench.conductor.advance(i)
    job = bench.jobs.prepare(bench.store.workflow(i), seen, {"structure": {"value": 7}})
    assert bench.store.begin_job(seen, job, "h", 1.0) is None
    assert bench.job_names() == ["first"]
    assert not bench.store.again(i, ["first"])


def test_a_workflow_that_changed_meanwhile_is_not_concluded(bench: WorkflowBench) -> None:
    bench.jobs.ends["part-1"] = FAILED
    i = bench.create()
    seen = bench.store.workflow(i)
    bench.conductor.advance(i)
    assert not bench.store.conclude(seen, "WAITING", 1.0)
    assert bench.store.workflow(i).state == "RUNNING"


def test_a_token_names_one_workflow(bench: WorkflowBench) -> None:
    assert bench.create() == bench.create()
    assert bench.store.by_token("token-of-it", "r") == 1
    with pytest.raises(Conflict):
        bench.store.by_token("token-of-it", "another")
    with pytest.raises(NotFound):
        bench.store.workflow(2)


@pytest.mark.parametrize("before", [True, False])
def test_killed_at_every_commit_nothing_is_done_twice(bench: WorkflowBench, before: bool) -> None:
    """The daemon dies at each commit in turn, just before or just after it; the next goes on."""
    at, killed = 0, True
    while killed:
        at += 1
        token = f"token-{at}"
        killing = KillingStore(bench.store, at, before=before)
        try:
            bench.play(bench.create(1, killing, token), bench.new_conductor(killing))
            killed = False
        except Killed:
            pass
        i = bench.create(1, token=token)  # the client asks again
        assert bench.play(i, bench.new_conductor()) == "COMPLETED"
        assert bench.results(i) == '{"total":0}'
        assert bench.job_names(i) == ["first", "part-0"]
        assert [len(step.jobs) for step in bench.store.steps(i)] == [1, 0, 1, 0]
    assert at > 8


def test_what_a_large_system_leaves_in_a_file_is_handed_on(tmp_path: Path) -> None:
    """Results of many atoms leave the arrays in a file of the job's directory."""
    jobs = Bench(tmp_path)
    desk = DeskJobs(jobs.store, None, {}, jobs.directories, None, lambda: 1.0, None)  # type: ignore[arg-type]
    job = jobs.submit()
    structure = {"lattice": None, "pbc": [False] * 3, "symbols": ["H"], "positions": [[0, 0, 0]]}
    given = {"moments": {"symbols": ["H", "H"], "moments_mub": [1.0, -1.0]}}
    documents = {
        "results_json": {"energy_ev": -1.0, "elapsed_s": 3.0, "arrays_in": "result.json"},
        "provenance_json": given,
    }
    jobs.store.move(Move(job, ("CREATED",), "FINISHED", 1.0, why="t", documents=documents))
    jobs.store.move(Move(job, ("FINISHED",), "COMPLETED", 1.0, why="t"))
    directory = jobs.directories.path(jobs.key(job))
    with pytest.raises(OutputUnreadable, match=r"result\.json"):
        desk.end(job)
    directory.mkdir(parents=True)
    arrays = {"structure": structure, "forces_ev_per_a": [[0.0, 0.0, 0.0]]}
    (directory / "result.json").write_text(json.dumps({**arrays, "more": 1}), encoding="utf-8")
    end = desk.end(job)
    assert end.output == {
        "energy_ev": -1.0,
        "forces_ev_per_a": [[0.0, 0.0, 0.0]],
        "structure": {"formula": "Cu", **structure, "warnings": ANY},
    }
    assert "starts without them" in end.warnings[0]
    jobs.close()


def test_what_pw_x_leaves_in_its_output_is_read_by_a_worker(tmp_path: Path) -> None:
    code = FakeCode()
    code.name = "espresso"
    jobs = Bench(tmp_path, code=code)
    asked: list[tuple[str, Mapping[str, Any]]] = []
    arrays = {"structure": {"symbols": ["H"]}, "forces_ev_per_a": [[0.0, 0.0, 0.0]]}

    def worker(function: str, arguments: Mapping[str, Any], _seconds: float) -> Any:
        asked.append((function, arguments))
        return arrays

    desk = DeskJobs(jobs.store, None, {}, jobs.directories, None, lambda: 1.0, worker)  # type: ignore[arg-type]
    job = jobs.submit(code="espresso")
    documents = {"results_json": {"energy_ev": -1.0, "arrays_in": "stdout.log"}}
    jobs.store.move(Move(job, ("CREATED",), "FINISHED", 1.0, why="t", documents=documents))
    jobs.store.move(Move(job, ("FINISHED",), "COMPLETED", 1.0, why="t"))
    output = desk.end(job).output
    assert output is not None
    assert output["forces_ev_per_a"] == [[0.0, 0.0, 0.0]]
    assert "arrays_in" not in output
    directory = str(jobs.directories.path(jobs.key(job)))
    assert asked == [(ARRAYS["espresso"], {"directory": directory, "name": "stdout.log"})]
    jobs.close()


def test_what_a_dynamics_wrote_on_the_way_is_handed_on(tmp_path: Path) -> None:
    jobs = Bench(tmp_path)
    codes = {"fake": jobs.code}
    desk = DeskJobs(jobs.store, None, codes, jobs.directories, None, lambda: 1.0, None)  # type: ignore[arg-type]
    job = jobs.submit(task="md")
    documents = {"results_json": {"energy_ev": -1.0}}
    jobs.store.move(Move(job, ("CREATED",), "FINISHED", 1.0, why="t", documents=documents))
    jobs.store.move(Move(job, ("FINISHED",), "COMPLETED", 1.0, why="t"))
    with pytest.raises(OutputUnreadable, match="on the way"):
        desk.end(job)
    curve = {"x": [0.0, 1.0], "y": [300.0, 301.0]}
    jobs.code.series = lambda _directory: {"temperature": curve}
    assert desk.end(job).output == {"energy_ev": -1.0, "series": {"temperature": curve}}
    jobs.close()
