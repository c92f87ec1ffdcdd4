"""Whether the daemon's database is sound: its pages, its references, the history of each job."""

from __future__ import annotations

import sqlite3


def unsound(connection: sqlite3.Connection) -> list[str]:
    """What is wrong with a database; nothing when it is sound."""
    answer = connection.execute("PRAGMA integrity_check").fetchone()[0]
    problems = [] if answer == "ok" else [f"integrity_check: {answer}"]
    if connection.execute("PRAGMA foreign_key_check").fetchone():
        problems.append("foreign_key_check finds rows without their job")
    return problems + _broken_histories(connection)


def _broken_histories(connection: sqlite3.Connection) -> list[str]:
    """Jobs whose events do not lead from nothing to the present state."""
    query = (
        "SELECT e.job_id, e.from_state, e.to_state, j.state FROM job_events e "
        "JOIN jobs j ON j.id = e.job_id ORDER BY e.job_id, e.seq"
    )
    problems = []
    reached: dict[int, tuple[str | None, str]] = {}
    for job_id, old, new, now in connection.execute(query):
        was = reached.get(job_id, (None, now))[0]
        if was != old:
            problems.append(f"job {job_id}: an event leads from {old}, but it was {was}")
        reached[job_id] = (new, now)
    problems += [
        f"job {j} is {now}, its events end at {n}" for j, (n, now) in reached.items() if n != now
    ]
    return problems
