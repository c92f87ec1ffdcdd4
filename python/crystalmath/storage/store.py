"""The job store: one transaction per method. Used by the services through ``Store``."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import Connection, Engine, delete, func, insert, select

from crystalmath.domain.states import TERMINAL, JobState
from crystalmath.errors import Conflict, NotFound
from crystalmath.services.ports_store import (
    Change,
    Changes,
    Documents,
    Everything,
    Move,
    NewJob,
    Page,
    Query,
    Row,
)
from crystalmath.services.ports_tasks import TaskRecord, Used
from crystalmath.storage import listing, queue, reserve, single, tasks
from crystalmath.storage.engine import (
    database_errors,
    driver_of,
    ensure_private,
    journal_mode_for,
    open_engine,
)
from crystalmath.storage.moves import apply_move, encode, next_rev, record
from crystalmath.storage.presence import Presence
from crystalmath.storage.tables import (
    client_tokens,
    job_after,
    job_documents,
    jobs,
    remote_jobs,
)

_INSERT_JOB = insert(jobs).returning(jobs)


def open_store(path: Path, changes: Changes | None = None) -> JobStore:
    """Open (and create) the database file; the caller migrates it before any other use."""
    ensure_private(path)
    engine = open_engine(path, journal_mode=journal_mode_for(path.parent))
    return JobStore(engine, Presence(path, engine), changes)


class JobStore:
    """Jobs in SQLite.

    Writers take a lock of this process first: SQLite has one writer anyway, and waiting here is
    fair and instant, while its own busy handler sleeps. Under the same lock, after the commit,
    ``changes`` is told: the order of what it hears is that of the commits.

    Parameters
    ----------
    presence
        Knows whether the file is still there; asked before every transaction.
    changes
        Is told every change of a job.
    """

    def __init__(self, engine: Engine, presence: Presence, changes: Changes | None = None) -> None:
        self.engine = engine
        self._presence = presence
        self._changes = changes
        self._writing = threading.Lock()

    def close(self) -> None:
        """Fold the write-ahead log into the database and close all connections."""
        with database_errors(), self._writing:
            self._presence.close()
            self.engine.dispose()

    def hold_space(self) -> None:
        """Reserve space for small writes, see ``reserve``; takes some hundredths of a second."""
        with self._writing:
            reserve.hold_space(self.engine)

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """Read from one snapshot; ``storage.clusters`` reads through it too."""
        with database_errors():
            self._presence.check()
            with self.engine.connect() as connection:
                yield connection

    @contextmanager
    def writing(self) -> Iterator[tuple[Connection, list[Change]]]:
        """One transaction; what its body puts into the list is told when it is committed."""
        made: list[Change] = []
        with database_errors(), self._writing:
            self._presence.check()
            with (
                self.engine.connect().execution_options(transaction="IMMEDIATE") as connection,
                connection.begin(),
            ):
                yield connection, made
            if self._changes is not None:
                for change in made:
                    self._changes.publish(change)

    def insert(self, job: NewJob) -> tuple[int, bool]:
        """See ``Store.insert``."""
        with self.writing() as (connection, made):
            if job.token is not None:
                known = _token_owner(connection, job.token, job.request_sha256)
                if known is not None:
                    return known, False
            return insert_job(connection, made, job), True

    def by_token(self, token: str, request_sha256: str) -> int | None:
        """See ``Store.by_token``."""
        with self.reading() as connection:
            return _token_owner(connection, token, request_sha256)

    def row(self, job_id: int) -> Row:
        """See ``Store.row``."""
        with self.reading() as connection:
            return _row(connection, job_id)

    def rows_in(
        self,
        states: Iterable[JobState],
        limit: int,
        *,
        after: int = 0,
        due: float | None = None,
    ) -> list[Row]:
        """See ``Store.rows_in``."""
        with self.reading() as connection:
            found = connection.execute(queue.rows_in(list(states), limit, after, due))
            return [dict(row) for row in found.mappings()]

    def startable(self, now: float, limit: int, cluster: str | None = None) -> list[Row]:
        """See ``Store.startable``."""
        with self.reading() as connection:
            found = connection.execute(
                queue.STARTABLE, {"now": now, "n": limit, "cluster": cluster}
            )
            return [dict(row) for row in found.mappings()]

    def doomed(self) -> list[tuple[int, int, str]]:
        """See ``Store.doomed``."""
        with self.reading() as connection:
            return [(int(j), int(p), state) for j, p, state in connection.execute(queue.DOOMED)]

    def next_try_at(self) -> float | None:
        """See ``Store.next_try_at``."""
        with self.reading() as connection:
            return connection.execute(queue.NEXT_TRY).scalar_one_or_none()

    def is_known(self, uuid: str) -> bool:
        """See ``Store.is_known``."""
        with self.reading() as connection:
            found = connection.execute(select(jobs.c.id).where(jobs.c.uuid == uuid)).first()
        return found is not None

    def states_of(self, ids: Iterable[int]) -> dict[int, JobState]:
        """See ``Store.states_of``."""
        with self.reading() as connection:
            found = connection.execute(
                select(jobs.c.id, jobs.c.state).where(jobs.c.id.in_(list(ids)))
            )
            return {int(row.id): row.state for row in found}

    def documents(self, job_id: int) -> Documents:
        """See ``Store.documents``."""
        with self.reading() as connection:
            return _documents(connection, job_id)

    def tasks(self, job_id: int) -> dict[int, TaskRecord]:
        """See ``Store.tasks``."""
        with self.reading() as connection:
            return tasks.of_jobs(connection, [job_id]).get(job_id, {})

    def events(self, job_id: int) -> list[Row]:
        """See ``Store.events``."""
        with self.reading() as connection:
            return _events(connection, job_id)

    def everything(self, job_id: int) -> Everything:
        """See ``Store.everything``."""
        with self.reading() as connection:
            row = _row(connection, job_id)
            documents = _documents(connection, job_id)
            events = _events(connection, job_id)
            found = connection.execute(single.PARENTS, {"id": job_id})
            parents = [int(parent.parent_id) for parent in found]
            own = tasks.of_jobs(connection, [job_id]).get(job_id, {})
            used = tasks.usage_of(connection, job_id)
        return Everything(row, documents, events, parents, tuple(own.values()), used)

    def move(self, move: Move) -> bool:
        """See ``Store.move``."""
        with self.writing() as (connection, made):
            return apply_move(connection, made, move)

    def delete(self, job_id: int) -> bool:
        """See ``Store.delete``."""
        with self.writing() as (connection, made):
            child = connection.execute(queue.WAITING_CHILD, {"id": job_id}).scalar_one_or_none()
            if child is not None:
                raise Conflict(
                    f"job {child} waits for job {job_id}",
                    hint="try again in a moment: it fails, since that job did not complete",
                )
            gone = connection.execute(
                delete(jobs).where(jobs.c.id == job_id, jobs.c.state.in_(list(TERMINAL)))
            )
            if gone.rowcount:
                next_rev(connection)
                made.append(Change(job_id, None))
            return bool(gone.rowcount)

    def rev(self) -> int:
        """See ``Store.rev``."""
        with self.reading() as connection:
            # One value needs no transaction.
            return int(driver_of(connection).execute(listing.REV).fetchone()[0])

    def page(self, query: Query, is_known: Callable[[int, int], bool] | None = None) -> Page:
        """See ``Store.page``."""
        with self.reading() as connection:
            return listing.page(connection, query, is_known)

    def counts(self) -> dict[str, int]:
        """See ``Store.counts``."""
        with self.reading() as connection:
            found = connection.execute(select(jobs.c.state, func.count()).group_by(jobs.c.state))
            return {state: int(n) for state, n in found}

    def core_seconds(self) -> dict[str | None, float]:
        """See ``Store.core_seconds``."""
        with self.reading() as connection:
            return tasks.core_seconds(connection)

    def record_usage(self, job_id: int, used: Used) -> None:
        """See ``Store.record_usage``."""
        with self.writing() as (connection, _):
            tasks.record_usage(connection, job_id, used)

    def check(self) -> str | None:
        """See ``Store.check``."""
        with self.reading() as connection:
            answer = str(connection.exec_driver_sql("PRAGMA quick_check(1)").scalar_one())
        return None if answer == "ok" else answer


def insert_job(connection: Connection, made: list[Change], job: NewJob) -> int:
    """Insert a job with everything that hangs on it; returns its id."""
    row = dict(job.row, rev=next_rev(connection))
    stored = dict(connection.execute(_INSERT_JOB, row).mappings().one())
    job_id = int(stored["id"])
    documents = job.documents
    connection.execute(
        insert(job_documents),
        {
            "job_id": job_id,
            "submission_json": encode(documents.submission),
            "prepared_json": encode(documents.prepared),
            "resources_json": encode(documents.resources),
            "results_json": encode(documents.results),
            "warnings_json": encode(list(documents.warnings)),
            "provenance_json": encode(documents.provenance),
        },
    )
    if job.after:
        connection.execute(
            insert(job_after), [{"job_id": job_id, "parent_id": p} for p in job.after]
        )
    if job.token is not None:
        connection.execute(
            insert(client_tokens),
            {"token": job.token, "job_id": job_id, "request_sha256": job.request_sha256},
        )
    if job.remote is not None:
        connection.execute(insert(remote_jobs), dict(job.remote, job_id=job_id))
    tasks.create(connection, job_id, job.tasks)
    line = record(connection, job_id, row["created_at"], (None, row["state"]), job.why, {})
    made.append(Change(job_id, stored, line))
    return job_id


def _row(connection: Connection, job_id: int) -> Row:
    found = connection.execute(single.ROW, {"id": job_id}).mappings().first()
    if found is None:
        raise NotFound(f"there is no job {job_id}", hint="`jobs.list` shows the jobs", field="id")
    return dict(found)


def _documents(connection: Connection, job_id: int) -> Documents:
    found = connection.execute(single.DOCUMENTS, {"id": job_id}).first()
    if found is None:
        raise NotFound(f"there is no job {job_id}", hint="`jobs.list` shows the jobs", field="id")
    return Documents(
        submission=json.loads(found.submission_json),
        prepared=json.loads(found.prepared_json),
        resources=json.loads(found.resources_json),
        results=json.loads(found.results_json),
        warnings=json.loads(found.warnings_json),
        provenance=json.loads(found.provenance_json),
    )


def _events(connection: Connection, job_id: int) -> list[Row]:
    found = connection.execute(single.EVENTS, {"id": job_id})
    return [dict(row, evidence=json.loads(row["evidence_json"])) for row in found.mappings()]


def _token_owner(connection: Connection, token: str, request_sha256: str) -> int | None:
    found = connection.execute(
        select(client_tokens.c.job_id, client_tokens.c.request_sha256).where(
            client_tokens.c.token == token
        )
    ).first()
    if found is None:
        return None
    if found.request_sha256 != request_sha256:
        raise Conflict(
            f"this token belongs to job {found.job_id}, which was another submission",
            hint="use a new token for every submission",
            field="client_token",
        )
    return int(found.job_id)
