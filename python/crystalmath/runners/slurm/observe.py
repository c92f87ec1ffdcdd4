"""Rows of SLURM → observations for the reducer. Pure."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, Final

from crystalmath.domain.evidence import Observation, SeenPhase
from crystalmath.domain.task_list import TaskList
from crystalmath.runners.slurm.advice import advise
from crystalmath.runners.slurm.history import HistoryRow
from crystalmath.runners.slurm.queue import QueueRow
from crystalmath.runners.slurm.states import State, read_state
from crystalmath.runners.slurm.tasks import JobRef
from crystalmath.runners.slurm.values import parse_epoch_s, parse_exit

_RANK: Final[Mapping[SeenPhase, int]] = {
    "running": 5,
    "waiting": 4,
    "unknown": 3,
    "unchanged": 2,
    "cancelled": 1,
    "ended": 0,
}
_START: Final = QueueRow._fields.index("start_at")
"""``used_s`` comes after it."""
_NOT_STARTED: Final = frozenset({(127, 0), (126, 0), (0, 53)})
"""Exit codes by which SLURM or the shell says that the program, or a directory, is missing."""


class _OfQueue(Mapping[int, Observation]):
    """Observations, made when they are asked for: of most rows nobody asks, see ``words``."""

    def __init__(self, by_job: Mapping[int, Sequence[QueueRow]], number: int, at: float) -> None:
        self._by_job = by_job
        self._number = number
        self._at = at
        self._made: dict[int, Observation] = {}

    def __getitem__(self, job: int) -> Observation:
        if job not in self._made:
            self._made[job] = _of_rows(self._by_job[job], self._number, self._at)
        return self._made[job]

    def __iter__(self) -> Iterator[int]:
        return iter(self._by_job)

    def __len__(self) -> int:
        return len(self._by_job)


def by_job(rows: Iterable[QueueRow]) -> dict[int, list[QueueRow]]:
    """The rows of each job: the tasks of an array, or the parts of a het job, together."""
    found: dict[int, list[QueueRow]] = {}
    for row in rows:
        found.setdefault(row.ref.job, []).append(row)
    return found


def of_queue(
    rows_of: Mapping[int, Sequence[QueueRow]], number: int, at: float
) -> Mapping[int, Observation]:
    """One observation for each job, of all its rows."""
    return _OfQueue(rows_of, number, at)


def words(rows_of: Mapping[int, Sequence[QueueRow]]) -> dict[int, Hashable]:
    """What the rows of each job say: equal words make observations that differ in time alone.

    Left out are the time used, and the start of what waits, which is an estimate.
    """
    return {job: tuple([_words(row) for row in rows]) for job, rows in rows_of.items()}


def _words(row: QueueRow) -> Hashable:
    start_at = None if row.state.meaning.phase == "waiting" else row.start_at
    return (row[:_START], start_at, row[_START + 2 :])


def of_tasks(
    rows: Iterable[QueueRow], number: int, at: float
) -> dict[int, list[tuple[TaskList, Observation]]]:
    """What is said of the tasks of arrays, row by row; a row may stand for many that wait."""
    found: dict[int, list[tuple[TaskList, Observation]]] = {}
    for row in rows:
        listed = _tasks_of(row.ref)
        if listed is not None:
            seen = replace(_of_rows([row], number, at), task=row.ref.task)
            found.setdefault(row.ref.job, []).append((listed, seen))
    return found


def _tasks_of(ref: JobRef) -> TaskList | None:
    return ref.tasks if ref.task is None else TaskList(((ref.task, ref.task, 1),))


def _of_rows(rows: Sequence[QueueRow], number: int, at: float) -> Observation:
    row = max(rows, key=lambda r: (_RANK[r.state.meaning.phase], _is_bad(r.state)))
    meaning = row.state.meaning
    waiting = meaning.phase == "waiting"
    advice = advise(row.reason) if waiting else None
    attention = meaning.attention
    if advice is not None and (advice.outlook != "waiting" or advice.warning):
        attention = advice.warning or advice.text
    starts = [r.start_at for r in rows if r.start_at and r.state.meaning.phase == "running"]
    return Observation(
        source="squeue",
        seen_at=at,
        poll=number,
        phase=meaning.phase,
        raw=row.state.raw,
        reason=meaning.reason,
        attention=attention,
        settles=meaning.settles,
        submit_at=row.submit_at,
        start_at=min(starts) if starts else (None if waiting else row.start_at),
        owner=row.user,
        name=row.name,
        workdir=row.workdir,
        details=_details(rows, row, None if advice is None else advice.text),
    )


def _details(rows: Sequence[QueueRow], row: QueueRow, advice: str | None) -> dict[str, Any]:
    found: dict[str, Any] = {"why": row.reason, "advice": advice, "nodes": row.nodes}
    if len(rows) > 1 or row.ref.tasks is not None:
        tasks: dict[str, int] = {}
        for one in rows:
            n = 1 if one.ref.tasks is None else one.ref.tasks.count
            tasks[one.state.raw] = tasks.get(one.state.raw, 0) + n
        found["tasks"] = tasks
    return {name: value for name, value in found.items() if value is not None}


def of_history(rows: Sequence[HistoryRow], at: float) -> list[Observation]:
    """The observations of one job; an array is one observation, that of its worst task."""
    if all(row.ref.task is None and row.ref.tasks is None for row in rows):
        return [_of_row(row, at) for row in rows]
    latest: dict[int | None, HistoryRow] = {}
    for row in sorted(rows, key=lambda r: (r.submit_at or 0.0, r.start_at or 0.0)):
        latest[row.ref.task] = row
    worst = max(
        latest.values(),
        key=lambda r: (_RANK[r.state.meaning.phase], _is_bad(r.state), r.end_at or 0),
    )
    ends = [row.end_at for row in latest.values() if row.end_at]
    starts = [row.start_at for row in latest.values() if row.start_at]
    seen = _of_row(worst, at)
    return [replace(seen, start_at=min(starts, default=None), end_at=max(ends, default=None))]


def of_task_history(
    rows: Sequence[HistoryRow], wanted: Iterable[int], at: float
) -> list[Observation]:
    """The observations of each task of an array.

    A task that never started has no row of its own: it is in a list, which may be cut. A cut list
    covers every task that is not seen otherwise.
    """
    own: dict[int, list[HistoryRow]] = {}
    lists: list[tuple[TaskList, HistoryRow]] = []
    for row in rows:
        if row.ref.task is not None:
            own.setdefault(row.ref.task, []).append(row)
        elif row.ref.tasks is not None:
            lists.append((row.ref.tasks, row))
    found = []
    for task in wanted:
        told = own.get(task) or [row for tasks, row in lists if task in tasks]
        told = told or [row for tasks, row in lists if tasks.at_least]
        found += [replace(_of_row(row, at), task=task) for row in told]
    return found


def of_detail(job: Mapping[str, str | None], at: float) -> Observation | None:
    """What ``scontrol show job`` says of one job, or of one task; None when it tells no state."""
    state = read_state(job.get("JobState") or "")
    if state.name is None:
        return None
    rc, signal = parse_exit(job.get("ExitCode") or "") or (None, None)
    start_at = _time(job.get("StartTime"))
    if state.meaning.phase == "waiting":
        start_at = None  # an estimate
    task = job.get("ArrayTaskId") or ""
    restarts = job.get("Restarts") or ""
    owner = (job.get("UserId") or "").partition("(")[0]
    return Observation(
        source="scontrol",
        seen_at=at,
        phase=state.meaning.phase,
        raw=state.raw,
        reason=reason_of(state, rc, signal, start_at),
        attention=state.meaning.attention,
        settles=state.meaning.settles,
        submit_at=_time(job.get("SubmitTime")),
        start_at=start_at,
        end_at=_time(job.get("EndTime")) if state.meaning.phase in ("ended", "cancelled") else None,
        restarts=int(restarts) if restarts.isdigit() else None,
        owner=owner or None,
        name=job.get("JobName"),
        workdir=job.get("WorkDir"),
        rc=rc,
        signal=signal or None,
        task=int(task) if task.isdigit() else None,
        details={"nodes": job["NodeList"]} if job.get("NodeList") else {},
    )


def _time(text: str | None) -> float | None:
    """A time of scontrol: seconds since 1970, or as it prints them in the zone UTC."""
    if text is None:
        return None
    try:
        return parse_epoch_s(text) or datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()
    except ValueError:
        return None


def _of_row(row: HistoryRow, at: float) -> Observation:
    meaning = row.state.meaning
    return Observation(
        source="sacct",
        seen_at=at,
        phase=meaning.phase,
        raw=row.state.raw,
        reason=reason_of(row.state, row.exit_code, row.signal, row.start_at),
        attention=meaning.attention,
        settles=meaning.settles,
        submit_at=row.submit_at,
        start_at=row.start_at,
        end_at=row.end_at,
        owner=row.user or None,
        name=row.name,
        workdir=row.workdir,
        rc=row.exit_code,
        signal=row.signal or None,
        details={} if row.nodes is None else {"nodes": row.nodes},
    )


def reason_of(
    state: State, rc: int | None, signal: int | None, start_at: float | None
) -> str | None:
    """Why the calculation failed, as far as the scheduler's word and exit code tell."""
    if state.name == "FAILED" and (rc, signal or 0) in _NOT_STARTED:
        return "did_not_start"
    if start_at is None and (state.name == "DEADLINE" or _is_without_end(state, rc, signal)):
        return "did_not_start"
    return state.meaning.reason


def _is_without_end(state: State, rc: int | None, signal: int | None) -> bool:
    """Whether no program left the exit code of a failure: 1:0 is what a refused start gets."""
    return state.name == "FAILED" and rc in (None, 0, 1) and not signal


def _is_bad(state: State) -> bool:
    return state.name != "COMPLETED"
