"""The questions about one job, built once: building an expression costs more than running it."""

from __future__ import annotations

from sqlalchemy import BindParameter, bindparam, select

from crystalmath.storage.tables import job_after, job_documents, job_events, jobs

_ID: BindParameter[int] = bindparam("id")

ROW = select(jobs).where(jobs.c.id == _ID)

DOCUMENTS = select(job_documents).where(job_documents.c.job_id == _ID)

EVENTS = select(job_events).where(job_events.c.job_id == _ID).order_by(job_events.c.seq)

PARENTS = (
    select(job_after.c.parent_id).where(job_after.c.job_id == _ID).order_by(job_after.c.parent_id)
)
