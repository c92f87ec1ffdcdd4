"""What happens to a job within a transaction: its row changes, and its history gets a line.

By the driver itself: a poll may change hundreds of jobs, and building an expression for each costs
ten times what SQLite needs. Used by ``store`` and ``clusters``.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from typing import Any, Final

from sqlalchemy import Connection

from crystalmath.domain.states import may_move
from crystalmath.errors import IllegalTransition
from crystalmath.services.ports_store import Change, Move, Row
from crystalmath.storage.engine import driver_of
from crystalmath.storage.tables import jobs

_COLUMNS: Final = tuple(column.name for column in jobs.columns)
_STATE: Final = "SELECT state FROM jobs WHERE id = ?"
_BUMP: Final = "UPDATE counters SET value = value + 1 WHERE name = 'rev' RETURNING value"
_LINE: Final = (
    "INSERT INTO job_events (job_id, at, from_state, to_state, why, evidence_json) "
    "VALUES (:job_id, :at, :from_state, :to_state, :why, :evidence_json)"
)
_ENCODER: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


def encode(value: object) -> str:
    """JSON as it is stored."""
    return _ENCODER.encode(value)


def apply_move(connection: Connection, made: list[Change], move: Move) -> bool:
    """Carry out a move; False when the job was no longer in ``expected``."""
    driver = driver_of(connection)
    found = driver.execute(_STATE, (move.job_id,)).fetchone()
    if found is None or found[0] not in move.expected:
        return False
    old = found[0]
    new = move.state or old
    if new != old and not may_move(old, new):
        raise IllegalTransition(f"a job cannot go from {old} to {new}")
    changes = dict(move.changes, state=new, rev=next_rev(connection))
    [stored] = driver.execute(
        _update("jobs", "id", tuple(changes), returning=True), (*changes.values(), move.job_id)
    ).fetchall()
    if move.documents:
        encoded = {name: encode(value) for name, value in move.documents.items()}
        write_columns(connection, "job_documents", move.job_id, encoded)
    line = None
    if move.why is not None:
        line = record(connection, move.job_id, move.at, (old, new), move.why, move.evidence)
    made.append(Change(move.job_id, dict(zip(_COLUMNS, stored, strict=True)), line))
    return True


def next_rev(connection: Connection) -> int:
    """Count the revision of the job table up."""
    [(rev,)] = driver_of(connection).execute(_BUMP).fetchall()
    return int(rev)


def record(
    connection: Connection,
    job_id: int,
    at: float,
    change: tuple[str | None, str],
    why: str,
    evidence: Mapping[str, Any],
) -> Row:
    """Add a line to the job's history, and return it."""
    line = {
        "job_id": job_id,
        "at": at,
        "from_state": change[0],
        "to_state": change[1],
        "why": why,
        "evidence_json": encode(evidence),
    }
    seq = driver_of(connection).execute(_LINE, line).lastrowid
    return dict(line, seq=seq, evidence=evidence)


def write_columns(
    connection: Connection, table: str, job_id: int, values: Mapping[str, Any]
) -> None:
    """Change what a table holds of a job, by ``job_id``."""
    statement = _update(table, "job_id", tuple(values), returning=False)
    driver_of(connection).execute(statement, (*values.values(), job_id))


@functools.cache
def _update(table: str, key: str, names: tuple[str, ...], *, returning: bool) -> str:
    """The statement for these columns; their names are the program's own."""
    columns = ", ".join(f"{name} = ?" for name in names)
    tail = f" RETURNING {', '.join(_COLUMNS)}" if returning else ""
    return f"UPDATE {table} SET {columns} WHERE {key} = ?{tail}"  # noqa: S608 - see above
