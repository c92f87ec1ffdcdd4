"""The pool: finds or starts the worker that a request needs. Built by ``api``.

Service threads wait here, each for its own call; everything else is the supervisor's.
"""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Sequence
from typing import Final, Literal

from crystalmath.contract.rpc import Call
from crystalmath.errors import (
    CrystalMathError,
    NotImplementedYet,
    OutOfMemory,
    Overloaded,
    ShuttingDown,
    WorkerDied,
    WorkerTimeout,
)
from crystalmath.forces.page import PageView
from crystalmath.forces.pool import endings
from crystalmath.forces.pool.channel import Channel, ChannelClosed, turns
from crystalmath.forces.pool.control import ControlClosed, ControlError
from crystalmath.forces.pool.door import Door
from crystalmath.forces.pool.key import WorkerKey, key_of, place_of
from crystalmath.forces.pool.member import FAULTS, Member
from crystalmath.forces.pool.memory import MIB, make_room, share_threads
from crystalmath.forces.pool.roster import Roster
from crystalmath.forces.pool.supervisor import Supervisor
from crystalmath.forces.worker import wire
from crystalmath.services.ports_forces import ProcessHost
from crystalmath.services.ports_pool import (
    Attached,
    Computed,
    Evaluation,
    Paused,
    PlainStructure,
    PoolLimits,
    PoolTotals,
    Wanted,
    WorkerRow,
)

_SLACK_S: Final = 30.0
"""How much longer than the worker's own allowance a reply is waited for: its end comes before."""

_TRIES: Final = 3
"""Workers that may be stopped under a request, before it was begun, until that is an error."""


class Pool:
    """Implements ``services.ports_pool.ForcePool``.

    Parameters
    ----------
    door
        Path of the private socket.
    clock
        Seconds since the epoch, for what people read.
    """

    def __init__(
        self,
        host: ProcessHost,
        limits: PoolLimits,
        door: str,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.limits = limits
        self._clock = clock
        self._roster = Roster(limits.reports)
        self._supervisor = Supervisor(self._roster, limits, host, clock)
        self._door = Door(door, limits, self._supervisor)
        self._wanted: dict[WorkerKey, Wanted] = {}
        self._closed = False

    # --- for the services -----------------------------------------------------------------------

    def listen(self, on_change: Callable[[WorkerRow], None]) -> None:
        """See ``ForcePool.listen``."""
        self._supervisor.on_change = on_change

    def attach(self, wanted: Wanted, call: Call) -> Attached:
        """See ``ForcePool.attach``."""
        with self._roster.changed:
            member = self._ready(wanted, call)
            self._door.open()
            return Attached(
                path=self._door.path,
                token=self._door.issue(member),
                token_s=self.limits.token_s,
                worker=member.id,
                abi=wire.ABI,
                capabilities=member.capabilities or {},
            )

    def evaluate(
        self,
        wanted: Wanted,
        structures: Sequence[PlainStructure],
        properties: Sequence[str],
        call: Call,
        *,
        deadline_s: float | None = None,
    ) -> Evaluation:
        """See ``ForcePool.evaluate``."""
        until = None if deadline_s is None else time.monotonic() + deadline_s
        found: list[Computed] = []
        spent = 0.0
        waiting = list(turns(structures, self.limits.request_structures, self.limits.request_atoms))
        for attempt in range(_TRIES):
            channel, member = self._open_channel(wanted, call)
            try:
                while waiting:
                    call.check()
                    allowance_s = _left(until)
                    patience_s = (allowance_s or self._longest_s()) + _SLACK_S
                    computed, seconds = channel.ask(waiting[0], properties, allowance_s, patience_s)
                    found += computed
                    spent += seconds
                    del waiting[0]
                return Evaluation(member.id, member.capabilities or {}, found, spent)
            except ChannelClosed:
                call.check()
                self._explain(member, call, last=attempt == _TRIES - 1)
            except TimeoutError as error:
                raise WorkerTimeout(f"{endings.named(member)} gave no answer in time") from error
            finally:
                channel.close()
        raise WorkerDied(f"no worker of {wanted.environment.engine} lived long enough")

    def workers(self, worker: str | None = None) -> Sequence[WorkerRow]:
        """See ``ForcePool.workers``."""
        with self._roster.changed:
            if worker is not None:
                members = [self._roster.find(worker)]
            else:
                dead = [m for m in self._roster.dead() if m.crash is not None]
                members = [*self._roster.alive(), *_last_of_each(dead)]
            return [self._row(member) for member in members]

    def totals(self) -> PoolTotals:
        """See ``ForcePool.totals``."""
        with self._roster.changed:
            looks = [member.look() for member in self._roster.alive()]
            roster, breaker, now = self._roster, self._supervisor.breaker, time.monotonic()
            paused = [
                Paused(self._wanted[key], breaker.remaining_s(key, now), breaker.last_error(key))
                for key in breaker.open_keys(now)
                if isinstance(key, WorkerKey) and key in self._wanted
            ]
            return PoolTotals(
                requests=roster.requests + sum(look.done for look in looks),
                structures=roster.structures + sum(look.structures for look in looks),
                crashes=roster.crashes,
                paused=paused,
            )

    def stop(self, worker: str, mode: Literal["drain", "now"]) -> WorkerRow:
        """See ``ForcePool.stop``."""
        with self._roster.changed:
            member = self._roster.find(worker)
            self._supervisor.end(member, mode, mode)
            return self._row(member)

    def serve(self, wanted: Wanted, address: str, template: str | None, call: Call) -> WorkerRow:
        """See ``ForcePool.serve``."""
        raise NotImplementedYet("workers for foreign i-PI servers are not built yet")

    def clients(self) -> int:
        """Data channels that are open: while there are any, the daemon is not idle."""
        with self._roster.changed:
            return sum(member.look().clients for member in self._roster.alive())

    def close(self) -> None:
        """Stop every worker. No request is answered any more."""
        with self._roster.changed:
            self._closed = True
            self._door.close()
            self._roster.changed.notify_all()
        self._supervisor.close(self.limits.close_s)

    # --- a worker for a request -----------------------------------------------------------------

    def _ready(self, wanted: Wanted, call: Call) -> Member:
        """Wait until the worker is ready, starting it if need be; called under the lock."""
        key = key_of(wanted)
        call.on_cancel(self._notify)
        mine: Member | None = None
        while True:
            call.check()
            if self._closed:
                raise ShuttingDown("The daemon is stopping.", hint="Try again in a moment.")
            if mine is not None and not mine.coming:
                if mine.why is not None and mine.why not in FAULTS:
                    mine = None  # stopped by somebody before it was ready: another one
                elif not mine.alive:
                    raise mine.failure or WorkerDied(f"{endings.named(mine)} is gone")
            if mine is None:
                mine = self._roster.current(key) or self._launch(wanted, key)
            if mine is not None and mine.stage == "ready":
                mine.last_used = time.monotonic()
                return mine
            self._roster.changed.wait(max(0.001, call.remaining_s()))

    def _notify(self) -> None:
        with self._roster.changed:
            self._roster.changed.notify_all()

    def _launch(self, wanted: Wanted, key: WorkerKey) -> Member | None:
        """Start a worker; None while others go to make room for it."""
        now = time.monotonic()
        self._refuse_paused(key, wanted, now)
        needed = self._supervisor.peaks.expected_bytes(key)
        room = make_room(needed, self.limits.memory_mib * MIB, self._supervisor.occupants())
        if not room.fits:
            raise OutOfMemory(
                f"a worker of {wanted.environment.engine} needs about {needed // MIB} MiB, and "
                f"{max(0, room.free_bytes) // MIB} MiB of {self.limits.memory_mib} MiB are free",
                hint="stop a worker (`crystalmath engines stop`), wait, or raise forces.memory_mib",
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
            threads=share_threads(self.limits.threads, self._active()),
            created_at=self._clock(),
            since=now,
            page=PageView(),
        )
        self._wanted[key] = wanted
        self._roster.add(member)
        self._supervisor.start(member)
        return member

    def _refuse_paused(self, key: WorkerKey, wanted: Wanted, now: float) -> None:
        wait_s = self._supervisor.breaker.remaining_s(key, now)
        if wait_s > 0:
            limits, engine = self.limits, wanted.environment.engine
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

    # --- a channel for a request ----------------------------------------------------------------

    def _open_channel(self, wanted: Wanted, call: Call) -> tuple[Channel, Member]:
        with self._roster.changed:
            member = self._ready(wanted, call)
            if member.control is None or member.look().clients >= self.limits.channels:
                raise Overloaded(f"{endings.named(member)} has {self.limits.channels} clients",
                                 hint="try again in a moment")  # fmt: skip
            ours, theirs = socket.socketpair()
            try:
                member.control.attach(theirs.fileno())
            except ControlError as error:
                ours.close()
                raise Overloaded(f"{endings.named(member)}: {error}") from error
            except ControlClosed:
                pass  # it is dying: the first request finds out how
            finally:
                theirs.close()
        channel = Channel(ours, wanted.environment.engine)
        call.on_cancel(channel.shut)
        return channel, member

    def _explain(self, member: Member, call: Call, *, last: bool) -> None:
        """A channel has closed: raise why, or return when the request may be asked again.

        A worker that was stopped answers what it has begun, so what it left unanswered was never
        begun.
        """
        patience = time.monotonic() + self.limits.term_s + self.limits.kill_s + 1
        with self._roster.changed:
            while member.alive and (left := patience - time.monotonic()) > 0:
                call.check()
                self._roster.changed.wait(left)
            again = member.why is not None and member.why not in FAULTS and member.why != "now"
            if self._closed or last or not again:
                failure: CrystalMathError = member.failure or WorkerDied(
                    f"{endings.named(member)} closed the channel", hint="try again"
                )
                raise failure

    def _longest_s(self) -> float:
        limits = self.limits
        return max(limits.call_s * limits.first_call_factor, limits.first_call_s, limits.call_s)

    def _row(self, member: Member) -> WorkerRow:
        return member.row(time.monotonic(), self._clock())


def _left(until: float | None) -> float:
    """Seconds left; 0 means that there is no bound."""
    if until is None:
        return 0.0
    left = until - time.monotonic()
    if left <= 0:
        raise WorkerTimeout("the deadline of the request has passed",
                            hint="ask for less at once, or give a longer deadline")  # fmt: skip
    return left


def _last_of_each(dead: Sequence[Member]) -> list[Member]:
    """Of the workers that crashed, the last of each kind."""
    return list({member.key: member for member in dead}.values())
