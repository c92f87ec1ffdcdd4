"""What a look at a cluster says of a job array: task by task, then of the job.

Each task goes through the reducer of ``domain.evidence`` by itself, as a job of its own would; the
job's state follows from the states of its tasks. Called by ``services.cluster_polls``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from crystalmath.domain.evidence import Finding, Known, Observation
from crystalmath.domain.polling import lost_look_at
from crystalmath.domain.states import JobState
from crystalmath.domain.task_list import render_tasks
from crystalmath.services.cluster_look import (
    Looked,
    conclude,
    end_of,
    is_by_cancel,
    last_word,
    worth_keeping,
)
from crystalmath.services.ports_cluster import JobChange, QueuePoll, RemoteJob
from crystalmath.services.ports_store import Move
from crystalmath.services.ports_tasks import TaskRecord

Tasks = Mapping[int, TaskRecord]
ENDED: Final = frozenset({"FINISHED", "COMPLETED", "FAILED", "CANCELLED"})


def open_tasks(tasks: Tasks) -> list[int]:
    """Tasks whose end has not been seen."""
    return [number for number, task in tasks.items() if task.state not in ENDED]


def tasks_in_poll(remote: RemoteJob, poll: QueuePoll, tasks: Tasks) -> list[Observation]:
    """What a complete poll says of every task that has not ended: its row, its absence, nothing."""
    ident = int(remote.scheduler_id or 0)
    if ident in poll.unsure:
        return []
    rows = poll.tasks.get(ident, ())
    is_cut = any(listed.at_least for listed, _ in rows)
    alone = {seen.task: seen for _, seen in rows if seen.task is not None}
    lists = [(listed, seen) for listed, seen in rows if seen.task is None]
    found = []
    for task in open_tasks(tasks):
        seen = alone.get(task) or next((s for listed, s in lists if task in listed), None)
        if seen is not None:
            found.append(replace(seen, task=task))
        elif not is_cut:
            found.append(Observation("squeue", poll.at, "absent", poll=poll.number, task=task))
    return found


def change_of_array(looked: Looked, tasks: Tasks, now: float, offset_s: float) -> JobChange | None:
    """What a look changes of an array; None when nothing does."""
    if looked.row["state"] in ENDED:
        return None
    before, new = _by_task(looked.before), _by_task(looked.new)
    changed: dict[int, dict[str, Any]] = {}
    evidence: list[Observation] = []
    attention = None
    for number in open_tasks(tasks):
        task = tasks[number]
        one = replace(looked, before=before.get(number, ()), new=new.get(number, ()))
        known = Known(task.state, task.attempt, task.started_at, task.rests_on_words)
        finding = conclude(one, offset_s, known)
        evidence += worth_keeping(one.before, one.new)
        attention = attention or finding.attention
        values = _values(one, task, finding, now)
        if any(getattr(task, name) != value for name, value in values.items()):
            changed[number] = values
    after = {n: replace(task, **changed.get(n, {})) for n, task in tasks.items()}
    moves = _moves(looked, tasks, after, attention, now)
    if not moves and not changed and not evidence:
        return None
    remote = _remote(looked, after, moves, now)
    return JobChange(looked.row["id"], moves, remote, tuple(evidence), changed)


def _by_task(seen: Iterable[Observation]) -> dict[int, list[Observation]]:
    found: dict[int, list[Observation]] = {}
    for one in seen:
        if one.task is not None:
            found.setdefault(one.task, []).append(one)
    return found


def _values(one: Looked, task: TaskRecord, finding: Finding, now: float) -> dict[str, Any]:
    """The columns of a task that follow from a finding."""
    because = finding.because
    word = {"scheduler_state": because.raw} if because is not None and because.raw else {}
    if finding.phase == "waiting":
        again = {"attempt": max(task.attempt + 1, finding.attempt), "started_at": None}
        return {"state": "SUBMITTED", **word, **(again if task.state == "RUNNING" else {})}
    if finding.phase == "running" and because is not None:
        return {
            "state": "RUNNING",
            **word,
            "started_at": because.start_at or task.started_at,
            "attempt": finding.attempt,
            "nodes": because.details.get("nodes") or task.nodes,
        }
    if finding.phase in ("ended", "cancelled"):
        return _ended(one, task, finding, now)
    if finding.phase == "lost" and one.row["state"] == "CANCELLING":
        told = "the scheduler does not know it any more"
        return {"state": "CANCELLED", "message": told, "finished_at": now, "rests_on_words": True}
    if finding.phase == "lost":
        return {"state": "LOST"}
    return {}


def _ended(one: Looked, task: TaskRecord, finding: Finding, now: float) -> dict[str, Any]:
    end = end_of(one, finding)
    asked = one.row["state"] == "CANCELLING" or task.cancel_asked
    is_cancelled = finding.phase == "cancelled" or (asked and is_by_cancel(finding))
    return {
        "state": "CANCELLED" if is_cancelled else "FINISHED",
        "scheduler_state": last_word([*one.before, *one.new]),
        "started_at": end.get("t_start") or task.started_at,
        "finished_at": end.get("t_end") or now,
        "attempt": finding.attempt,
        "rests_on_words": finding.rests_on_words,
        "end": end,
    }


def _moves(
    looked: Looked, before: Tasks, after: Tasks, attention: str | None, now: float
) -> tuple[Move, ...]:
    row = looked.row
    state: JobState = row["state"]
    wanted = state_of(after)
    ended = [n for n, task in after.items() if task.state in ENDED]
    news = [n for n in ended if before[n].state not in ENDED]
    changes = {**_columns(after), "attention": attention}
    evidence = {"tasks": count_states(after)}
    if len(ended) == len(after):
        return _all_ended(looked, after, changes, now)
    if wanted == "LOST":
        said = "neither the scheduler nor the job's directory says what became of its tasks"
        next_at = lost_look_at(looked.remote.lost_at or now, now)
        changes |= {"attention": said, "progress_text": "lost from sight", "next_try_at": next_at}
    moving = wanted if state not in ("CANCELLING", wanted) else None
    why = None if moving is None else _WHY[wanted]
    if why is None and news:
        why = f"ended: {_named(render_tasks(news))}"
    if why is None and all(row[name] == value for name, value in changes.items()):
        return ()
    shown = evidence if why is not None else {}
    return (Move(row["id"], (state,), moving, now, why, shown, changes),)


def _all_ended(
    looked: Looked, after: Tasks, columns: Mapping[str, Any], now: float
) -> tuple[Move, ...]:
    job_id, state = looked.row["id"], looked.row["state"]
    evidence = {"tasks": count_states(after)}
    calm = {"attention": None, "next_try_at": None, "tries": 0}
    if state_of(after) == "FINISHED":
        why = f"all {len(after)} tasks have ended"
        if state == "CANCELLING":
            why = "its tasks ended by themselves before the cancel reached them"
        changes = {**columns, **calm, "progress_text": "fetching its files"}
        return (Move(job_id, (state,), "FINISHED", now, why, evidence, changes),)
    gone = _named(render_tasks(n for n, task in after.items() if task.state == "CANCELLED"))
    changes = {**columns, **calm, "progress_text": "cancelled", "message": f"cancelled: {gone}"}
    why = f"all {len(after)} tasks have ended; cancelled: {gone}"
    last = Move(job_id, ("CANCELLING",), "CANCELLED", now, why, evidence, changes)
    if state == "CANCELLING":
        return (last,)
    why = f"cancelled on the cluster: {gone}"
    return (Move(job_id, (state,), "CANCELLING", now, why, evidence), last)


_WHY: Final[Mapping[JobState, str]] = {
    "SUBMITTED": "all its tasks wait in the queue",
    "RUNNING": "its tasks run",
    "LOST": "nothing has told of its remaining tasks for minutes",
}


def _remote(looked: Looked, after: Tasks, moves: Sequence[Move], now: float) -> Mapping[str, Any]:
    states = {move.state for move in moves}
    if "LOST" in states:
        return {"lost_at": looked.remote.lost_at or now}
    if states & {"FINISHED", "CANCELLED"}:
        starts = [task.started_at for task in after.values() if task.started_at is not None]
        end = {"t_start": min(starts)} if starts else {}
        return {"collected": False, "lost_at": None, "end": end}
    return {"lost_at": None} if looked.row["state"] == "LOST" and states - {None} else {}


def state_of(tasks: Tasks) -> JobState:
    """State of the job while its tasks are in theirs."""
    states = {task.state for task in tasks.values()}
    if states <= ENDED:
        return "CANCELLED" if "CANCELLED" in states else "FINISHED"
    if states <= ENDED | {"LOST"}:
        return "LOST"
    # Between one task and the next nothing may run for a moment; it has begun all the same.
    return "SUBMITTED" if states <= {"CREATED", "SUBMITTED"} else "RUNNING"


def count_states(tasks: Tasks) -> dict[str, int]:
    """How many tasks are in each state."""
    return dict(Counter(str(task.state) for task in tasks.values()))


def _columns(tasks: Tasks) -> dict[str, Any]:
    """Columns of the job's row that sum up its tasks."""
    starts = [task.started_at for task in tasks.values() if task.started_at is not None]
    ends = [task.finished_at for task in tasks.values() if task.finished_at is not None]
    ended = sum(task.state in ENDED for task in tasks.values())
    running = sum(task.state == "RUNNING" for task in tasks.values())
    words = Counter(task.scheduler_state for task in tasks.values() if task.scheduler_state)
    found: dict[str, Any] = {
        "progress_text": f"{ended} of {len(tasks)} tasks ended, {running} running",
        "progress_fraction": ended / len(tasks),
        "scheduler_state": ", ".join(f"{n} {word}" for word, n in sorted(words.items()))[:200],
    }
    if starts:
        found["started_at"] = min(starts)
    if ended == len(tasks) and ends:
        found["finished_at"] = max(ends)
    return found


def _named(tasks: str) -> str:
    return f"task {tasks}" if tasks.isdigit() else f"tasks {tasks}"
