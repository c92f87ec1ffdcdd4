"""Finds the worker that a request needs, or starts it: within the memory, and not after crashes."""

from __future__ import annotations

import time
from collections.abc import Callable

from crystalmath.errors import Overloaded, ShuttingDown, WorkerDied
from crystalmath.forces.page import PageView
from crystalmath.forces.pool import endings
from crystalmath.forces.pool.key import WorkerKey, key_of, place_of
from crystalmath.forces.pool.member import FAULTS, Member
from crystalmath.forces.pool.memory import MIB, make_room, share_threads
from crystalmath.forces.pool.roster import Roster
from crystalmath.forces.pool.supervisor import Supervisor
from crystalmath.services.ports_pool import PoolLimits, Waiter, Wanted


class Hiring:
    """See the module docstring.

    Parameters
    ----------
    clock
        Seconds since the epoch, for what people read.

    Attributes
    ----------
    wanted
        What each key was last wanted for.
    closed
        Nothing is started any more.
    """

    def __init__(
        self,
        roster: Roster,
        supervisor: Supervisor,
        limits: PoolLimits,
        clock: Callable[[], float],
    ) -> None:
        self._roster = roster
        self._supervisor = supervisor
        self._limits = limits
        self._clock = clock
        self.wanted: dict[WorkerKey, Wanted] = {}
        self.closed = False

    def ready(self, wanted: Wanted, call: Waiter, *, serves: str | None = None) -> Member:
        """Wait until the worker is ready, starting it if need be; called under the lock.

        Parameters
        ----------
        serves
            A worker of its own, for this i-PI server.

        Raises
        ------
        WorkerDied, WorkerTimeout, OutOfMemory, InputRejected, Overloaded, ShuttingDown
        """
        key = key_of(wanted)
        call.on_cancel(self.notify)
        mine: Member | None = None
        while True:
            call.check()
            if self.closed:
                raise ShuttingDown("The daemon is stopping.", hint="Try again in a moment.")
            if mine is not None and not mine.coming:
                if mine.why is not None and mine.why not in FAULTS:
                    mine = None  # stopped by somebody before it was ready: another one
                elif not mine.alive:
                    raise mine.failure or WorkerDied(f"{endings.named(mine)} is gone")
            if mine is None and serves is None:
                mine = self._roster.current(key)
            if mine is None:
                mine = self._launch(wanted, key, serves)
            if mine is not None and mine.stage == "ready":
                mine.last_used = time.monotonic()
                return mine
            self._roster.changed.wait(max(0.001, call.remaining_s()))

    def begin(self, wanted: Wanted) -> None:
        """Start the worker if there is none; called under the lock, and does not wait.

        Raises
        ------
        WorkerDied, Overloaded, InvalidParams
        """
        key = key_of(wanted)
        if not self.closed and self._roster.current(key) is None:
            self._launch(wanted, key, None)

    def notify(self) -> None:
        """Let those who wait look again."""
        with self._roster.changed:
            self._roster.changed.notify_all()

    def _launch(self, wanted: Wanted, key: WorkerKey, serves: str | None) -> Member | None:
        """Start a worker; None while others go to make room for it."""
        now = time.monotonic()
        self._refuse_paused(key, wanted, now)
        needed = self._supervisor.peaks.expected_bytes(key)
        room = make_room(
            needed, self._limits.memory_mib * MIB, self._roster.occupants(self._supervisor.peaks)
        )
        if not room.fits:
            raise Overloaded(
                f"a worker of {wanted.environment.engine} needs about {needed // MIB} MiB, and "
                f"{max(0, room.free_bytes) // MIB} MiB of {self._limits.memory_mib} MiB are free",
                hint="wait, stop a worker (`crystalmath engines stop`), or raise forces.memory_mib",
            )
        if room.victims:
            for victim in room.victims:
                self._supervisor.end(self._roster.find(victim), "memory")
            return None
        if any(m.why == "memory" for m in self._roster.alive()):
            return None  # they are on their way out
        member = Member(
            id=self._roster.next_id(),
            wanted=wanted,
            key=key,
            place=place_of(wanted),
            threads=share_threads(self._limits.threads, self._active()),
            created_at=self._clock(),
            since=now,
            page=PageView(),
            serves=serves,
        )
        self.wanted[key] = wanted
        self._roster.add(member)
        self._supervisor.start(member)
        return member

    def _refuse_paused(self, key: WorkerKey, wanted: Wanted, now: float) -> None:
        wait_s = self._supervisor.breaker.remaining_s(key, now)
        if wait_s > 0:
            limits, engine = self._limits, wanted.environment.engine
            raise WorkerDied(
                f"{engine} ({wanted.model.id}) has crashed {limits.crashes} times within "
                f"{limits.crashes_within_s:g} s and is not started again for {wait_s:.0f} s; last: "
                f"{self._supervisor.breaker.last_error(key)}",
                hint="`crystalmath engines workers` shows how it died",
            )

    def _active(self) -> int:
        """Other workers that use the processor."""
        return sum(
            1
            for member in self._roster.alive()
            if member.wanted.device == "cpu" and member.idle_since() is None
        )
