"""Which job may go next: the questions that the pump asks, answered by the database.

Ten thousand waiting jobs cost an index look-up, not ten thousand rows.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import ColumnElement, Select, bindparam, exists, func, or_, select

from crystalmath.domain.states import TERMINAL, JobState
from crystalmath.storage.tables import job_after, job_documents, jobs

_parents = jobs.alias("parents")


def is_due(now: ColumnElement[float] | float) -> ColumnElement[bool]:
    """Whether a job's next try is due."""
    return or_(jobs.c.next_try_at.is_(None), jobs.c.next_try_at <= now)


def rows_in(
    states: Sequence[JobState],
    limit: int,
    after: int = 0,
    due: float | None = None,
    cluster: str | None = None,
) -> Select[tuple[object, ...]]:
    """The oldest rows of this machine or of a cluster in some states, behind a job, and due."""
    conditions = [jobs.c.state.in_(states), jobs.c.id > after, jobs.c.cluster == cluster]
    if due is not None:
        conditions.append(is_due(due))
    return select(jobs).where(*conditions).order_by(jobs.c.id).limit(limit)


STARTABLE = (
    select(jobs)
    .where(
        jobs.c.state == "STAGED",
        jobs.c.cluster.is_not_distinct_from(bindparam("cluster")),
        is_due(bindparam("now")),
        ~exists().where(
            job_after.c.job_id == jobs.c.id,
            _parents.c.id == job_after.c.parent_id,
            _parents.c.state != "COMPLETED",
        ),
    )
    .order_by(jobs.c.id)
    .limit(bindparam("n"))
)

DOOMED = (
    select(jobs.c.id, _parents.c.id, _parents.c.state)
    .where(
        jobs.c.state.in_(("CREATED", "STAGED")),
        job_after.c.job_id == jobs.c.id,
        _parents.c.id == job_after.c.parent_id,
        _parents.c.state.in_(("FAILED", "CANCELLED")),
    )
    .order_by(jobs.c.id)
)

WAITING_CHILD = (
    select(jobs.c.id)
    .where(
        jobs.c.state.in_(("CREATED", "STAGED")),
        job_after.c.job_id == jobs.c.id,
        job_after.c.parent_id == bindparam("id"),
        _parents.c.id == job_after.c.parent_id,
        _parents.c.state.in_(("FAILED", "CANCELLED")),
    )
    .limit(1)
)
"""A job that is about to fail with a parent; without the parent it would be startable."""

NEXT_TRY = select(func.min(jobs.c.next_try_at)).where(
    jobs.c.state.not_in(sorted(TERMINAL)), jobs.c.cluster.is_(None)
)


def asked(name: str) -> ColumnElement[int]:
    """A count of a job's resources; 1 where none is stored."""
    return func.coalesce(func.json_extract(job_documents.c.resources_json, f"$.{name}"), 1)
