"""Rows of SLURM as observations: arrays, and the words of the controller. Cases 14, 52 to 60."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import pytest

from crystalmath.domain.evidence import Observation, is_same
from crystalmath.runners.slurm.control import read_detail
from crystalmath.runners.slurm.history import SEPARATOR, HistoryRow, read_history
from crystalmath.runners.slurm.observe import (
    by_job,
    of_detail,
    of_queue,
    of_task_history,
    of_tasks,
    words,
)
from crystalmath.runners.slurm.queue import read_queue
from crystalmath.services.ports_shell import Ran
from support.slurm_cases import load

TAG = "R7f3a"


def queue_row(ident: str, state: str) -> str:
    fields = [TAG, ident, state, "None", "cm1", "me", "1795821712", "1795821712", "0:03", "1:00",
              "1", "1", "main", "test", "normal", "/home/me", "cm-x"]  # fmt: skip
    return SEPARATOR.join(fields) + "\n"


def history_of(capture: str) -> tuple[HistoryRow, ...]:
    """A capture with the columns that we ask for."""
    lines = load(capture).ran.out_text().splitlines()
    if "|" not in lines[0] or not lines[0].startswith("JobID"):
        lines.insert(0, "JobID|State")
    names = lines[0].split("|")
    text = ""
    for line in lines[1:]:
        row = dict(zip(names, line.split("|"), strict=True))
        times = [_epoch(row.get(name)) for name in ("Submit", "Start", "End")]
        fields = [row["JobID"], row["JobID"], row.get("User", "me"), row["State"],
                  row.get("ExitCode", "0:0"), *times, "8", "main", "cm1", "None", "/home/me",
                  "x"]  # fmt: skip
        text += SEPARATOR.join(fields) + "\n"
    return read_history(Ran(0, text.encode())).rows


def _epoch(text: str | None) -> str:
    if not text or not text[0].isdigit():
        return "Unknown"
    return str(int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()))


def test_a_row_may_stand_for_tasks_that_wait() -> None:
    text = queue_row("8100_[3-4%2]", "PENDING") + queue_row("8100_1", "RUNNING")
    rows = of_tasks(read_queue(Ran(0, text.encode()), TAG).rows, 1, 10.0)[8100]
    told = {task: seen.phase for listed, seen in rows for task in listed}
    assert told == {3: "waiting", 4: "waiting", 1: "running"}, "nothing is said of task 2"


def test_the_accounting_of_an_array_is_told_task_by_task() -> None:
    seen = of_task_history(history_of("sacct-array"), [1, 2, 3, 4], 10.0)
    assert [(one.task, one.phase, one.reason, one.rc) for one in seen] == [
        (1, "ended", None, 0),
        (2, "ended", "crashed", 1),
        (3, "ended", None, 0),
        (4, "ended", None, 0),
    ]


def test_a_cut_list_covers_every_task_that_is_not_seen_otherwise() -> None:
    seen = of_task_history(history_of("sacct-array-cancelled"), [1, 73, 99], 10.0)
    assert [(one.task, one.phase) for one in seen] == [
        (1, "cancelled"),
        (73, "cancelled"),
        (99, "cancelled"),
    ]


def detail(capture: str) -> list[Observation]:
    parts = read_detail(load(capture).ran).jobs
    return [seen for part in parts if (seen := of_detail(part, 10.0)) is not None]


@pytest.mark.parametrize(
    ("capture", "phase", "reason", "rc"),
    [
        ("show-completed", "ended", None, 0),
        ("show-failed", "ended", "crashed", 3),
        ("show-failed-127", "ended", "did_not_start", 127),
        ("show-baddir", "ended", "did_not_start", 0),
        ("show-timeout", "ended", "walltime", 0),
        ("show-node-fail", "ended", "node_failure", 0),
        ("show-cancelled-running", "cancelled", None, 0),
        ("show-running", "running", None, 0),
        ("show-requeued", "waiting", None, 0),
        ("show-requeue-hold", "waiting", None, 0),
    ],
)
def test_the_controllers_own_words(capture: str, phase: str, reason: str | None, rc: int) -> None:
    (seen,) = detail(capture)
    assert (seen.source, seen.phase, seen.reason, seen.rc) == ("scontrol", phase, reason, rc)
    assert seen.owner == "cmtest"


def test_the_controller_counts_restarts_and_names_tasks() -> None:
    (seen,) = detail("show-requeued")
    assert (seen.restarts, seen.start_at) == (1, None), "its start is an estimate"
    assert [(one.task, one.rc) for one in detail("show-array-done")] == [
        (4, 0), (3, 0), (2, 1), (1, 0),
    ]  # fmt: skip
    (at,) = {one.submit_at for one in detail("show-array-done")}
    assert at == datetime(2026, 11, 27, 22, 51, 42, tzinfo=UTC).timestamp()


def test_words_are_equal_where_observations_differ_in_time_alone() -> None:
    def polled(state: str, start: str, used: str, reason: str = "None") -> Mapping[str, Any]:
        fields = (TAG, "71", state, reason, "n1", "ada", "1000", start, used, "1:00:00", "1", "4")
        text = SEPARATOR.join((*fields, "main", "a", "normal", "/w", "cm-1")) + "\n"
        rows_of = by_job(read_queue(Ran(0, text.encode()), TAG).rows)
        return {"seen": of_queue(rows_of, 1, 10.0)[71], "words": words(rows_of)[71]}

    running = polled("RUNNING", "2000", "1:00")
    for other in (
        polled("RUNNING", "2000", "2:00"),
        polled("RUNNING", "2060", "1:00"),
        polled("COMPLETING", "2000", "1:00"),
        polled("PENDING", "2000", "0:00", "Priority"),
    ):
        assert (running["words"] == other["words"]) == is_same(running["seen"], other["seen"])
    waiting = polled("PENDING", "2000", "0:00", "Priority")
    assert polled("PENDING", "2060", "0:00", "Priority")["words"] == waiting["words"]
    assert polled("PENDING", "2000", "0:00", "QOSMaxJobs")["words"] != waiting["words"]
