"""Rows of SLURM → observations for the reducer. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from crystalmath.domain.evidence import Observation, SeenPhase
from crystalmath.runners.slurm.advice import advise
from crystalmath.runners.slurm.history import HistoryRow
from crystalmath.runners.slurm.queue import QueueRow
from crystalmath.runners.slurm.states import State

_RANK: Final[Mapping[SeenPhase, int]] = {
    "running": 5,
    "waiting": 4,
    "unknown": 3,
    "unchanged": 2,
    "cancelled": 1,
    "ended": 0,
}
_NOT_STARTED: Final = frozenset({(127, 0), (126, 0), (0, 53)})
"""Exit codes by which SLURM or the shell says that the program, or a directory, is missing."""


def of_queue(rows: Iterable[QueueRow], number: int, at: float) -> dict[int, Observation]:
    """One observation for each job; the tasks of an array, or the parts of a het job, together."""
    by_job: dict[int, list[QueueRow]] = {}
    for row in rows:
        by_job.setdefault(row.ref.job, []).append(row)
    return {job: _of_rows(found, number, at) for job, found in by_job.items()}


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


def _weight(row: HistoryRow) -> tuple[int, bool, float]:
    return _RANK[row.state.meaning.phase], _is_bad(row.state), row.end_at or 0.0


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
    if state.name == "DEADLINE" and start_at is None:
        return "did_not_start"
    return state.meaning.reason


def _is_bad(state: State) -> bool:
    return state.name != "COMPLETED"
