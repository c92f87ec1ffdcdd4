"""Database rows → what clients see. Pure; the list path makes plain mappings for speed."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from crystalmath.domain.states import JobState
from crystalmath.errors import InvalidParams
from crystalmath.services.ports_store import SUMMARY_COLUMNS
from crystalmath.services.ports_tasks import TaskRecord, Used, task_folder


def rfc3339(seconds: float | None) -> str | None:
    """Seconds since the epoch → ``2026-01-06T12:00:00.000Z``, rounded as the database does."""
    if seconds is None:
        return None
    whole, milliseconds = divmod(int(seconds * 1000 + 0.5), 1000)
    stamp = datetime.fromtimestamp(whole, UTC).isoformat().removesuffix("+00:00")
    return f"{stamp}.{milliseconds:03d}Z"


def summary_of(row: Mapping[str, Any], now: float) -> dict[str, Any]:
    """A full row → the wire shape of ``JobSummary``."""
    values = dict(row)
    values["elapsed_s"] = elapsed_s(row["started_at"], row["finished_at"], now)
    for name in ("created_at", "started_at", "finished_at"):
        values[name] = rfc3339(row[name])
    return summary([values[name] for name in SUMMARY_COLUMNS])


def summary(row: Sequence[Any]) -> dict[str, Any]:
    """A row of a page (columns :data:`SUMMARY_COLUMNS`) → the wire shape of ``JobSummary``."""
    (
        job_id,
        uuid,
        name,
        code,
        task,
        state,
        reason,
        scheduler_id,
        scheduler_state,
        scheduler_reason,
        science_status,
        energy_ev,
        energy_per_atom_ev,
        converged,
        formula,
        n_atoms,
        runner,
        cluster,
        workflow,
        fraction,
        progress_text,
        attention,
        created_at,
        started_at,
        finished_at,
        elapsed,
        walltime_s,
        tags,
        rev,
    ) = row
    known = scheduler_id is not None or scheduler_state is not None
    return {
        "id": job_id,
        "uuid": uuid,
        "name": name,
        "code": code,
        "task": task,
        "state": state,
        "reason": reason,
        "scheduler": (
            {"id": scheduler_id, "state": scheduler_state, "reason": scheduler_reason}
            if known
            else None
        ),
        "science": {
            "status": science_status,
            "energy_ev": energy_ev,
            "energy_per_atom_ev": energy_per_atom_ev,
            "converged": None if converged is None else converged == 1,
        },
        "formula": formula,
        "n_atoms": n_atoms,
        "runner": runner,
        "cluster": cluster,
        "workflow": workflow,
        "progress": {"fraction": fraction, "text": progress_text},
        "attention": attention,
        "created_at": created_at,
        "started_at": started_at,
        "finished_at": finished_at,
        "elapsed_s": elapsed,
        "walltime_s": walltime_s,
        "tags": [] if tags == "[]" else json.loads(tags),
        "rev": rev,
    }


def task_of(task: TaskRecord, job_state: JobState) -> dict[str, Any]:
    """A task of an array → the wire shape of ``TaskView``.

    Until the scheduler has been seen to have it, a task is in the state of its job.
    """
    values = asdict(task)
    for name in ("end", "cancel_asked", "rests_on_words"):
        del values[name]
    values["max_rss_mib"] = _mib(values.pop("max_rss_kib"))
    for name in ("started_at", "finished_at"):
        values[name] = rfc3339(values[name])
    state = job_state if task.state == "CREATED" else task.state
    return {**values, "state": state, "directory": task_folder(task.task)}


def usage_of(used: Used | None) -> dict[str, Any] | None:
    """What a job used → the wire shape of ``UsageView``."""
    if used is None:
        return None
    return {
        "cpu_s": used.cpu_s,
        "max_rss_mib": _mib(used.max_rss_kib),
        "elapsed_s": used.elapsed_s,
        "n_cpus": used.n_cpus,
        "core_hours": None if used.core_s is None else used.core_s / 3600,
        "source": used.source,
    }


def _mib(kib: float | None) -> float | None:
    return None if kib is None else round(kib / 1024, 3)


def event_of(line: Mapping[str, Any]) -> dict[str, Any]:
    """A line of a job's history → the wire shape of ``JobEvent``."""
    return {
        "seq": line["seq"],
        "at": rfc3339(line["at"]),
        "from_state": line["from_state"],
        "to_state": line["to_state"],
        "why": line["why"],
        "evidence": line["evidence"],
    }


def elapsed_s(started_at: float | None, finished_at: float | None, now: float) -> float | None:
    """Seconds the program has run; never negative, also when the clock was set back."""
    if started_at is None:
        return None
    return round(max(0.0, (now if finished_at is None else finished_at) - started_at), 3)


def render_cursor(sort: str, value: Any, job_id: int) -> str:
    """The opaque ``next`` of a page that ends with this sort value and id."""
    text = json.dumps([sort, value, job_id], separators=(",", ":"))
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def parse_cursor(cursor: str, sort: str) -> tuple[Any, int]:
    """``(sort value, id)`` of a cursor.

    Raises
    ------
    InvalidParams
        The text is not a cursor, or belongs to another order.
    """
    try:
        padded = cursor + "=" * (-len(cursor) % 4)
        found = json.loads(base64.b64decode(padded, altchars=b"-_", validate=True))
        cursor_sort, value, job_id = found
        good = isinstance(value, (int, float, str)) and isinstance(job_id, int)
    except (ValueError, TypeError, binascii.Error):
        good, cursor_sort, value, job_id = False, sort, None, 0
    if not good or cursor_sort != sort or not 0 <= job_id < 2**63:
        raise InvalidParams(
            "this is not the `next` of a page in the same order",
            field="after",
            hint="give `meta.next` of the page before, with the same `sort`",
        )
    return value, job_id
