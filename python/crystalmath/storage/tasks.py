"""Tasks of job arrays and usage of jobs: their rows. Used by ``store`` and ``clusters``."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from sqlalchemy import Connection, RowMapping, case, func, insert, select, update
from sqlalchemy.dialects.sqlite import insert as upsert

from crystalmath.services.ports_tasks import TaskRecord, Used
from crystalmath.storage.queue import asked
from crystalmath.storage.tables import job_documents, job_tasks, job_usage, jobs


def create(connection: Connection, job_id: int, tasks: Sequence[int]) -> None:
    """The tasks of a new array."""
    if tasks:
        connection.execute(insert(job_tasks), [{"job_id": job_id, "task": n} for n in tasks])


def of_jobs(connection: Connection, job_ids: Sequence[int]) -> dict[int, dict[int, TaskRecord]]:
    """The tasks of jobs, by number; a job without tasks is left out."""
    found: dict[int, dict[int, TaskRecord]] = {}
    wanted = select(job_tasks).where(job_tasks.c.job_id.in_(job_ids)).order_by(job_tasks.c.task)
    for row in connection.execute(wanted).mappings():
        found.setdefault(int(row["job_id"]), {})[int(row["task"])] = _record(row)
    return found


def change(connection: Connection, job_id: int, changes: Mapping[int, Mapping[str, Any]]) -> None:
    """Set columns of tasks."""
    for task, values in changes.items():
        stored = dict(values)
        if "end" in stored:
            stored["end_json"] = json.dumps(stored.pop("end"), separators=(",", ":"))
        one = (job_tasks.c.job_id == job_id) & (job_tasks.c.task == task)
        connection.execute(update(job_tasks).where(one).values(stored))


def record_usage(connection: Connection, job_id: int, used: Used) -> None:
    """What a job used; a later word replaces an earlier one."""
    values = asdict(used)
    statement = upsert(job_usage).values(job_id=job_id, **values)
    connection.execute(statement.on_conflict_do_update(index_elements=["job_id"], set_=values))


def usage_of(connection: Connection, job_id: int) -> Used | None:
    """What a job used, where that is known."""
    wanted = select(job_usage).where(job_usage.c.job_id == job_id)
    row = connection.execute(wanted).mappings().first()
    return None if row is None else Used(**{n: v for n, v in row.items() if n != "job_id"})


def core_seconds(connection: Connection) -> dict[str | None, float]:
    """Core-seconds by cluster (None: this machine).

    Where nothing is accounted the time from start to end counts, with the cores asked for.
    """
    estimate = (jobs.c.finished_at - jobs.c.started_at) * asked("ntasks") * asked("cpus_per_task")
    known = func.coalesce(job_usage.c.core_s, case((estimate > 0, estimate), else_=0.0))
    joined = jobs.join(job_documents, job_documents.c.job_id == jobs.c.id).outerjoin(
        job_usage, job_usage.c.job_id == jobs.c.id
    )
    found = connection.execute(
        select(jobs.c.cluster, func.sum(known)).select_from(joined).group_by(jobs.c.cluster)
    )
    return {cluster: float(total or 0.0) for cluster, total in found}


def _record(row: RowMapping) -> TaskRecord:
    values: dict[str, Any] = {
        str(n): value for n, value in row.items() if n not in ("job_id", "end_json")
    }
    for name in ("cancel_asked", "rests_on_words"):
        values[name] = bool(values[name])
    return TaskRecord(**values, end=json.loads(row["end_json"]))
