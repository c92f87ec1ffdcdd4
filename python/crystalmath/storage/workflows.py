"""Workflows, their steps and what they give, in the database.

Uses the connections and the writer's lock of ``JobStore``; one transaction per method.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, case, func, insert, select, update

from crystalmath.domain.workflow_states import STOPPED, WorkflowState
from crystalmath.errors import Conflict, NotFound
from crystalmath.services.ports_store import Change, NewJob
from crystalmath.services.ports_workflows import (
    EndedJob,
    Ending,
    NewWorkflow,
    StepRecord,
    WorkflowChanges,
    WorkflowPage,
    WorkflowRecord,
)
from crystalmath.services.workflows.content import hash_of
from crystalmath.storage import workflow_reads as reads
from crystalmath.storage.engine import driver_of
from crystalmath.storage.moves import encode
from crystalmath.storage.store import JobStore, insert_job
from crystalmath.storage.tables import client_tokens, workflow_steps, workflows
from crystalmath.storage.workflow_rows import values_of, workflow_of

_BUMP: Final = "UPDATE counters SET value = value + 1 WHERE name = 'workflow_rev' RETURNING value"
_REV: Final = "SELECT value FROM counters WHERE name = 'workflow_rev'"
_KEEP: Final = (
    "INSERT INTO artefacts (hash, document, created_at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING"
)
_STEP = workflow_steps.c
_RESUMABLE: Final[tuple[WorkflowState, ...]] = ("RUNNING", "WAITING", "FAILED", "CANCELLED")
_AFRESH: Final = dict.fromkeys(
    ("started_at", "finished_at", "job_id", "reason", "message", "hint"), None
)
"""Of a step that is to be tried again."""


class SqliteWorkflowStore:
    """Implements ``services.ports_workflows.WorkflowStore``.

    Parameters
    ----------
    changes
        Is told every change of a workflow, in the order of the commits.
    """

    def __init__(self, store: JobStore, changes: WorkflowChanges | None = None) -> None:
        self._store = store
        self._changes = changes
        self._in_order = threading.Lock()

    def create(self, new: NewWorkflow) -> tuple[int, bool]:
        """See ``WorkflowStore.create``."""
        with self._changing() as (connection, _, changed):
            if new.token is not None:
                known = _token_owner(connection, new.token, new.request_sha256)
                if known is not None:
                    return known, False
            for text in new.artefacts:
                _keep(connection, text, new.created_at)
            workflow_id = int(
                connection.execute(
                    insert(workflows).returning(workflows.c.id), _values(connection, new)
                ).scalar_one()
            )
            rows = [values_of(step, workflow_id) for step in new.steps]
            connection.execute(insert(workflow_steps), rows)
            changed.append(workflow_id)
        return workflow_id, True

    def by_token(self, token: str, request_sha256: str) -> int | None:
        """See ``WorkflowStore.by_token``."""
        with self._store.reading() as connection:
            return _token_owner(connection, token, request_sha256)

    def workflow(self, workflow_id: int) -> WorkflowRecord:
        """See ``WorkflowStore.workflow``."""
        with self._store.reading() as connection:
            return reads.workflow(connection, workflow_id)

    def page(
        self, states: Sequence[WorkflowState], kind: str | None, limit: int, before: int | None
    ) -> WorkflowPage:
        """See ``WorkflowStore.page``."""
        wanted: list[ColumnElement[bool]] = []
        if states:
            wanted.append(workflows.c.state.in_(states))
        if kind is not None:
            wanted.append(workflows.c.kind == kind)
        older = [*wanted, workflows.c.id < before] if before is not None else wanted
        with self._store.reading() as connection:
            rev = int(connection.exec_driver_sql(_REV).scalar_one())
            total = connection.execute(select(func.count(workflows.c.id)).where(*wanted))
            found = connection.execute(
                select(workflows).where(*older).order_by(workflows.c.id.desc()).limit(limit)
            )
            rows = found.mappings().all()
            page = [workflow_of(dict(row), reads.counts(connection, row["id"])) for row in rows]
            return WorkflowPage(page, rev, int(total.scalar_one()))

    def running(self) -> list[int]:
        """See ``WorkflowStore.running``."""
        wanted = select(workflows.c.id).where(workflows.c.state == "RUNNING")
        with self._store.reading() as connection:
            return [int(i) for i in connection.execute(wanted.order_by(workflows.c.id)).scalars()]

    def steps(self, workflow_id: int) -> list[StepRecord]:
        """See ``WorkflowStore.steps``."""
        with self._store.reading() as connection:
            return reads.steps(connection, workflow_id)

    def graph(self, workflow_id: int) -> tuple[WorkflowRecord, list[StepRecord]]:
        """See ``WorkflowStore.graph``."""
        with self._store.reading() as connection, connection.begin():
            return reads.workflow(connection, workflow_id), reads.steps(connection, workflow_id)

    def step(self, step_id: int) -> StepRecord:
        """See ``WorkflowStore.step``."""
        with self._store.reading() as connection:
            return reads.step(connection, step_id)

    def artefact(self, content_hash: str) -> str:
        """See ``WorkflowStore.artefact``."""
        with self._store.reading() as connection:
            found = reads.artefact(connection, content_hash)
        if found is None:
            raise NotFound(f"nothing is stored under {content_hash[:12]}…")
        return found

    def ended_jobs(self) -> list[EndedJob]:
        """See ``WorkflowStore.ended_jobs``."""
        with self._store.reading() as connection:
            return reads.ended_jobs(connection)

    def begin_job(self, step: StepRecord, job: NewJob, input_hash: str, at: float) -> int | None:
        """See ``WorkflowStore.begin_job``."""
        with self._changing() as (connection, made, changed):
            if not reads.is_at(connection, step):
                return None
            known = select(client_tokens.c.job_id).where(client_tokens.c.token == job.token)
            job_id = connection.execute(known).scalar_one_or_none()
            if job_id is None:
                job_id = insert_job(connection, made, job)
            _set(
                connection,
                step,
                state="RUNNING",
                job_id=job_id,
                jobs_json=encode([*step.jobs, job_id]),
                input_hash=input_hash,
                started_at=at,
                next_try_at=None,
                message=None,
            )
            changed.append(step.workflow_id)
            return int(job_id)

    def begin_computation(self, step: StepRecord, input_hash: str, at: float) -> bool:
        """See ``WorkflowStore.begin_computation``."""
        with self._changing() as (connection, _, changed):
            if not reads.is_at(connection, step):
                return False
            _set(
                connection,
                step,
                state="RUNNING",
                input_hash=input_hash,
                started_at=at,
                next_try_at=None,
                message=None,
            )
            changed.append(step.workflow_id)
            return True

    def end(self, step: StepRecord, ending: Ending, at: float) -> bool:
        """See ``WorkflowStore.end``."""
        with self._changing() as (connection, _, changed):
            if not reads.is_at(connection, step):
                return False
            output_hash = None
            if ending.output is not None:
                output_hash = _keep(connection, ending.output, at)
            _set(
                connection,
                step,
                state=ending.state,
                input_hash=ending.input_hash or step.input_hash,
                output_hash=output_hash,
                reused=ending.reused,
                reason=ending.reason,
                message=ending.message,
                hint=ending.hint,
                next_try_at=None,
                finished_at=at,
            )
            if ending.steps:
                rows = [values_of(new, step.workflow_id) for new in ending.steps]
                connection.execute(insert(workflow_steps), rows)
            if ending.warnings:
                _warn(connection, step.workflow_id, ending.warnings)
            changed.append(step.workflow_id)
            return True

    def postpone(self, step: StepRecord, message: str, next_try_at: float) -> None:
        """See ``WorkflowStore.postpone``."""
        with self._changing() as (connection, _, changed):
            if reads.is_at(connection, step):
                tries = step.tries + 1
                _set(connection, step, message=message, next_try_at=next_try_at, tries=tries)
                changed.append(step.workflow_id)

    def conclude(
        self,
        workflow: WorkflowRecord,
        state: WorkflowState,
        at: float,
        *,
        message: str | None = None,
        hint: str | None = None,
        results_hash: str | None = None,
    ) -> bool:
        """See ``WorkflowStore.conclude``."""
        values = {
            "state": state,
            "message": message,
            "hint": hint,
            "results_hash": results_hash,
            "finished_at": None if state == "WAITING" else at,
        }
        with self._changing() as (connection, _, changed):
            now = select(workflows.c.rev).where(workflows.c.id == workflow.id)
            if connection.execute(now).scalar_one_or_none() != workflow.rev:
                return False
            return _move(connection, changed, workflow.id, ("RUNNING",), values)

    def ask_cancel(self, workflow_id: int, state: WorkflowState, message: str, at: float) -> bool:
        """See ``WorkflowStore.ask_cancel``."""
        values: dict[str, Any] = {"cancel_asked": 1, "message": message}
        if state == "WAITING":
            values |= {"state": "FAILED", "finished_at": at}
        with self._changing() as (connection, _, changed):
            if not _move(connection, changed, workflow_id, (state,), values):
                return False
            pending = (_STEP.workflow_id == workflow_id) & (_STEP.state == "PENDING")
            connection.execute(
                update(workflow_steps)
                .where(pending)
                .values(state="CANCELLED", message="the workflow was cancelled", finished_at=at)
            )
            return True

    def again(self, workflow_id: int, names: Iterable[str]) -> bool:
        """See ``WorkflowStore.again``."""
        wanted = list(names)
        chosen = (_STEP.workflow_id == workflow_id) & _STEP.name.in_(wanted)
        with self._changing() as (connection, _, changed):
            nothing = dict.fromkeys(("message", "hint", "finished_at"))
            values = {"state": "RUNNING", "cancel_asked": 0, **nothing}
            found = connection.execute(select(_STEP.state).where(chosen)).scalars().all()
            if len(found) != len(wanted) or not STOPPED.issuperset(found):
                return False
            if not _move(connection, changed, workflow_id, _RESUMABLE, values):
                return False
            began = case((_STEP.started_at.is_(None), 0), else_=1)
            connection.execute(
                update(workflow_steps)
                .where(chosen)
                .values(state="PENDING", attempt=_STEP.attempt + began, tries=0, **_AFRESH)
            )
            return True

    @contextmanager
    def _changing(self) -> Iterator[tuple[Connection, list[Change], list[int]]]:
        """One transaction; the workflows in the last list are told when it is committed."""
        changed: list[int] = []
        with self._in_order:
            told: list[WorkflowRecord] = []
            with self._store.writing() as (connection, made):
                yield connection, made, changed
                for workflow_id in changed:
                    _bump(connection, workflow_id)
                    told.append(reads.workflow(connection, workflow_id))
            if self._changes is not None:
                for record in told:
                    self._changes.changed(record)


def _values(connection: Connection, new: NewWorkflow) -> dict[str, Any]:
    return {
        "uuid": new.uuid,
        "kind": new.kind,
        "name": new.name,
        "state": "RUNNING",
        "engine": new.engine,
        "model": new.model,
        "formula": new.formula,
        "n_atoms": new.n_atoms,
        "spec_json": encode(new.spec),
        "warnings_json": encode(list(new.warnings)),
        "token": new.token,
        "request_sha256": new.request_sha256,
        "created_at": new.created_at,
        "rev": _next_rev(connection),
    }


def _next_rev(connection: Connection) -> int:
    [(rev,)] = driver_of(connection).execute(_BUMP).fetchall()
    return int(rev)


def _bump(connection: Connection, workflow_id: int) -> None:
    values = (_next_rev(connection), workflow_id)
    driver_of(connection).execute("UPDATE workflows SET rev = ? WHERE id = ?", values)


def _keep(connection: Connection, text: str, at: float) -> str:
    """Store a document, unless it is there, and return its hash."""
    content_hash = hash_of(text)
    driver_of(connection).execute(_KEEP, (content_hash, text, at))
    return content_hash


def _warn(connection: Connection, workflow_id: int, warnings: Sequence[str]) -> None:
    """Add what a workflow has not said yet."""
    said = reads.workflow(connection, workflow_id).warnings
    text = encode(list(dict.fromkeys((*said, *warnings))))
    connection.execute(
        update(workflows).where(workflows.c.id == workflow_id).values(warnings_json=text)
    )


def _set(connection: Connection, step: StepRecord, **values: Any) -> None:
    named = ", ".join(f"{_STEP[name].name} = ?" for name in values)
    sql = f"UPDATE workflow_steps SET {named} WHERE id = ?"  # noqa: S608 - names of columns
    driver_of(connection).execute(sql, (*values.values(), step.id))


def _move(
    connection: Connection,
    changed: list[int],
    workflow_id: int,
    expected: Sequence[WorkflowState],
    values: dict[str, Any],
) -> bool:
    one = (workflows.c.id == workflow_id) & workflows.c.state.in_(expected)
    if not connection.execute(update(workflows).where(one).values(values)).rowcount:
        return False
    changed.append(workflow_id)
    return True


def _token_owner(connection: Connection, token: str, request_sha256: str) -> int | None:
    wanted = select(workflows.c.id, workflows.c.request_sha256).where(workflows.c.token == token)
    found = connection.execute(wanted).first()
    if found is None:
        return None
    if found.request_sha256 != request_sha256:
        raise Conflict(
            f"this token belongs to workflow {found.id}, which was another request",
            hint="use a new token for every workflow",
            field="client_token",
        )
    return int(found.id)
