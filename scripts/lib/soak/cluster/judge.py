"""Whether each job ran as often as it should, came to the right end, and is one job for SLURM."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from rig.place import Place
from soak.cluster.desk import connect
from soak.cluster.jobs import EXIT, Ticket
from soak.database import unsound

ENDS = {
    "quick": ("COMPLETED",),
    "slow": ("COMPLETED",),
    "requeued": ("COMPLETED",),
    "failing": ("FAILED",),
    "cancelled": ("CANCELLED",),
}
TERMINAL = ("COMPLETED", "FAILED", "CANCELLED")


def has_ended(row: sqlite3.Row) -> bool:
    """Whether nothing more is to come: it has ended and its files were fetched."""
    return row["state"] in TERMINAL and bool(row["collected"])


def judge(ticket: Ticket, row: sqlite3.Row, runs: Path, data_dir: Path) -> list[str]:
    """Judge a job that has ended; its file of runs is removed afterwards."""
    file = runs / ticket.token
    ticket.lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
    found = [
        *_end(ticket, row),
        *_runs(ticket, row),
        *_attempt(ticket, row),
        *_files(ticket, row, data_dir),
    ]
    file.unlink(missing_ok=True)
    return [f"job {row['id']} ({ticket.token}): {problem}" for problem in found]


def _end(ticket: Ticket, row: sqlite3.Row) -> list[str]:
    if row["state"] not in ENDS[ticket.kind]:
        return [f"is {row['state']}, reason {row['reason']}: {row['message']}"]
    if ticket.kind == "failing" and row["reason"] != "crashed":
        return [f"FAILED with reason {row['reason']}, it left with exit code {EXIT}"]
    return []


def _runs(ticket: Ticket, row: sqlite3.Row) -> list[str]:
    """Its runs against the attempts that were wanted; each line is a job id and a restart."""
    lines = ticket.lines or []
    wanted = {f"{row['ident']} {n}" for n in range(ticket.requeues + 1)}
    last = f"{row['ident']} {ticket.requeues}"
    may_be_none = ticket.kind == "cancelled"
    if len(lines) != len(set(lines)) or not set(lines) <= wanted:
        return [f"its runs are {lines}, wanted are {sorted(wanted)}"]
    if last not in lines and not may_be_none:
        return [f"it never ran as {last}; its runs are {lines}"]
    return []


def _attempt(ticket: Ticket, row: sqlite3.Row) -> list[str]:
    if row["state"] == "COMPLETED" and row["attempt"] != ticket.requeues + 1:
        return [f"it ended at attempt {row['attempt']}, after {ticket.requeues} requeues"]
    return []


def _files(ticket: Ticket, row: sqlite3.Row, data_dir: Path) -> list[str]:
    """What it printed has come back whole."""
    if row["state"] == "CANCELLED":
        return []
    log = data_dir / "jobs" / row["uuid"] / "stdout.log"
    said = log.read_text(encoding="utf-8") if log.exists() else None
    return [] if said == f"{ticket.token}\n" else [f"its stdout.log here is {said!r}"]


def judge_all(
    place: Place, tickets: Sequence[Ticket], runs: Path, history: dict[str, set[str]]
) -> list[str]:
    """Judge the whole: the database, that no end has changed, and the accounting of SLURM."""
    with closing(connect(place)) as connection:
        problems = unsound(connection)
        lost = connection.execute("SELECT job_id FROM job_events WHERE to_state = 'LOST'")
        problems += [f"job {row['job_id']} was LOST for a time" for row in lost]
        rows = {row["id"]: row for row in connection.execute("SELECT * FROM jobs")}
    known = {ticket.job_id for ticket in tickets}
    if set(rows) != known:
        problems.append(f"{len(rows)} jobs of {len(tickets)} submissions")
    for ticket in tickets:
        row = rows.get(ticket.job_id)
        if row is None:
            problems.append(f"job {ticket.job_id} ({ticket.token}) was accepted and is lost")
            continue
        if ticket.lines is not None and row["state"] not in ENDS[ticket.kind]:
            problems.append(f"job {row['id']} ({ticket.token}) became {row['state']} afterwards")
        problems += _in_accounting(row, history)
    again = sorted(path.name for path in runs.iterdir())
    if again:
        problems.append(f"ran again after their end, or never ended: {again}")
    return problems


def _in_accounting(row: sqlite3.Row, history: dict[str, set[str]]) -> list[str]:
    key = "cm-" + row["uuid"].replace("-", "")[-12:]
    ids = {ident for name, some in history.items() if name.startswith(key) for ident in some}
    ours = set() if row["scheduler_id"] is None else {row["scheduler_id"]}
    # One that is cancelled before it could begin may be missing from a listing.
    fits = ids == ours or (row["state"] == "CANCELLED" and ids <= ours)
    if fits:
        return []
    return [f"job {row['id']} is job {sorted(ours)}; the accounting has {sorted(ids)} of {key}"]
