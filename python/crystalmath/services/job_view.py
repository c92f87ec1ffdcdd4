"""Database rows → what clients see. Pure; the list path makes plain mappings for speed."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from crystalmath.errors import InvalidParams
from crystalmath.services.ports_store import SUMMARY_COLUMNS

_INDEX = {name: i for i, name in enumerate(SUMMARY_COLUMNS)}


def rfc3339(seconds: float | None) -> str | None:
    """Seconds since the epoch → ``2026-01-06T12:00:00.000Z``."""
    if seconds is None:
        return None
    stamp = datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds")
    return stamp.replace("+00:00", "Z")


def summary_of(row: Mapping[str, Any], now: float) -> dict[str, Any]:
    """A full row → the wire shape of ``JobSummary``."""
    return summary([row[name] for name in SUMMARY_COLUMNS], now)


def summary(row: Sequence[Any], now: float) -> dict[str, Any]:
    """A row with the columns of ``SUMMARY_COLUMNS`` → the wire shape of ``JobSummary``."""
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
        fraction,
        progress_text,
        attention,
        created_at,
        started_at,
        finished_at,
        walltime_s,
        tags,
        rev,
    ) = row
    known = scheduler_id is not None or scheduler_state is not None
    scheduler = {"id": scheduler_id, "state": scheduler_state, "reason": scheduler_reason}
    return {
        "id": job_id,
        "uuid": uuid,
        "name": name,
        "code": code,
        "task": task,
        "state": state,
        "reason": reason,
        "scheduler": scheduler if known else None,
        "science": {
            "status": science_status,
            "energy_ev": energy_ev,
            "energy_per_atom_ev": energy_per_atom_ev,
            "converged": None if converged is None else bool(converged),
        },
        "formula": formula,
        "n_atoms": n_atoms,
        "runner": runner,
        "cluster": cluster,
        "progress": {"fraction": fraction, "text": progress_text},
        "attention": attention,
        "created_at": rfc3339(created_at),
        "started_at": rfc3339(started_at),
        "finished_at": rfc3339(finished_at),
        "elapsed_s": elapsed_s(started_at, finished_at, now),
        "walltime_s": walltime_s,
        "tags": [] if tags == "[]" else json.loads(tags),
        "rev": rev,
    }


def elapsed_s(started_at: float | None, finished_at: float | None, now: float) -> float | None:
    """Seconds the program has run; never negative, also when the clock was set back."""
    if started_at is None:
        return None
    return round(max(0.0, (now if finished_at is None else finished_at) - started_at), 3)


def render_cursor(row: Sequence[Any], sort: str) -> str:
    """The opaque ``next`` of a page that ends with ``row``."""
    value = row[_INDEX[sort]]
    text = json.dumps([sort, 0 if value is None else value, row[0]], separators=(",", ":"))
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
