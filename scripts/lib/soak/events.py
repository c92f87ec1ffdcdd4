"""A subscriber that never reads, while a hundred thousand changes are told (C4).

Three times: the changes are of few jobs, whose last states all wait for it; of more jobs than may
wait, so that it is told to read everything again; and it stays away for so long that the daemon
closes its connection. Meanwhile the daemon's memory stays bounded, another subscriber is told every
last state, and a third client's calls are answered at once.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Self

from rig import processes, telling
from rig.filled import fill
from rig.place import Place, RigError, wait_until
from rig.wire import Wire
from soak.outcome import Outcome, Progress, Say
from soak.subscriber import Subscriber

JOBS = 10_000
FEW = 100
WARM_UP = 2_000
MOST_AT_ONCE = 400
SMALL_BUFFER = 4096
PATIENCE_S = 60.0
MOST_GROWTH_BYTES = 16 * 1024 * 1024
MOST_PING_S = 0.1
"""Ten times what a call under load takes at most."""
LONG_S = 600.0
"""Nobody is closed for not reading while the first two parts go on."""


def run(
    count: int, seed: int, say: Say, *, hang_s: float = MOST_PING_S, unwritable_s: float = 30.0
) -> Outcome:
    """Tell ``count`` changes in each of the first two parts.

    Parameters
    ----------
    hang_s
        A call that takes longer is a problem.
    unwritable_s
        After so long without reading the daemon closes the connection.
    """
    rng = random.Random(seed)
    facts, problems = [], []
    with daemon({"CRYSTALMATH_DAEMON_UNWRITABLE_S": f"{LONG_S}"}) as place:
        for jobs in (FEW, JOBS):
            part = Part(place, rng, Progress(count, say), hang_s)
            part.run(count, jobs)
            facts.append(part.facts)
            problems += [f"{jobs} jobs: {problem}" for problem in part.problems]
        problems += place.tracebacks()
    with daemon({"CRYSTALMATH_DAEMON_UNWRITABLE_S": f"{unwritable_s}"}) as place:
        problems += stayed_away(place, unwritable_s)
        problems += place.tracebacks()
    return Outcome(f"{count} changes each: {'; '.join(facts)}", problems)


@contextmanager
def daemon(env: dict[str, str]) -> Iterator[Place]:
    """A daemon with many jobs that can be told to change them."""
    with Place(env) as place:
        fill(place.database, JOBS)
        place.foreground(program=telling.program(place.root))
        place.wait_ready()
        wait_until("the teller", telling.path_in(place.root).exists, place.patience_s)
        yield place


class Part:
    """Changes of some number of jobs, with one who never reads, one who reads and one who asks."""

    def __init__(self, place: Place, rng: random.Random, progress: Progress, hang_s: float) -> None:
        self._place = place
        self._rng = rng
        self._progress = progress
        self._hang_s = hang_s
        self._labels: dict[int, str] = {}
        self.problems: list[str] = []
        self.facts = ""

    def run(self, count: int, jobs: int) -> None:
        """Tell and look."""
        pid = self._place.pid()
        with telling.Teller(telling.path_in(self._place.root)) as teller:
            self._change(teller, WARM_UP, jobs)
            self._labels.clear()
            before = processes.resident_bytes(pid)
            with (
                Subscriber(self._place.socket, SMALL_BUFFER) as silent,
                Listening(self._place) as listening,
                Pinging(self._place) as pinging,
            ):
                silent.subscribe("jobs")
                begin = time.monotonic()
                self._change(teller, count, jobs)
                took_s = time.monotonic() - begin
                growth = processes.resident_bytes(pid) - before
                self._look_at(listening)
                told = self._read_up(silent)
            slowest_s = max(pinging.times)
        self._judge(jobs, growth, slowest_s, told)
        self.facts = (
            f"{jobs} jobs at {count / took_s:,.0f} a second, daemon +{growth / 1e6:.1f} MB, "
            f"slowest of {len(pinging.times)} pings {slowest_s * 1e3:.1f} ms"
        )

    def _change(self, teller: telling.Teller, count: int, jobs: int) -> None:
        """Change jobs in turn, some at once, each time with a new label."""
        done = 0
        while done < count:
            share = min(self._rng.randint(1, MOST_AT_ONCE), count - done, jobs)
            numbers = [1 + (done + n) % jobs for n in range(share)]
            label = f"{time.monotonic_ns():x}"
            teller.relabel(numbers, label)
            self._labels |= dict.fromkeys(numbers, label)
            done += share
            self._progress.at(done)

    def _look_at(self, listening: Listening) -> None:
        """Who reads has to be told the last state of every job."""
        try:
            wait_until("the last states", lambda: self._is_up_to_date(listening), PATIENCE_S)
        except RigError as error:
            self.problems.append(f"who reads was not told everything: {error}")

    def _is_up_to_date(self, listening: Listening) -> bool:
        return all(listening.labels.get(job) == label for job, label in self._labels.items())

    def _read_up(self, silent: Subscriber) -> list[dict[str, Any]]:
        """Everything that was kept for who did not read, up to the last change."""
        last = max(self._labels.values())
        told: list[dict[str, Any]] = []
        deadline = time.monotonic() + PATIENCE_S
        while not any(label_of(event) == last for event in told):
            if time.monotonic() > deadline:
                self.problems.append("who begins to read is not told the last change")
                break
            told += silent.next()
        return told

    def _judge(self, jobs: int, growth: int, slowest_s: float, told: list[dict[str, Any]]) -> None:
        if growth > MOST_GROWTH_BYTES:
            self.problems.append(f"the daemon grew by {growth / 1e6:.1f} MB")
        if slowest_s > self._hang_s:
            self.problems.append(f"a ping took {slowest_s * 1e3:.0f} ms")
        resyncs = [n for n, event in enumerate(told) if event["kind"] == "resync"]
        if jobs == FEW and resyncs:
            self.problems.append("few jobs are to be told as they are, and a resync came")
        if jobs > FEW and not resyncs:
            self.problems.append("more was lost than may wait, and no resync told so")
        known = listed(self._place) if resyncs else {}
        for event in told[max(resyncs, default=-1) + 1 :]:
            known[event["job"]["id"]] = label_of(event)
        wrong = sum(known.get(job) != label for job, label in self._labels.items())
        if wrong:
            self.problems.append(f"who begins to read does not learn the newest of {wrong} jobs")


def listed(place: Place) -> dict[int, str | None]:
    """The labels as a client reads them that was told to read again."""
    found: dict[int, str | None] = {}
    with Wire(place.socket) as wire:
        after = None
        while True:
            page = wire.call("jobs.list", {"limit": 1000, "after": after})
            found |= {job["id"]: job["tags"][-1] for job in page["data"]}
            after = page["meta"]["next"]
            if after is None:
                return found


class Listening(threading.Thread):
    """A subscriber that reads, on a thread of its own; a context manager."""

    def __init__(self, place: Place) -> None:
        super().__init__(daemon=True)
        self.labels: dict[int, str] = {}
        self._subscriber = Subscriber(place.socket)
        self._subscriber.subscribe("jobs")

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_exception: object) -> None:
        self._subscriber.shut()
        self.join()
        self._subscriber.sock.close()

    def run(self) -> None:
        """Read until the connection is shut."""
        try:
            while True:
                for event in self._subscriber.next():
                    if event["kind"] == "job":
                        self.labels[event["job"]["id"]] = label_of(event) or ""
        except OSError:
            return


class Pinging(threading.Thread):
    """A client that calls all the time, on a thread of its own; a context manager."""

    def __init__(self, place: Place) -> None:
        super().__init__(daemon=True)
        self.times: list[float] = []
        self._socket = place.socket
        self._stop_asked = threading.Event()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_exception: object) -> None:
        self._stop_asked.set()
        self.join()

    def run(self) -> None:
        """Call until told to stop."""
        with Wire(self._socket, PATIENCE_S) as wire:
            while not self._stop_asked.wait(0.005):
                begin = time.monotonic()
                wire.call("system.ping")
                self.times.append(time.monotonic() - begin)


def stayed_away(place: Place, unwritable_s: float) -> list[str]:
    """Who does not read for too long is closed, and told to read again when it comes back."""
    problems = []
    with (
        Subscriber(place.socket, SMALL_BUFFER) as silent,
        telling.Teller(telling.path_in(place.root)) as teller,
    ):
        first = silent.subscribe("jobs")
        begin = time.monotonic()
        for start in range(1, JOBS, MOST_AT_ONCE):
            teller.relabel(range(start, min(start + MOST_AT_ONCE, JOBS + 1)), f"away-{start}")
        wait_until("the end of who does not read", lambda: clients(place) == 1, PATIENCE_S)
        if time.monotonic() - begin < unwritable_s:
            problems.append(f"closed before it was unwritable for {unwritable_s:g} s")
    with Subscriber(place.socket) as back:
        back.subscribe("jobs", since=first["seq"], instance=first["instance"])
        if {"kind": "resync"} not in back.next():
            problems.append("who comes back after too much is not told to read again")
    return problems


def clients(place: Place) -> int:
    """How many connections there are, this one included."""
    with Wire(place.socket) as wire:
        return int(wire.call("system.status")["data"]["clients"])


def label_of(event: dict[str, Any]) -> str | None:
    """The label of the job that an event is about."""
    return str(event["job"]["tags"][-1]) if event["kind"] == "job" else None
