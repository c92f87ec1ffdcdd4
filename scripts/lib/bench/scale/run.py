"""10,000 jobs on ten clusters: what following them costs, and what others notice of it.

Real: the daemon, its lanes, its database, the shells and the wire. Scripted: SLURM, whose commands
answer from a table (``rig.scheduler``). Takes about four minutes, whatever the number of rounds.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from bench.measure import Ledger, Target, timed
from bench.scale.log import QUERIES, SUBMISSIONS, counts, lateness_s, over_budget
from bench.scale.parse import parse_times
from rig import processes
from rig.filled import fill
from rig.live import Site, fill_live, make_sites
from rig.place import Place, RigError, wait_until
from rig.wire import Wire

CLUSTERS, JOBS_EACH, RUNNING_EACH = 10, 1_000, 500
POLL_S = 30.0
CHANGES = 5
"""Jobs of each cluster that begin to run from one poll to the next."""
BURST = 100
SUBMITTED = 100
SETTLE_S = 10.0
IDLE_S = 30.0
LISTS_EVERY_S = 0.1
PATIENCE_S = 180.0
QUERY_BUDGET = {"size": 30, "refill_per_min": 10}
SUBMIT_BUDGET = {"size": 100, "refill_per_min": 30}
LISTS, LISTS_HANGING = "jobs.list of 200", "jobs.list of 200, one cluster hangs"
LATE, LATE_HANGING = "polls, later than planned", "polls, later than planned, one cluster hangs"
HANDLED, PARSED = f"a poll in which {BURST} jobs changed", "reading 1,000 rows of squeue"


def run(ledger: Ledger, rounds: int) -> list[Target]:  # noqa: ARG001 - it takes its time
    """Measure; returns the targets."""
    ledger.add(PARSED, parse_times(JOBS_EACH))
    targets = [_idle(), Target(f"{PARSED}, p50, ms", 10, ledger.row(PARSED).p50_us / 1000)]
    with _daemon() as (place, sites):
        return targets + Following(ledger, place, sites).measure()


def _idle() -> Target:
    """What a daemon costs that has nothing to follow."""
    with Place() as place:
        fill(place.database, CLUSTERS * JOBS_EACH)
        place.foreground()
        pid = place.wait_ready()
        time.sleep(SETTLE_S)
        share = _cpu_share(pid, IDLE_S)
    return Target("CPU with nothing live, % of a core", 0.1, 100 * share)


@contextmanager
def _daemon() -> Iterator[tuple[Place, list[Site]]]:
    with Place() as place:
        sites = make_sites(
            place.root / "clusters",
            CLUSTERS,
            JOBS_EACH,
            RUNNING_EACH,
            min_poll_s=POLL_S,
            query_budget=QUERY_BUDGET,
            submit_budget=SUBMIT_BUDGET,
        )
        fill_live(place.database, sites)
        for site in sites:
            site.scheduler.let_start(CHANGES)
        place.foreground()
        place.wait_ready()
        yield place, sites


def _cpu_share(pid: int, seconds: float) -> float:
    """Processor time of the daemon's own threads, over the time that passes."""
    begin, before = time.monotonic(), processes.cpu_s(pid)
    time.sleep(seconds)
    return (processes.cpu_s(pid) - before) / (time.monotonic() - begin)


class Following:
    """A daemon that follows the jobs of all clusters."""

    def __init__(self, ledger: Ledger, place: Place, sites: list[Site]) -> None:
        self._ledger = ledger
        self._place = place
        self._sites = sites
        self._pid = place.pid()

    def measure(self) -> list[Target]:
        """All of it, one after the other."""
        wait_until("a first poll of every cluster", lambda: self._polled(1), PATIENCE_S)
        time.sleep(SETTLE_S)
        calm_since = time.time()
        calm = _cpu_share(self._pid, 2 * POLL_S)
        ticks = self._asked_within(calm_since, calm_since + 2 * POLL_S)
        self._list(LISTS)
        calm_until = time.time()
        hanging_since = self._hang()
        hanging = _cpu_share(self._pid, POLL_S)
        self._list(LISTS_HANGING)
        self._late(LATE, self._sites, calm_since, calm_until)
        self._late(LATE_HANGING, self._sites[1:], hanging_since, time.time())
        self._sites[0].scheduler.hang(on=False)
        self._burst()
        waited_s, taken_s = self._submit(self._sites[1])
        return [
            Target("CPU, 10,000 live jobs, % of a core", 10, 100 * calm),
            Target("CPU while one cluster hangs, % of a core", 10, 100 * hanging),
            Target("squeue of a cluster in two intervals, most", 2, max(ticks)),
            Target("squeue of a cluster in two intervals, least", 2, min(ticks), least=True),
            *self._figures(),
            Target(f"longest wait for a poll beside {SUBMITTED} submissions, s", POLL_S + 10.0,
                   waited_s, provisional=True),
            Target(f"{SUBMITTED} submissions at once, a second", None, SUBMITTED / taken_s),
            *self._budgets(),
            Target("resident memory at its peak, MB", 300, processes.peak_bytes(self._pid) / 1e6),
            Target("unexpected errors in the log", 0, len(self._place.tracebacks())),
        ]  # fmt: skip

    def _figures(self) -> list[Target]:
        row = self._ledger.row
        listed, beside = row(LISTS).p95_us / 1000, row(LISTS_HANGING).p95_us / 1000
        late, hung = row(LATE).p95_us / 1e6, row(LATE_HANGING).p95_us / 1e6
        return [
            Target(f"{HANDLED}, p50, ms", 100, row(HANDLED).p50_us / 1000),
            Target(f"{LISTS}, p95, ms", 10, listed),
            Target(f"{LISTS_HANGING}, p95, ms", 10, beside),
            Target("poll later than planned, p95, s", 1, late, provisional=True),
            Target("one cluster hangs: later by, p95 of the others, s", 1, hung - late),
        ]

    def _polled(self, times: int) -> bool:
        return all(len(site.scheduler.answered()) >= times for site in self._sites)

    def _asked_within(self, since: float, until: float) -> list[int]:
        return counts([site.scheduler.asked("squeue") for site in self._sites], since, until)

    def _list(self, name: str) -> None:
        """List jobs for one interval, so that every cluster is polled once meanwhile."""
        until = time.monotonic() + POLL_S
        samples: list[float] = []
        with Wire(self._place.socket) as wire:
            wire.call("jobs.list")
            while time.monotonic() < until:
                samples += timed(lambda: wire.call_unread("jobs.list"), 1)
                time.sleep(LISTS_EVERY_S)
        self._ledger.add(name, samples)

    def _hang(self) -> float:
        """Let the first cluster give no answer any more; returns when that has begun."""
        scheduler = self._sites[0].scheduler
        scheduler.hang(on=True)

        def hangs() -> bool:
            return len(scheduler.asked("squeue")) > len(scheduler.answered())

        wait_until("a poll of the cluster that hangs", hangs, PATIENCE_S)
        return time.time()

    def _late(self, name: str, sites: list[Site], since: float, until: float) -> None:
        asked = [site.scheduler.asked("squeue") for site in sites]
        late = [s for times in asked for s in lateness_s(times, POLL_S, since, until)]
        if not late:
            raise RigError("no cluster was polled twice")
        self._ledger.add(name, [max(0.0, s) * 1e6 for s in late])

    def _burst(self) -> None:
        """Ask for a poll of each cluster that answers, in which many jobs have begun to run."""
        samples = []
        with Wire(self._place.socket, timeout_s=PATIENCE_S) as wire:
            for site in self._sites[1:]:
                site.scheduler.let_start(BURST)
                answer = wire.call("slurm.sync", {"cluster": site.record.name})
                samples.append((time.time() - site.scheduler.answered()[-1]) * 1e6)
                site.scheduler.let_start(CHANGES)
                changed = len(answer["data"])
                if changed != BURST:
                    raise RigError(f"{changed} jobs changed in a poll instead of {BURST}")
        self._ledger.add(HANDLED, samples)

    def _submit(self, site: Site) -> tuple[float, float]:
        """Submit many jobs at once; returns the longest wait for a poll meanwhile, and the time."""
        began = time.time()
        before = len(site.scheduler.asked(*SUBMISSIONS))
        with Wire(self._place.socket, timeout_s=PATIENCE_S) as wire:
            for n in range(SUBMITTED):
                wire.call("jobs.submit", {
                    "name": f"new {n}", "code": "command", "cluster": site.record.name,
                    "inputs": {"argv": ["true"]},
                })  # fmt: skip

        def sent() -> int:
            return len(site.scheduler.asked(*SUBMISSIONS)) - before

        wait_until("the submissions", lambda: sent() >= SUBMITTED, PATIENCE_S)
        taken_s = time.time() - began
        polls = site.scheduler.asked("squeue")
        wait_until("another poll", lambda: len(site.scheduler.asked("squeue")) > len(polls), 60.0)
        late = lateness_s(site.scheduler.asked("squeue"), 0.0, began, time.time())
        return max(late), taken_s

    def _budgets(self) -> list[Target]:
        queries = [over_budget(s.scheduler.asked(*QUERIES), **QUERY_BUDGET) for s in self._sites]
        handed = [
            over_budget(s.scheduler.asked(*SUBMISSIONS), **SUBMIT_BUDGET) for s in self._sites
        ]
        return [
            Target("questions beyond the budget", 0, sum(queries)),
            Target("submissions beyond the budget", 0, sum(handed)),
        ]
