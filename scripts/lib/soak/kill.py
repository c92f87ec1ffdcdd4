"""kill -9 of the daemon at random moments under load, and the daemon comes back each time.

At the end every accepted job is there, each program has run once (a cancelled one at most once),
each job's history is unbroken and the database passes its integrity check. The daemon is killed
while it serves, and while it starts.
"""

from __future__ import annotations

import json
import random
import sqlite3
import subprocess
import threading
import time
from collections import Counter
from contextlib import closing
from pathlib import Path

from rig import processes
from rig.place import POLL_S, Place, RigError, wait_until
from rig.wire import Wire
from soak.database import unsound
from soak.load import Client, Ticket
from soak.outcome import Outcome, Progress, Say

CLIENTS = 3
SLOTS = 4
STARTING_S = 1.0
SERVING_S = 2.0
SHARE_STARTING = 0.25
"""Share of the kills that hit a process somewhere between its birth and its first second."""
SHARE_APPEARED = 0.25
"""Share of those that hit a daemon within a second of its appearance, ready or not."""
NEXT_DAEMON_S = 60.0
SETTLE_S = 300.0


def run(count: int, seed: int, say: Say) -> Outcome:
    """Kill the daemon ``count`` times."""
    rng = random.Random(seed)
    with Place({"CRYSTALMATH_JOBS_MAX_CONCURRENT": str(SLOTS)}) as place:
        runs = place.root / "runs"
        runs.mkdir()
        starting = threading.Lock()
        load = [
            Client(place, f"c{n}", random.Random(f"{seed}/{n}"), runs, starting)
            for n in range(CLIENTS)
        ]
        stop = threading.Event()
        threads = [threading.Thread(target=client.run, args=(stop,)) for client in load]
        for thread in threads:
            thread.start()
        try:
            kinds = _kill_repeatedly(place, count, rng, Progress(count, say))
        finally:
            stop.set()
            for thread in threads:
                thread.join()
        problems = [problem for client in load for problem in client.problems]
        problems += _settle(place, load)
        tickets = [ticket for client in load for ticket in client.tickets]
        problems += _judge(place, runs, tickets)
        problems += place.tracebacks()
    total = sum((client.counts for client in load), Counter[str]())
    words = ", ".join(f"{n} {what}" for what, n in sorted((total + kinds).items()))
    return Outcome(f"{count} kills, {len(tickets)} jobs; {words}", problems)


# --- killing ---------------------------------------------------------------------------------


def _kill_repeatedly(
    place: Place, count: int, rng: random.Random, progress: Progress
) -> Counter[str]:
    kinds: Counter[str] = Counter()
    while kinds.total() < count:
        choice = rng.random()
        if choice < SHARE_STARTING:
            kinds["killed at its start"] += _kill_starting(place, rng.uniform(0, STARTING_S))
        elif choice < SHARE_STARTING + SHARE_APPEARED:
            _kill_next(place, rng.uniform(0, STARTING_S), when_ready=False)
            kinds["killed on appearance"] += 1
        else:
            _kill_next(place, rng.uniform(0, SERVING_S), when_ready=True)
            kinds["killed in service"] += 1
        progress.at(kinds.total())
    return kinds


def _kill_next(place: Place, life_s: float, *, when_ready: bool) -> None:
    """Wait for a daemon that the clients have started, let it live a while, and kill it."""
    found: list[int] = []

    def appeared() -> bool:
        found[:] = _daemon(place)
        return bool(found) and (not when_ready or place.is_ready())

    wait_until("a daemon that the clients start", appeared, NEXT_DAEMON_S)
    time.sleep(life_s)
    place.kill(found[0])


def _daemon(place: Place) -> list[int]:
    """The pid in ``server.json``, if that process lives and belongs to this place."""
    try:
        pid = int(json.loads((place.data_dir / "server.json").read_bytes())["pid"])
    except (OSError, ValueError, KeyError):
        return []
    command = processes.command_of_place(pid, place.root)
    return [pid] if command is not None and "supervisor" not in command else []


def _kill_starting(place: Place, life_s: float) -> int:
    """Start a daemon ourselves and kill it soon after its birth; 0 when there was one already."""
    child = place.foreground()
    try:
        child.wait(life_s)
    except subprocess.TimeoutExpired:
        return 1
    else:
        return 0
    finally:
        place.forget(child)


# --- judging ---------------------------------------------------------------------------------


def _settle(place: Place, load: list[Client]) -> list[str]:
    """Let the daemon live, ask again for every open submission, wait until all jobs have ended."""
    problems = []
    try:
        place.start()
        for client in load:
            for ticket in client.open_tickets():
                client.submit_again(ticket)
            client.hang_up()
        wait_until("the end of every job", lambda: _unfinished(place) == 0, SETTLE_S)
        place.stop()
    except RigError as error:
        problems.append(str(error))
        problems.append(f"not ended: {_states(place)}")
    return problems


def _unfinished(place: Place) -> int:
    time.sleep(20 * POLL_S)
    with Wire(place.socket) as wire:
        return int(wire.call("system.status")["data"]["live_local_jobs"])


def _states(place: Place) -> dict[str, int]:
    with closing(sqlite3.connect(place.database)) as connection:
        return dict(connection.execute("SELECT state, count(*) FROM jobs GROUP BY state"))


def _judge(place: Place, runs: Path, tickets: list[Ticket]) -> list[str]:
    """Compare what was accepted with what the database and the programs' own files say."""
    with closing(sqlite3.connect(place.database)) as connection:
        connection.row_factory = sqlite3.Row
        problems = unsound(connection)
        rows = {int(row["id"]): row for row in connection.execute("SELECT * FROM jobs")}
    problems += _compare(rows, tickets)
    for ticket in tickets:
        row = rows.get(ticket.job_id or 0)
        if row is not None:
            problems += _judge_job(row, ticket, _lines(runs / ticket.token))
    known = {row["uuid"] for row in rows.values()}
    strays = [path.name for path in (place.data_dir / "jobs").iterdir() if path.name not in known]
    if strays:
        problems.append(f"directories without a job: {strays}")
    return problems


def _compare(rows: dict[int, sqlite3.Row], tickets: list[Ticket]) -> list[str]:
    problems = []
    for ticket in tickets:
        if ticket.job_id not in rows:
            problems.append(f"job {ticket.job_id} ({ticket.token}) was accepted and is lost")
        elif rows[ticket.job_id]["name"] != ticket.token:
            problems.append(f"job {ticket.job_id} is not the one of {ticket.token}")
    twice = [n for n, k in Counter(row["name"] for row in rows.values()).items() if k > 1]
    if twice or len(rows) != len(tickets):
        problems.append(f"{len(rows)} jobs of {len(tickets)} submissions; recorded twice: {twice}")
    return problems


def _judge_job(row: sqlite3.Row, ticket: Ticket, lines: int) -> list[str]:
    state, name = row["state"], f"job {row['id']} ({ticket.token})"
    if lines > 1:
        return [f"{name} ran {lines} times"]
    if state == "COMPLETED":
        return [] if lines == 1 else [f"{name} is COMPLETED and never ran"]
    if state == "CANCELLED" and ticket.cancel_asked:
        return []
    return [f"{name} is {state}, reason {row['reason']}: {row['message']}; it ran {lines} times"]


def _lines(file: Path) -> int:
    return len(file.read_bytes().splitlines()) if file.exists() else 0
