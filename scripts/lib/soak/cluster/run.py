"""Rounds of faults under jobs on a real SLURM, and the verdict at the end.

The daemon is a real one of its own. SLURM and the SSH servers are those of the testbed, which
nobody else may use meanwhile. Each round submits a few jobs, cancels some, breaks one to three
things at once and mends them; a job is judged when it has ended, whenever that is.
"""

from __future__ import annotations

import random
import shutil
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from rig.place import Place, RigError
from rig.testbed import WAYS, Testbed
from soak.cluster import jobs
from soak.cluster.desk import Desk
from soak.cluster.faults import Breaker
from soak.cluster.jobs import Ticket
from soak.cluster.judge import has_ended, judge, judge_all
from soak.outcome import Outcome, Progress, Say

MOST_UNFINISHED: Final = 12
JOBS_A_ROUND: Final = (2, 3, 4)
SPREAD_S: Final = 3.0
HOLD_S: Final = (0.5, 4.0)
LOOK_EVERY_S: Final = 3.0
SETTLE_S: Final = 1500.0
ACCOUNTED_S: Final = 60.0

Action = Callable[[], None]


def run(count: int, seed: int, say: Say) -> Outcome:
    """Do ``count`` rounds."""
    runs = Path(tempfile.mkdtemp(prefix="cm-runs-"))
    runs.chmod(0o1777)
    with Testbed() as testbed, Place() as place:
        began = time.time()
        logins = {server: testbed.logins(server) for server in ("cluster", "jump", "inner")}
        soak = Soak(testbed, place, random.Random(seed), runs, say)
        try:
            problems = soak.play(count)
            testbed.mend()
            problems += soak.settle()
            place.stop()
            problems += judge_all(place, soak.tickets, runs, soak.accounted(began))
            problems += soak.judge_faults(count, logins)
        except RigError as error:
            problems = [f"not brought to its end: {error}"]
        finally:
            soak.desk.hang_up()
        problems += place.tracebacks()
        if problems:
            kept = keep(place, seed)
            problems.append(f"data and log of the daemon are kept in {kept}, runs in {runs}")
        else:
            shutil.rmtree(runs)
        shutil.rmtree(soak.desk.remote, ignore_errors=True)
    return Outcome(soak.facts(count), problems)


def keep(place: Place, seed: int) -> Path:
    """Copy what tells of a failure to where it stays."""
    kept = Path(tempfile.mkdtemp(prefix=f"cm-soak-cluster-{seed}-"))
    shutil.copytree(place.data_dir, kept / "data")
    shutil.copytree(place.log_path.parent, kept / "log")
    return kept


@dataclass
class Soak:
    """One run."""

    testbed: Testbed
    place: Place
    rng: random.Random
    runs: Path
    say: Say
    tickets: list[Ticket] = field(default_factory=list)
    kinds: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self.desk = Desk(self.place, self.runs)
        self.breaker = Breaker(self.testbed, self.desk, self.place, self.rng, self._submit)

    def play(self, count: int) -> list[str]:
        """All rounds; what was wrong with jobs that ended in them."""
        self.desk.serve()
        self.desk.open()
        progress = Progress(count, self.say)
        problems = []
        for number in range(count):
            self._round()
            problems += self._tend()
            problems += self._wait_until_below(MOST_UNFINISHED)
            progress.at(number + 1)
        return problems

    def settle(self) -> list[str]:
        """Wait until every job has ended."""
        problems = self._wait_until_below(1)
        if self.testbed_jobs():
            problems.append(f"still in SLURM's queue: {self.testbed_jobs()}")
        return problems

    def testbed_jobs(self) -> list[str]:
        """Names of the run's jobs that SLURM has not seen end."""
        tokens = [ticket.token for ticket in self.tickets]
        names = [line.name for line in self.testbed.queue() if line.state != "COMPLETING"]
        return [name for name in names if any(name.endswith(f".{token}") for token in tokens)]

    # --- a round ------------------------------------------------------------------------------

    def _round(self) -> None:
        start = time.monotonic()
        agenda: list[tuple[float, Action]] = []
        for _ in range(self.rng.choice(JOBS_A_ROUND)):
            at = self.rng.uniform(0, SPREAD_S)
            agenda.append((at, self._submit_one(agenda, start)))
        for fault in self.breaker.draw():
            at = 0.0 if fault == self.breaker.requeue else self.rng.uniform(0, SPREAD_S)
            agenda.append((at, self._break(fault, agenda, start, self.rng.uniform(*HOLD_S))))
        while agenda:
            agenda.sort(key=lambda item: item[0])
            at, action = agenda.pop(0)
            time.sleep(max(0.0, start + at - time.monotonic()))
            action()

    def _submit_one(self, agenda: list[tuple[float, Action]], start: float) -> Action:
        patience_s = self.rng.uniform(0.0, SPREAD_S)

        def submit() -> None:
            ticket = self._submit(self.rng.choice(list(WAYS)), False)
            if ticket.kind == "cancelled":
                at = time.monotonic() - start + patience_s
                agenda.append((at, lambda: self.desk.cancel(ticket)))

        return submit

    def _submit(self, cluster: str, requeued: bool) -> Ticket:
        kind: jobs.Kind | None = "requeued" if requeued else None
        ticket = jobs.draw(self.rng, len(self.tickets), cluster, kind)
        self.tickets.append(ticket)
        self.kinds[ticket.kind] += 1
        self.desk.submit(ticket)
        return ticket

    @staticmethod
    def _break(
        fault: Callable[[], Action], agenda: list[tuple[float, Action]], start: float, hold_s: float
    ) -> Action:
        def begin() -> None:
            mend = fault()
            agenda.append((time.monotonic() - start + hold_s, mend))

        return begin

    # --- between rounds -----------------------------------------------------------------------

    def _open(self) -> list[Ticket]:
        return [ticket for ticket in self.tickets if ticket.lines is None]

    def _tend(self) -> list[str]:
        """Look at the clusters, cancel what is still to be, judge what has ended."""
        for name in WAYS:
            self.desk.look(name)
        self.breaker.hurry()
        open_ = self._open()
        for ticket in open_:
            if ticket.kind == "cancelled" and not ticket.cancel_asked:
                self.desk.cancel(ticket)
        rows = self.desk.rows(open_)
        problems = []
        for ticket in open_:
            row = rows.get(ticket.job_id or 0)
            if row is not None and has_ended(row):
                problems += judge(ticket, row, self.runs, self.place.data_dir)
        return problems

    def _wait_until_below(self, count: int) -> list[str]:
        deadline = time.monotonic() + SETTLE_S
        problems: list[str] = []
        waited = Progress(count, self._say_waiting)
        while len(self._open()) >= count:
            waited.at(len(self._open()))
            if time.monotonic() > deadline:
                return [*problems, *self._not_ended()]
            time.sleep(LOOK_EVERY_S)
            problems += self._tend()
        return problems

    def _say_waiting(self, _: str) -> None:
        rows = self.desk.rows(self._open()).values()
        what = ", ".join(f"{row['id']} {row['state']}: {row['progress_text']}" for row in rows)
        self.say(f"waiting for {what}")

    def _not_ended(self) -> list[str]:
        open_ = self._open()
        rows = self.desk.rows(open_)
        for ticket in open_:
            ticket.lines = []
        return [
            f"job {t.job_id} ({t.token}) has not ended: "
            f"{dict(rows[t.job_id]) if t.job_id in rows else 'not in the database'}"
            for t in open_
        ]

    # --- the verdict --------------------------------------------------------------------------

    def accounted(self, began: float) -> dict[str, set[str]]:
        """What the accounting has of the run, once it has heard of every job."""
        deadline = time.monotonic() + ACCOUNTED_S
        ran = [t.token for t in self.tickets if t.lines]
        while True:
            history = self.testbed.history(began - 60)
            known = {name.partition(".")[2] for name in history}
            if set(ran) <= known or time.monotonic() > deadline:
                return history
            time.sleep(1.0)

    def judge_faults(self, count: int, logins: dict[str, int]) -> list[str]:
        """Whether the faults were faults: what was cut was logged in to again."""
        problems = list(self.breaker.problems)
        for server, cut in self.breaker.cut.items():
            again = self.testbed.logins(server) - logins[server]
            if again < cut:
                problems.append(f"{server} was cut {cut} times and logged in to {again} times")
        if self.breaker.done.total() < count // 2:
            problems.append(f"{self.breaker.done.total()} faults in {count} rounds")
        return problems

    def facts(self, count: int) -> str:
        """What was done, in one line."""
        kinds = ", ".join(f"{n} {kind}" for kind, n in sorted(self.kinds.items()))
        done = self.breaker.done
        faults = ", ".join(f"{n} × {what}" for what, n in sorted(done.items()))
        more = ", ".join(f"{n} {what}" for what, n in sorted(self.desk.counts.items()))
        return (
            f"{count} rounds, {len(self.tickets)} jobs ({kinds}), "
            f"{done.total()} faults ({faults}); {more}"
        )
