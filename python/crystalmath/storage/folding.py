"""Old evidence becomes one line of a job's history. Used by ``clusters``."""

from __future__ import annotations

import json

from sqlalchemy import Connection, delete, func, insert, select

from crystalmath.domain.states import TERMINAL
from crystalmath.storage.tables import evidence, job_events, jobs


def fold(connection: Connection, ended_before: float, limit: int) -> int:
    """Fold the evidence of jobs that ended long ago; returns how many jobs there were."""
    counts = (
        select(
            evidence.c.job_id,
            jobs.c.state,
            func.count(),
            func.min(evidence.c.seen_at),
            func.max(evidence.c.seen_at),
        )
        .where(
            jobs.c.id == evidence.c.job_id,
            jobs.c.state.in_(sorted(TERMINAL)),
            jobs.c.finished_at < ended_before,
        )
        .group_by(evidence.c.job_id)
        .limit(limit)
    )
    found = connection.execute(counts).all()
    for job_id, state, n, first, last in found:
        mine = evidence.c.job_id == job_id
        by_source = connection.execute(
            select(evidence.c.source, func.count()).where(mine).group_by(evidence.c.source)
        )
        sources = {str(row[0]): int(row[1]) for row in by_source}
        told = {"rows": n, "first_at": first, "last_at": last, "sources": sources}
        connection.execute(
            insert(job_events),
            {
                "job_id": job_id,
                "at": last,
                "from_state": state,
                "to_state": state,
                "why": f"{n} observations of it were folded into this line",
                "evidence_json": json.dumps(told),
            },
        )
        connection.execute(delete(evidence).where(mine))
    return len(found)
