"""``stop && start`` again and again under load: nothing is lost, nothing is left behind.

Every call of the load gets a result, an error that says retryable, or a connection that ends or is
not there; each of these a client may try again. A connection that ends must not have swallowed an
answer: every job in the database was reported to the client that submitted it.
"""

from __future__ import annotations

import random
import sqlite3
import threading
import time
from collections import Counter
from contextlib import closing

from rig import processes
from rig.place import Place
from rig.wire import RpcError, Wire
from soak.outcome import Outcome, Progress, Say

CLIENTS = 3
CALL_S = 20.0
CALLS: tuple[tuple[str, dict[str, object]], ...] = (
    ("system.ping", {}),
    ("jobs.list", {"limit": 200}),
    ("jobs.submit", {"code": "command", "inputs": {"argv": ["true"]}}),
    ("jobs.list", {"state": "RUNNING"}),
)
SUBMITS_PER_CLIENT = 150


def run(count: int, seed: int, say: Say) -> Outcome:
    """Stop and start the daemon ``count`` times while clients call it."""
    progress = Progress(count, say)
    with Place() as place:
        place.start()
        load = [Caller(place, f"c{n}", random.Random(f"{seed}/{n}")) for n in range(CLIENTS)]
        stop = threading.Event()
        threads = [threading.Thread(target=caller.run, args=(stop,)) for caller in load]
        for thread in threads:
            thread.start()
        problems = []
        try:
            for n in range(count):
                old = place.pid()
                place.stop()
                if processes.is_running(old):
                    problems.append(f"round {n}: the daemon {old} runs although stop has returned")
                if place.start() == old:
                    problems.append(f"round {n}: start has started nothing")
                progress.at(n)
        finally:
            stop.set()
            for thread in threads:
                thread.join()
        place.stop()
        problems += [problem for caller in load for problem in caller.problems]
        problems += _left_behind(place)
        problems += _unreported(place, {name for caller in load for name in caller.submitted})
    total = sum((caller.counts for caller in load), Counter[str]())
    words = ", ".join(f"{n} {what}" for what, n in sorted(total.items()))
    if not total["answered"]:
        problems.append("no call was answered: there was no load")
    return Outcome(f"{count} rounds; calls: {words}", problems)


class Caller:
    """A client that calls as fast as it can and notes how each call ended."""

    def __init__(self, place: Place, name: str, rng: random.Random) -> None:
        self._place = place
        self._name = name
        self._rng = rng
        self._submits = 0
        self.submitted: set[str] = set()
        self.counts: Counter[str] = Counter()
        self.problems: list[str] = []

    def run(self, stop: threading.Event) -> None:
        """Call until told to stop."""
        while not stop.is_set():
            try:
                with Wire(self._place.socket, CALL_S) as wire:
                    while not stop.is_set():
                        self._call(wire)
            except (FileNotFoundError, ConnectionRefusedError):
                self.counts["not connected"] += 1
                stop.wait(0.005)
            except TimeoutError:
                self.problems.append(f"a call was not answered within {CALL_S:g} s")
            except OSError:
                self.counts["cut off"] += 1

    def _call(self, wire: Wire) -> None:
        method, params = self._rng.choice(CALLS)
        name = f"{self._name}-{self._submits}"
        if method == "jobs.submit":
            self._submits += 1
            if self._submits > SUBMITS_PER_CLIENT:
                return
            params = {**params, "name": name}
        begin = time.monotonic()
        try:
            wire.call(method, params)
            self.counts["answered"] += 1
            if method == "jobs.submit":
                self.submitted.add(name)
        except RpcError as error:
            if error.retryable:
                self.counts["refused, retryable"] += 1
            else:
                took_s = time.monotonic() - begin
                self.problems.append(f"{method} failed after {took_s:.2f} s: {error} {error.data}")


def _left_behind(place: Place) -> list[str]:
    """What must be gone after a stop; lock files stay, and so do jobs that run."""
    problems = []
    allowed = {"s.lock", "s.start.lock", "data", ".local"}
    names = {path.name for path in place.root.iterdir()} - allowed
    if names:
        problems.append(f"left beside the socket: {sorted(names)}")
    if (place.data_dir / "server.json").exists():
        problems.append("server.json is left")
    odd = [p.name for p in place.data_dir.iterdir() if p.name.startswith(".server-")]
    if odd:
        problems.append(f"left in the data directory: {odd}")
    daemons = [c for c in processes.of_place(place.root).values() if "supervis" not in c]
    daemons = [c for c in daemons if c and "crystalmath" in c]
    if daemons:
        problems.append(f"processes are left: {daemons}")
    return problems


def _unreported(place: Place, reported: set[str]) -> list[str]:
    """Jobs whose acceptance was never told, and jobs that were accepted and are not there."""
    with closing(sqlite3.connect(place.database)) as connection:
        recorded = {name for (name,) in connection.execute("SELECT name FROM jobs")}
    problems = [f"{name} was recorded and never reported" for name in sorted(recorded - reported)]
    return problems + [f"{name} was reported and is lost" for name in sorted(reported - recorded)]
