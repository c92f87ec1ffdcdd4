"""Clusters, the other side of jobs on them, and evidence: one transaction per method.

Uses the connections and the writer's lock of ``JobStore``, so that whoever listens to changes hears
all of them in the order of the commits.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, fields
from typing import Any, Final

from sqlalchemy import (
    ColumnElement,
    Connection,
    RowMapping,
    Select,
    delete,
    func,
    insert,
    or_,
    select,
    text,
    update,
)

from crystalmath.domain.evidence import Observation, filled
from crystalmath.domain.states import TERMINAL, JobState
from crystalmath.errors import Conflict, NotFound
from crystalmath.services.ports_cluster import (
    Cluster,
    ClusterChanges,
    ClusterRecord,
    JobChange,
    RemoteJob,
)
from crystalmath.services.ports_store import NewJob, Row
from crystalmath.services.ports_tasks import Account, TaskRecord
from crystalmath.storage import folding, queue, tasks
from crystalmath.storage.engine import driver_of
from crystalmath.storage.moves import apply_move, encode, write_columns
from crystalmath.storage.store import JobStore, insert_job
from crystalmath.storage.tables import clusters, evidence, jobs, remote_jobs

_POLL = text("UPDATE counters SET value = value + 1 WHERE name = 'poll' RETURNING value")
_EVIDENCE: Final = (
    "INSERT INTO evidence (job_id, source, seen_at, poll, phase, observation_json) "
    "VALUES (:job_id, :source, :seen_at, :poll, :phase, :observation_json)"
)
_AT_ONCE: Final = 500
"""Ids in one question: SQLite takes a limited number of variables."""
_UNFINISHED = jobs.c.state.not_in(sorted(TERMINAL))
_NOT_FETCHED = (jobs.c.state == "CANCELLED") & (remote_jobs.c.collected == 0)
_NOT_ACCOUNTED = (
    jobs.c.state.in_(sorted(TERMINAL))
    & jobs.c.finished_at.is_not(None)
    & remote_jobs.c.usage_asked_at.is_(None)
    & remote_jobs.c.scheduler_id.is_not(None)
)


class SqliteClusterStore:
    """Implements ``services.ports_cluster.ClusterStore``."""

    def __init__(self, store: JobStore, changes: ClusterChanges | None = None) -> None:
        self._store = store
        self._changes = changes
        self._telling = threading.Lock()

    def clusters(self) -> list[Cluster]:
        """See ``ClusterStore.clusters``."""
        with self._store.reading() as connection:
            found = connection.execute(select(clusters).order_by(clusters.c.name))
            return [_cluster(row) for row in found.mappings()]

    def cluster(self, wanted: int | str) -> Cluster:
        """See ``ClusterStore.cluster``."""
        with self._store.reading() as connection:
            return _one(connection, wanted)

    def create_cluster(self, record: ClusterRecord, now: float) -> Cluster:
        """See ``ClusterStore.create_cluster``."""
        values = {
            "name": record.name,
            "record_json": encode(asdict(record)),
            "created_at": now,
            "updated_at": now,
        }
        with self._committing() as (connection, told):
            _refuse_name(connection, record.name, None)
            stored = connection.execute(insert(clusters).values(values).returning(clusters))
            told.append(_cluster(stored.mappings().one()))
        return told[0]

    def change_cluster(self, cluster_id: int, record: ClusterRecord, now: float) -> Cluster:
        """See ``ClusterStore.change_cluster``."""
        values = {"name": record.name, "record_json": encode(asdict(record)), "updated_at": now}
        with self._committing() as (connection, told):
            before = _one(connection, cluster_id).record
            _refuse_name(connection, record.name, cluster_id)
            if record.name != before.name:
                _refuse_in_use(connection, before.name, "renamed")
            if record.kind != before.kind:
                _refuse_in_use(connection, before.name, "made another kind")
            connection.execute(update(clusters).where(clusters.c.id == cluster_id).values(values))
            told.append(_one(connection, cluster_id))
        return told[0]

    def delete_cluster(self, cluster_id: int) -> None:
        """See ``ClusterStore.delete_cluster``."""
        with self._telling:
            with self._store.writing() as (connection, _):
                before = _one(connection, cluster_id)
                _refuse_in_use(connection, before.record.name, "deleted")
                connection.execute(delete(clusters).where(clusters.c.id == cluster_id))
            if self._changes is not None:
                self._changes.removed(before)

    def set_health(self, cluster_id: int, **columns: object) -> None:
        """See ``ClusterStore.set_health``."""
        values = {
            ("probe_json" if name == "probe" else name): (
                encode(value) if name == "probe" else value
            )
            for name, value in columns.items()
        }
        changing = update(clusters).where(clusters.c.id == cluster_id).values(values)
        with self._committing() as (connection, told):
            rows = connection.execute(changing.returning(clusters)).mappings()
            told += [_cluster(row) for row in rows]

    @contextmanager
    def _committing(self) -> Iterator[tuple[Connection, list[Cluster]]]:
        """One transaction; what its body puts into the list is told when it is committed."""
        told: list[Cluster] = []
        # Held until it is told, so that the order is that of the commits.
        with self._telling:
            with self._store.writing() as (connection, _):
                yield connection, told
            if self._changes is not None:
                for cluster in told:
                    self._changes.changed(cluster)

    def busy_clusters(self) -> list[int]:
        """See ``ClusterStore.busy_clusters``."""
        wanted = (
            select(remote_jobs.c.cluster_id)
            .distinct()
            .where(
                remote_jobs.c.job_id == jobs.c.id, or_(_UNFINISHED, _NOT_FETCHED, _NOT_ACCOUNTED)
            )
        )
        with self._store.reading() as connection:
            return sorted(int(row.cluster_id) for row in connection.execute(wanted))

    def remote_rows(
        self,
        name: str,
        states: Iterable[JobState],
        *,
        due: float | None = None,
        after: int = 0,
        limit: int = 100_000,
    ) -> list[Row]:
        """See ``ClusterStore.remote_rows``."""
        return self._rows(queue.rows_in(list(states), limit, after, due, name))

    def rows_of(self, job_ids: Iterable[int]) -> list[Row]:
        """See ``ClusterStore.rows_of``."""
        ids = sorted(job_ids)
        found: list[Row] = []
        for at in range(0, len(ids), _AT_ONCE):
            found += self._rows(select(jobs).where(jobs.c.id.in_(ids[at : at + _AT_ONCE])))
        return found

    def tracked(self, name: str, states: Iterable[JobState]) -> dict[int, tuple[int, int | None]]:
        """See ``ClusterStore.tracked``."""
        wanted = select(jobs.c.id, jobs.c.rev, remote_jobs.c.scheduler_id).where(
            _of(name), jobs.c.state.in_(list(states))
        )
        with self._store.reading() as connection:
            found = connection.execute(wanted).fetchall()
            return {job: (rev, there) for job, rev, there in found}

    def _rows(self, wanted: Select[Any]) -> list[Row]:
        with self._store.reading() as connection:
            return [dict(row) for row in connection.execute(wanted).mappings()]

    def remote(self, job_id: int) -> RemoteJob:
        """See ``ClusterStore.remote``."""
        found = self.remotes([job_id]).get(job_id)
        if found is None:
            raise NotFound(f"job {job_id} is not on a cluster", field="id")
        return found

    def remotes(self, job_ids: Iterable[int]) -> dict[int, RemoteJob]:
        """See ``ClusterStore.remotes``."""
        ids = list(job_ids)
        found: dict[int, RemoteJob] = {}
        if not ids:
            return found
        with self._store.reading() as connection:
            for at in range(0, len(ids), _AT_ONCE):
                wanted = remote_jobs.c.job_id.in_(ids[at : at + _AT_ONCE])
                rows = connection.execute(select(remote_jobs).where(wanted)).mappings()
                found |= {int(row["job_id"]): _remote(row) for row in rows}
        return found

    def jobs_of(self, cluster_id: int, scheduler_ids: Iterable[int]) -> dict[int, int]:
        """See ``ClusterStore.jobs_of``."""
        ids = list(dict.fromkeys(scheduler_ids))
        found: dict[int, int] = {}
        if not ids:
            return found
        with self._store.reading() as connection:
            for at in range(0, len(ids), _AT_ONCE):
                wanted = (
                    select(remote_jobs.c.scheduler_id, func.max(remote_jobs.c.job_id))
                    .where(
                        remote_jobs.c.cluster_id == cluster_id,
                        remote_jobs.c.scheduler_id.in_(ids[at : at + _AT_ONCE]),
                    )
                    .group_by(remote_jobs.c.scheduler_id)
                )
                found |= {int(there): int(here) for there, here in connection.execute(wanted)}
        return found

    def ended_on_words(self, name: str, since: float, limit: int) -> list[Row]:
        """See ``ClusterStore.ended_on_words``."""
        on_words = (remote_jobs.c.rests_on_words == 1) & remote_jobs.c.scheduler_id.is_not(None)
        ended = jobs.c.state.in_(("FAILED", "CANCELLED")) & (jobs.c.finished_at >= since)
        wanted = select(jobs).where(_of(name), ended, on_words).order_by(jobs.c.id.desc())
        return self._rows(wanted.limit(limit))

    def uncollected(self, name: str, limit: int, due: float) -> list[Row]:
        """See ``ClusterStore.uncollected``."""
        wanted = select(jobs).where(_of(name), _NOT_FETCHED, queue.is_due(due))
        return self._rows(wanted.order_by(jobs.c.id).limit(limit))

    def evidence_of(self, job_ids: Iterable[int]) -> dict[int, list[Observation]]:
        """See ``ClusterStore.evidence_of``."""
        ids = list(job_ids)
        found: dict[int, list[Observation]] = {job_id: [] for job_id in ids}
        if not ids:
            return found
        with self._store.reading() as connection:
            for at in range(0, len(ids), _AT_ONCE):
                wanted = (
                    select(evidence.c.job_id, evidence.c.observation_json)
                    .where(evidence.c.job_id.in_(ids[at : at + _AT_ONCE]))
                    .order_by(evidence.c.seq)
                )
                for job_id, document in connection.execute(wanted):
                    found[int(job_id)].append(Observation(**json.loads(document)))
        return found

    def tasks_of(self, job_ids: Iterable[int]) -> dict[int, dict[int, TaskRecord]]:
        """See ``ClusterStore.tasks_of``."""
        ids = list(job_ids)
        found: dict[int, dict[int, TaskRecord]] = {}
        with self._store.reading() as connection:
            for at in range(0, len(ids), _AT_ONCE):
                found |= tasks.of_jobs(connection, ids[at : at + _AT_ONCE])
        return found

    def unaccounted(self, name: str, ended_before: float, limit: int) -> list[Row]:
        """See ``ClusterStore.unaccounted``."""
        wanted = select(jobs).where(_of(name), _NOT_ACCOUNTED, jobs.c.finished_at <= ended_before)
        return self._rows(wanted.order_by(jobs.c.id).limit(limit))

    def record_accounts(self, accounts: Mapping[int, Account], now: float) -> None:
        """See ``ClusterStore.record_accounts``."""
        with self._store.writing() as (connection, _):
            for job_id, account in accounts.items():
                _change_remote(connection, job_id, {"usage_asked_at": now})
                if account.used is not None:
                    tasks.record_usage(connection, job_id, account.used)
                tasks.change(connection, job_id, account.tasks)

    def fold_evidence(self, ended_before: float, limit: int) -> int:
        """See ``ClusterStore.fold_evidence``."""
        with self._store.writing() as (connection, _):
            return folding.fold(connection, ended_before, limit)

    def next_poll(self) -> int:
        """See ``ClusterStore.next_poll``."""
        with self._store.writing() as (connection, _):
            return int(connection.execute(_POLL).scalar_one())

    def commit(self, changes: Sequence[JobChange]) -> list[int]:
        """See ``ClusterStore.commit``."""
        done: list[int] = []
        with self._store.writing() as (connection, made):
            for change in changes:
                if not _moved(connection, made, change):
                    continue
                if change.remote:
                    _change_remote(connection, change.job_id, change.remote)
                tasks.change(connection, change.job_id, change.tasks)
                if change.evidence:
                    seen = [evidence_values(change.job_id, one) for one in change.evidence]
                    driver_of(connection).executemany(_EVIDENCE, seen)
                done.append(change.job_id)
        return done

    def insert_adopted(self, job: NewJob) -> int:
        """See ``ClusterStore.insert_adopted``."""
        remote = job.remote or {}
        with self._store.writing() as (connection, made):
            known = connection.execute(
                select(remote_jobs.c.job_id).where(
                    remote_jobs.c.cluster_id == remote["cluster_id"],
                    remote_jobs.c.scheduler_id == remote["scheduler_id"],
                    remote_jobs.c.job_id == jobs.c.id,
                    jobs.c.created_at >= remote["handed_over_at"] - 86_400.0,
                )
            ).scalar()
            if known is not None:
                raise Conflict(
                    f"this is job {known} already", hint="`jobs.get` shows it", field="job_id"
                )
            return insert_job(connection, made, job)


def _of(name: str) -> ColumnElement[bool]:
    """Jobs of a cluster, each beside its other side."""
    return (jobs.c.cluster == name) & (remote_jobs.c.job_id == jobs.c.id)


def _one(connection: Connection, wanted: int | str) -> Cluster:
    column = clusters.c.id if isinstance(wanted, int) else clusters.c.name
    found = connection.execute(select(clusters).where(column == wanted)).mappings().first()
    if found is None:
        raise NotFound(
            f"there is no cluster {wanted}", hint="`clusters.list` shows them", field="id"
        )
    return _cluster(found)


def _cluster(row: RowMapping) -> Cluster:
    stored = json.loads(row["record_json"])
    known = {f.name for f in fields(ClusterRecord)}
    values = {name: value for name, value in stored.items() if name in known}
    values["setup_commands"] = tuple(values.get("setup_commands", ()))
    return Cluster(
        id=int(row["id"]),
        record=ClusterRecord(**values),
        last_error=row["last_error"],
        unreachable_since=row["unreachable_since"],
        polled_at=row["polled_at"],
        probe=json.loads(row["probe_json"]),
    )


def _remote(row: RowMapping) -> RemoteJob:
    values: dict[str, Any] = {str(n): value for n, value in row.items() if n != "end_json"}
    for name in ("adopted", "rests_on_words", "collected"):
        values[name] = bool(values[name])
    return RemoteJob(**values, end=json.loads(row["end_json"]))


def _refuse_name(connection: Connection, name: str, but: int | None) -> None:
    other = connection.execute(
        select(clusters.c.id).where(clusters.c.name == name, clusters.c.id.is_distinct_from(but))
    ).scalar()
    if other is not None:
        raise Conflict(f"there is a cluster {name} already", field="name")


def _refuse_in_use(connection: Connection, name: str, what: str) -> None:
    using = _unfinished(connection, name, 10)
    if using:
        numbers = ", ".join(map(str, using))
        raise Conflict(
            f"{name} cannot be {what}: jobs that have not ended are on it: {numbers}",
            hint="cancel them, or wait for their end",
            field="id",
        )


def _unfinished(connection: Connection, name: str, limit: int) -> list[int]:
    wanted = (
        select(jobs.c.id)
        .where(jobs.c.cluster == name, _UNFINISHED)
        .order_by(jobs.c.id)
        .limit(limit)
    )
    return [int(row.id) for row in connection.execute(wanted)]


def _moved(connection: Connection, made: list[Any], change: JobChange) -> bool:
    for i, move in enumerate(change.moves):
        if not apply_move(connection, made, move):
            if i:
                raise RuntimeError(f"a move of job {change.job_id} did not follow the one before")
            return False
    return True


def _change_remote(connection: Connection, job_id: int, values: Mapping[str, Any]) -> None:
    stored = dict(values)
    if "end" in stored:
        stored["end_json"] = encode(stored.pop("end"))
    for name in ("adopted", "rests_on_words", "collected"):
        if name in stored:
            stored[name] = int(stored[name])
    write_columns(connection, "remote_jobs", job_id, stored)


def evidence_values(job_id: int, seen: Observation) -> dict[str, Any]:
    """An observation as it is stored."""
    return {
        "job_id": job_id,
        "source": seen.source,
        "seen_at": seen.seen_at,
        "poll": seen.poll,
        "phase": seen.phase,
        "observation_json": encode(filled(seen)),
    }
