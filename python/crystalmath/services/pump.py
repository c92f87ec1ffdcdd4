"""Moves jobs, one step at a time, on a thread of its own.

The pump decides which job is next and what happens when a step fails; the steps themselves are in
``services.steps``. Trouble with the machine (full disk, no more processes) is not a verdict on the
job: the step is tried again after 30 s, 5 min, 20 min, then every 30 min, and stands beside the
state meanwhile. Started and stopped by ``api``.
"""

from __future__ import annotations

import logging
import math
import threading
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from functools import partial

from crystalmath.domain.states import JobState
from crystalmath.errors import CrystalMathError, NotFound, ShuttingDown
from crystalmath.services.ports_store import Row
from crystalmath.services.postponing import RETRY_AFTER_S, postpone, sentence
from crystalmath.services.steps import Steps

log = logging.getLogger(__name__)

AT_ONCE = 500
"""Rows that are fetched together, and jobs that are written or judged in one turn."""
_LIVE: tuple[JobState, ...] = ("SUBMITTED", "RUNNING", "CANCELLING")


@dataclass(frozen=True, slots=True)
class PumpTiming:
    """Durations of the pump; tests set them small."""

    poll_s: float = 0.2
    idle_s: float = 30.0
    cancel_every_s: float = 1.0
    retry_after_s: tuple[float, ...] = RETRY_AFTER_S


class Pump:
    """Runs :class:`Steps` for every unfinished job.

    Parameters
    ----------
    slots
        Processor cores that local jobs may use together. A job that asks for more than is free
        waits, and so does every job behind it.
    """

    def __init__(
        self, steps: Steps, *, slots: int, timing: PumpTiming, clock: Callable[[], float]
    ) -> None:
        self._steps = steps
        self._store = steps.store
        self._slots = slots
        self._timing = timing
        self._clock = clock
        self._awake = threading.Event()
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None
        self._cost: dict[int, int] = {}
        self._cancel_sent: dict[int, float] = {}
        self._unrecorded: dict[int, float] = {}
        self._writing: dict[int, Generator[None, None, None]] = {}

    def start(self) -> None:
        """Start the thread."""
        self._thread = threading.Thread(target=self._run, name="pump", daemon=True)
        self._thread.start()

    def stop(self, timeout_s: float = 10.0) -> None:
        """Stop after the step in progress. Jobs go on; the next daemon finds them."""
        self._stopping.set()
        self._awake.set()
        if self._thread is not None:
            self._thread.join(timeout_s)

    def wake(self) -> None:
        """There is something new to do."""
        self._awake.set()

    def end_unrecorded(self, job_id: int) -> None:
        """End a job of which the database cannot be told, and tell it as soon as it can."""
        self._unrecorded.setdefault(job_id, -math.inf)
        self._awake.set()

    def _run(self) -> None:
        while not self._stopping.is_set():
            self._awake.clear()
            try:
                busy = self.turn()
            except Exception:
                # The database is unreachable: nothing can be recorded, so wait and look again.
                log.exception("the pump could not look at the jobs")
                busy = False
            if not self._stopping.is_set():
                self._awake.wait(self._timing.poll_s if busy else self._sleep_s())

    def _sleep_s(self) -> float:
        if self._unrecorded:
            return self._timing.cancel_every_s
        try:
            due = self._store.next_try_at()
        except CrystalMathError:
            due = None
        if due is None:
            return self._timing.idle_s
        return min(self._timing.idle_s, max(self._timing.poll_s, due - self._clock()))

    def turn(self) -> bool:
        """Take every job that can move one step further.

        Returns
        -------
        bool
            True while a job is on the way, so that the next look must come soon.
        """
        self._end_the_unrecorded()
        self._drop_unwanted_writing()
        self._some("CREATED", self._write)
        for job_id, parent, state in self._store.doomed():
            self._guarded(
                self._store.row(job_id),
                partial(self._steps.doom, parent=parent, state=state),
            )
        self._each("CANCELLING", self._cancel)
        self._each("SUBMITTED", self._steps.poll)
        self._each("RUNNING", self._steps.poll)
        self._some("FINISHED", self._steps.judge)
        self._start_waiting()
        moving = self._store.rows_in(_LIVE, limit=1)
        fresh = self._store.rows_in(("CREATED", "FINISHED"), limit=1, due=self._clock())
        return bool(moving or fresh)

    def _each(self, state: JobState, step: Callable[[Row], None]) -> None:
        """Take every job in a state: these steps look, and a job may stay where it is."""
        for row in self._all((state,), due=self._clock()):
            self._guarded(row, step)

    def _some(self, state: JobState, step: Callable[[Row], None]) -> None:
        """Take the oldest jobs in a state: these steps work, and the others shall not wait long."""
        rows = self._store.rows_in((state,), limit=AT_ONCE, due=self._clock())
        for row in rows:
            if self._stopping.is_set():
                return
            self._guarded(row, step)
        if len(rows) == AT_ONCE:
            self._awake.set()

    def _write(self, row: Row) -> None:
        """Write a job's files, or the next piece of them where they are large.

        Only the oldest job that is in the middle gets its piece in this turn.
        """
        work = self._writing.get(row["id"])
        if work is None:
            work = self._steps.write(row)
        elif row["id"] != min(self._writing):
            return
        self._writing.pop(row["id"], None)
        try:
            next(work)
        except StopIteration:
            return
        self._writing[row["id"]] = work
        self._awake.set()

    def _drop_unwanted_writing(self) -> None:
        """What was cancelled, or failed, in the middle of its files is not written any further."""
        for job_id, state in self._store.states_of(self._writing).items():
            if state != "CREATED":
                self._writing.pop(job_id).close()

    def _all(self, states: tuple[JobState, ...], due: float | None = None) -> Iterator[Row]:
        """All rows in some states, a page at a time, until the pump is to stop."""
        after = 0
        while True:
            rows = self._store.rows_in(states, limit=AT_ONCE, after=after, due=due)
            for row in rows:
                if self._stopping.is_set():
                    return
                yield row
            if len(rows) < AT_ONCE:
                return
            after = rows[-1]["id"]

    def _end_the_unrecorded(self) -> None:
        for job_id, sent in list(self._unrecorded.items()):
            if self._clock() - sent < self._timing.cancel_every_s:
                continue
            self._unrecorded[job_id] = self._clock()
            try:
                done = self._steps.end_unrecorded(self._store.row(job_id))
            except NotFound:
                done = True
            except Exception:
                log.exception("a job could not be ended", extra={"job": job_id})
                done = False
            if done:
                del self._unrecorded[job_id]

    def _start_waiting(self) -> None:
        live = list(self._all(_LIVE))
        free = self._slots - sum(self._cost_of(row) for row in live)
        idle = not live
        ids = {row["id"] for row in live}
        self._cost = {i: cost for i, cost in self._cost.items() if i in ids}
        self._cancel_sent = {i: at for i, at in self._cancel_sent.items() if i in ids}
        for row in self._store.startable(self._clock(), limit=max(1, self._slots)):
            cost = self._cost_of(row)
            if self._stopping.is_set() or (cost > free and not idle):
                return
            self._guarded(row, self._steps.submit)
            free -= cost
            idle = False

    def _cost_of(self, row: Row) -> int:
        cost = self._cost.get(row["id"])
        if cost is None:
            asked = self._store.documents(row["id"]).resources
            cost = int(asked.get("ntasks", 1)) * int(asked.get("cpus_per_task", 1))
            self._cost[row["id"]] = cost
        return cost

    def _cancel(self, row: Row) -> None:
        """Cancel again and again until the end is seen, but not at every turn."""
        sent = self._cancel_sent.get(row["id"], 0.0)
        if self._clock() - sent >= self._timing.cancel_every_s:
            self._cancel_sent[row["id"]] = self._clock()
            self._steps.cancel(row, act=True)
        else:
            self._steps.cancel(row, act=False)

    def _guarded(self, row: Row, step: Callable[[Row], None]) -> None:
        """Run a step; trouble is written beside the state and the step comes again later."""
        try:
            step(row)
        except ShuttingDown:
            return  # the next daemon begins the step anew
        except Exception as error:
            log.exception("a step failed", extra={"job": row["id"], "state": row["state"]})
            waits = self._timing.retry_after_s
            postpone(self._store, row, sentence(error), waits, self._clock())
