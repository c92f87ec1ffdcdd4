"""The judgement of the kill run finds what it is there to find."""

from __future__ import annotations

import sqlite3
from typing import Any

import pytest

from soak import database, kill
from soak.load import Ticket


def row(job_id: int, name: str, state: str) -> Any:
    connection = sqlite3.connect(":memory:")
    connection.row_factory = sqlite3.Row
    query = "SELECT ? id, ? name, ? state, NULL reason, NULL message"
    found = connection.execute(query, (job_id, name, state)).fetchone()
    connection.close()
    return found


def ticket(*, cancel_asked: bool = False) -> Ticket:
    return Ticket("a", 0.0, job_id=1, cancel_asked=cancel_asked)


@pytest.mark.parametrize(
    ("state", "lines", "cancel_asked"),
    [
        ("COMPLETED", 2, False),
        ("COMPLETED", 0, False),
        ("CANCELLED", 2, True),
        ("CANCELLED", 0, False),
        ("FAILED", 1, True),
        ("RUNNING", 1, False),
    ],
)
def test_a_wrong_end_is_a_problem(state: str, lines: int, cancel_asked: bool) -> None:
    problems = kill._judge_job(row(1, "a", state), ticket(cancel_asked=cancel_asked), lines)
    assert len(problems) == 1


@pytest.mark.parametrize(
    ("state", "lines", "cancel_asked"),
    [
        ("COMPLETED", 1, False),
        ("COMPLETED", 1, True),
        ("CANCELLED", 0, True),
        ("CANCELLED", 1, True),
    ],
)
def test_a_right_end_is_none(state: str, lines: int, cancel_asked: bool) -> None:
    assert kill._judge_job(row(1, "a", state), ticket(cancel_asked=cancel_asked), lines) == []


def test_lost_and_doubled_jobs_are_problems() -> None:
    good = row(1, "a", "COMPLETED")
    assert kill._compare({1: good}, [ticket()]) == []
    assert "lost" in kill._compare({}, [ticket()])[0]
    assert "twice" in kill._compare({1: good, 2: row(2, "a", "COMPLETED")}, [ticket()])[0]


@pytest.mark.parametrize(
    ("events", "state", "broken"),
    [
        ([(None, "CREATED"), ("CREATED", "STAGED")], "STAGED", 0),
        ([(None, "CREATED"), ("STAGED", "SUBMITTED")], "SUBMITTED", 1),
        ([(None, "CREATED")], "STAGED", 1),
    ],
)
def test_gaps_in_a_history_are_problems(
    events: list[tuple[str | None, str]], state: str, broken: int
) -> None:
    connection = sqlite3.connect(":memory:")
    connection.executescript(
        "CREATE TABLE jobs (id INTEGER, state TEXT);"
        "CREATE TABLE job_events (seq INTEGER PRIMARY KEY, job_id, from_state, to_state);"
    )
    connection.execute("INSERT INTO jobs VALUES (1, ?)", (state,))
    connection.executemany(
        "INSERT INTO job_events (job_id, from_state, to_state) VALUES (1, ?, ?)", events
    )
    found = database._broken_histories(connection)
    connection.close()
    assert len(found) == broken
