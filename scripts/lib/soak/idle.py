"""Clients that come just when an idle daemon is leaving: none of their calls fails.

Each client connects, calls, goes, and comes back after a time around the idle timeout: while the
daemon is there, while it leaves, when it is gone. A connection that is taken must be answered; when
nobody listens, the client starts the daemon, as every client does. Several places at once, because
most of the time is waiting.
"""

from __future__ import annotations

import random
import threading
import time
from collections import Counter
from collections.abc import Iterator

from crystalmath.client import Client
from crystalmath.errors import CrystalMathError
from rig.place import Place
from rig.wire import RpcError, Wire
from soak.outcome import Outcome, Progress, Say

IDLE_S = 1.0
LEAVING_S = 0.25
"""How long the exit may take: half of all phases are within it."""
PLACES = 4
CALL_S = 30.0
START_S = 120.0
"""A start takes seconds where other tests run beside it."""


def run(count: int, seed: int, say: Say) -> Outcome:
    """Come back at ``count`` moments around the idle exit."""
    progress = Progress(count, say)
    visitors = [Visitor(random.Random(f"{seed}/{n}")) for n in range(min(PLACES, count))]
    shares = [len(range(n, count, len(visitors))) for n in range(len(visitors))]
    threads = [
        threading.Thread(target=visitor.run, args=(share,))
        for visitor, share in zip(visitors, shares, strict=True)
    ]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        for thread in threads:
            thread.join(0.2)
        progress.at(sum(sum(visitor.counts.values()) for visitor in visitors))
    total = sum((visitor.counts for visitor in visitors), Counter[str]())
    words = ", ".join(f"{n} {what}" for what, n in sorted(total.items()))
    problems = [problem for visitor in visitors for problem in visitor.problems]
    if not problems and sum(total.values()) != count:
        problems.append("not every phase was visited")
    return Outcome(f"{count} phases: {words}", problems)


class Visitor:
    """A client of a daemon of its own."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self.counts: Counter[str] = Counter()
        self.problems: list[str] = []

    def run(self, visits: int) -> None:
        """Visit the daemon so many times."""
        with Place({"CRYSTALMATH_DAEMON_IDLE_TIMEOUT_S": str(IDLE_S)}) as place:
            instance = self._start(place)
            for phase_s in self._phases(visits):
                time.sleep(phase_s)
                instance = self._visit(place, instance, phase_s)
            self.problems += place.tracebacks()

    def _phases(self, visits: int) -> Iterator[float]:
        for _ in range(visits):
            around = self._rng.random() < 0.5
            low, high = (IDLE_S, IDLE_S + LEAVING_S) if around else (0.0, 1.5 * IDLE_S)
            yield self._rng.uniform(low, high)

    def _visit(self, place: Place, last: str, phase_s: float) -> str:
        """Come back once; returns the instance that answered."""
        try:
            with Wire(place.socket, CALL_S) as wire:
                instance = str(wire.call("system.hello")["data"]["instance"])
                wire.call("jobs.list", {"limit": 1})
            self.counts["answered at once"] += 1
            if instance != last:
                self.problems.append(f"after {phase_s:.4f} s: another instance, started by nobody")
        except (FileNotFoundError, ConnectionRefusedError):
            instance = self._start(place)
            self.counts["started anew"] += 1
            if instance == last:
                self.counts["put back in time"] += 1
                self.counts["started anew"] -= 1
        except (OSError, RpcError) as error:
            self.problems.append(f"after {phase_s:.4f} s: {type(error).__name__}: {error}")
            self.counts["failed"] += 1
            instance = self._start(place)
        return instance

    def _start(self, place: Place) -> str:
        """Call through the client that starts the daemon."""
        try:
            with Client(env=place.env, start_timeout_s=START_S) as client:
                client.call("jobs.list", limit=1)
                return str(client.server["instance"])
        except CrystalMathError as error:
            self.problems.append(f"{type(error).__name__}: {error}{place.log_tail(5)}")
            return ""
