"""What is read of workflows at the end of each of their steps.

By the driver itself: building an expression for each costs more than SQLite needs. Used by
``workflows``.
"""

from __future__ import annotations

from typing import Any, Final

from sqlalchemy import Connection

from crystalmath.domain.states import TERMINAL
from crystalmath.domain.workflow_states import StepState
from crystalmath.errors import NotFound
from crystalmath.services.ports_workflows import EndedJob, StepRecord, WorkflowRecord
from crystalmath.storage.engine import driver_of
from crystalmath.storage.tables import workflow_steps, workflows
from crystalmath.storage.workflow_rows import step_of, workflow_of

_WORKFLOW_COLUMNS: Final = tuple(column.name for column in workflows.columns)
_STEP_COLUMNS: Final = tuple(column.name for column in workflow_steps.columns)
_WORKFLOW: Final = f"SELECT {', '.join(_WORKFLOW_COLUMNS)} FROM workflows WHERE id = ?"  # noqa: S608
_STEP: Final = f"SELECT {', '.join(_STEP_COLUMNS)} FROM workflow_steps"  # noqa: S608
_COUNTS: Final = "SELECT state, count(*) FROM workflow_steps WHERE workflow_id = ? GROUP BY state"
_ENDED: Final = (
    "SELECT s.id, s.workflow_id, s.job_id FROM workflow_steps s "  # noqa: S608
    "LEFT JOIN jobs j ON j.id = s.job_id WHERE s.state = 'RUNNING' AND s.kind = 'job' "
    f"AND (j.id IS NULL OR j.state IN ({', '.join(repr(s) for s in sorted(TERMINAL))})) "
    "ORDER BY s.id"
)
_ARTEFACT: Final = "SELECT document FROM artefacts WHERE hash = ?"
_IS_AT: Final = "SELECT state, attempt FROM workflow_steps WHERE id = ?"


def _asked(connection: Connection, sql: str, *values: Any) -> list[Any]:
    return driver_of(connection).execute(sql, values).fetchall()


def workflow(connection: Connection, workflow_id: int) -> WorkflowRecord:
    """One workflow; raises ``NotFound``."""
    found = _asked(connection, _WORKFLOW, workflow_id)
    if not found:
        raise NotFound(
            f"there is no workflow {workflow_id}",
            hint="`workflows.list` shows the workflows",
            field="id",
        )
    row = dict(zip(_WORKFLOW_COLUMNS, found[0], strict=True))
    return workflow_of(row, counts(connection, workflow_id))


def counts(connection: Connection, workflow_id: int) -> dict[StepState, int]:
    """Number of steps by state."""
    return {state: int(n) for state, n in _asked(connection, _COUNTS, workflow_id)}


def steps(connection: Connection, workflow_id: int) -> list[StepRecord]:
    """All steps, in the order in which they were added."""
    found = _asked(connection, f"{_STEP} WHERE workflow_id = ? ORDER BY id", workflow_id)
    return [step_of(_STEP_COLUMNS, row) for row in found]


def step(connection: Connection, step_id: int) -> StepRecord:
    """One step; raises ``NotFound``."""
    found = _asked(connection, f"{_STEP} WHERE id = ?", step_id)
    if not found:
        raise NotFound(f"there is no step with the number {step_id}")
    return step_of(_STEP_COLUMNS, found[0])


def artefact(connection: Connection, content_hash: str) -> str | None:
    """The text of a document; None where there is none."""
    found = _asked(connection, _ARTEFACT, content_hash)
    return str(found[0][0]) if found else None


def ended_jobs(connection: Connection) -> list[EndedJob]:
    """RUNNING steps whose job needs no more waiting for."""
    return [EndedJob(*row) for row in _asked(connection, _ENDED)]


def is_at(connection: Connection, seen: StepRecord) -> bool:
    """Whether a step still is what the caller saw."""
    return _asked(connection, _IS_AT, seen.id) == [(seen.state, seen.attempt)]
