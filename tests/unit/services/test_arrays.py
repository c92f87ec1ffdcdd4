"""What a look says of an array, and the verdict on it, without any cluster."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import pytest

from crystalmath.domain.evidence import Observation
from crystalmath.services.arrays.collect import verdict_of
from crystalmath.services.arrays.look import change_of_array, state_of
from crystalmath.services.cluster_accounts import account_of
from crystalmath.services.cluster_look import Looked, change_of
from crystalmath.services.ports import Verdict
from crystalmath.services.ports_cluster import JobChange, RemoteJob
from crystalmath.services.ports_tasks import TaskRecord, Used

REMOTE = RemoteJob(
    1, 1, "cm-1", directory="/w", owner="me", scheduler_id=9, handed_over_at=1000.0, array="1-3"
)
ROW: dict[str, Any] = {
    "id": 1, "state": "RUNNING", "attempt": 1, "started_at": 1010.0, "finished_at": None,
    "attention": None, "progress_text": "", "progress_fraction": None, "scheduler_state": None,
    "next_try_at": None, "tries": 0,
}  # fmt: skip


def seen(task: int, phase: str, poll: int = 1, **more: Any) -> Observation:
    at = 1000.0 + 200 * poll
    known = {"owner": "me", "name": "cm-1.x", "submit_at": 1000.0, "raw": phase.upper()}
    return Observation("squeue", at, phase, poll=poll, task=task, **{**known, **more})  # type: ignore[arg-type]


def look(
    *new: Observation, state: str = "RUNNING", tasks: dict[int, TaskRecord] | None = None
) -> JobChange | None:
    told = tasks or {n: TaskRecord(n) for n in (1, 2, 3)}
    return change_of_array(Looked({**ROW, "state": state}, REMOTE, (), new), told, 2000.0, 0.0)


def states(change: JobChange | None) -> tuple[str | None, dict[int, str]]:
    assert change is not None
    moved = [move.state for move in change.moves]
    return moved[-1], {n: values["state"] for n, values in change.tasks.items()}


@pytest.mark.parametrize(
    ("phases", "job", "wanted"),
    [
        (("waiting", "waiting", "waiting"), "SUBMITTED", None),
        (("running", "waiting", "waiting"), "SUBMITTED", "RUNNING"),
        (("ended", "waiting", "waiting"), "SUBMITTED", "RUNNING"),
        (("ended", "waiting", "waiting"), "RUNNING", None),
        (("waiting", "waiting", "waiting"), "RUNNING", "SUBMITTED"),
        (("ended", "ended", "ended"), "RUNNING", "FINISHED"),
        (("ended", "cancelled", "ended"), "CANCELLING", "CANCELLED"),
        (("ended", "ended", "ended"), "CANCELLING", "FINISHED"),
        (("ended", "cancelled", "ended"), "RUNNING", "CANCELLED"),
        (("ended", "cancelled", "running"), "CANCELLING", None),
    ],
)
def test_the_job_follows_its_tasks(phases: tuple[str, ...], job: str, wanted: str | None) -> None:
    change = look(*(seen(n, phase) for n, phase in enumerate(phases, 1)), state=job)
    assert states(change)[0] == wanted


@pytest.mark.parametrize("seed", range(20))
def test_the_order_in_which_ends_are_seen_does_not_matter(seed: int) -> None:
    rng = random.Random(seed)
    ends = [seen(1, "ended"), seen(2, "cancelled"), seen(3, "ended")]
    rng.shuffle(ends)
    tasks = {n: TaskRecord(n, state="RUNNING") for n in (1, 2, 3)}
    final = None
    for poll, end in enumerate(ends, 1):
        change = look(replace(end, poll=poll, seen_at=1000.0 + 200 * poll),
                      state="CANCELLING", tasks=tasks)  # fmt: skip
        assert change is not None
        tasks = {n: replace(t, **change.tasks.get(n, {})) for n, t in tasks.items()}
        final = change.moves[-1].state
    assert (final, state_of(tasks)) == ("CANCELLED", "CANCELLED")


def test_a_cancel_that_a_receipt_tells_of() -> None:
    gone = Observation("squeue", 1200.0, "absent", poll=1, task=1)
    killed = Observation("end", 1200.0, "ended", signal=15, attempt=1, task=1)
    tasks = {1: TaskRecord(1, state="RUNNING")}
    assert states(look(gone, killed, state="CANCELLING", tasks=tasks)) == (
        "CANCELLED",
        {1: "CANCELLED"},
    )
    assert states(look(gone, killed, tasks=tasks)) == ("FINISHED", {1: "FINISHED"})
    asked = {1: replace(tasks[1], cancel_asked=True)}
    assert states(look(gone, killed, tasks=asked)) == ("CANCELLED", {1: "CANCELLED"})


def test_a_task_that_was_requeued_is_in_its_next_attempt() -> None:
    tasks = {1: TaskRecord(1, state="RUNNING", started_at=1010.0)}
    change = look(seen(1, "waiting"), tasks=tasks)
    assert change is not None
    assert change.tasks[1]["attempt"] == 2
    assert change.moves[-1].state == "SUBMITTED"
    assert "attempt" not in change.moves[-1].changes, "the array as a whole has one"


def test_tasks_of_which_nothing_tells_are_lost_only_when_all_others_have_ended() -> None:
    polls = [Observation("squeue", 1000.0 + 200 * n, "absent", poll=n, task=1) for n in (1, 2, 3)]
    assert states(look(*polls, seen(2, "running", 3), seen(3, "ended", 3))) == (
        None,
        {1: "LOST", 2: "RUNNING", 3: "FINISHED"},
    )
    change = look(*polls, seen(2, "ended", 3), seen(3, "ended", 3))
    assert states(change)[0] == "LOST"
    assert change is not None
    assert change.moves[-1].changes["next_try_at"] == 2000.0 + 3600.0


def test_what_says_nothing_new_changes_nothing() -> None:
    tasks = {1: TaskRecord(1, state="SUBMITTED", scheduler_state="WAITING")}
    first = look(seen(1, "waiting"), state="SUBMITTED", tasks=tasks)
    assert first is not None
    row = {**ROW, "state": "SUBMITTED", **first.moves[-1].changes}
    before = (seen(1, "waiting"),)
    again = Looked(row, REMOTE, before, (seen(1, "waiting", 2),))
    assert change_of_array(again, tasks, 2100.0, 0.0) is None


def test_the_verdict_names_the_tasks() -> None:
    tasks = {n: TaskRecord(n, state="FINISHED") for n in range(1, 6)}
    good = Verdict(completed=True, converged=True, energy_ev=-1.0, warnings=("coarse",))
    bad = Verdict(completed=False, reason="crashed", message="exit code 3")
    late = Verdict(completed=False, reason="walltime", message="late")
    whole = verdict_of(tasks, {1: good, 2: bad, 3: late, 4: bad, 5: good})
    assert (whole.completed, whole.reason) == (False, "crashed")
    assert whole.message == "3 of 5 tasks failed: 2,4 (crashed), 3 (walltime)"
    assert whole.warnings == ("tasks 1,5: coarse",)
    assert whole.energy_ev is None, "an array has no energy of its own"
    all_good = verdict_of(tasks, dict.fromkeys(tasks, good))
    assert (all_good.completed, all_good.converged, all_good.message) == (True, True, None)


def test_usage_of_an_array_is_that_of_its_tasks() -> None:
    account = account_of({1: Used(1.0, 100.0, 60.0, 2, 120.0), 2: Used(2.0, 300.0, 30.0, 2, 60.0)})
    assert account.used == Used(3.0, 300.0, 90.0, 2, 180.0)
    assert account.tasks[2] == {"max_rss_kib": 300.0, "cpu_s": 2.0}
    assert account_of({}).used is None


def test_a_requeue_that_never_began_did_not_start() -> None:
    """Its first attempt has begun and left receipts; the second failed before its script."""
    row = {**ROW, "state": "SUBMITTED", "attempt": 2, "started_at": None}
    remote = replace(REMOTE, array=None)
    known = {"owner": "me", "name": "cm-1.x"}
    before = (
        Observation("start", 1100.0, "running", attempt=1, start_at=1010.0),
        Observation("squeue", 1200.0, "waiting", poll=1, submit_at=1100.0, **known),  # type: ignore[arg-type]
    )
    gone = Observation("squeue", 1400.0, "absent", poll=2)
    words = [
        Observation("sacct", 1400.0, "ended", raw="NODE_FAIL", reason="node_failure",
                    submit_at=1000.0, start_at=1010.0, rc=0, **known),  # type: ignore[arg-type]
        Observation("sacct", 1400.0, "ended", raw="FAILED", reason="crashed", submit_at=1100.0,
                    start_at=1150.0, rc=1, **known),  # type: ignore[arg-type]
    ]  # fmt: skip
    looked = Looked(row, remote, before, (gone, *words))
    change = change_of(looked, 1500.0, 0.0)
    assert change is not None
    assert change.remote["end"]["reason"] == "did_not_start"
    assert change.moves[-1].changes["scheduler_state"] == "FAILED"


def test_an_end_that_a_receipt_tells_leaves_no_word_of_the_living_job() -> None:
    row = {**ROW, "scheduler_state": "RUNNING"}
    gone = Observation("squeue", 1400.0, "absent", poll=2)
    receipt = Observation("end", 1400.0, "ended", rc=0, attempt=1)
    change = change_of(Looked(row, replace(REMOTE, array=None), (), (gone, receipt)), 1500.0, 0.0)
    assert change is not None
    assert change.moves[-1].state == "FINISHED"
    assert change.moves[-1].changes["scheduler_state"] is None
