"""The pool: finds or starts the worker that a request needs. Built by ``api``.

Service threads wait here, each for its own call; everything else is the supervisor's.
"""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final, Literal

from crystalmath.errors import (
    CrystalMathError,
    NotImplementedYet,
    Overloaded,
    WorkerDied,
    WorkerTimeout,
)
from crystalmath.forces.pool import endings
from crystalmath.forces.pool.channel import Channel, ChannelClosed, turns
from crystalmath.forces.pool.control import ControlClosed, ControlError
from crystalmath.forces.pool.dialogue import Recall
from crystalmath.forces.pool.door import Door
from crystalmath.forces.pool.hiring import Hiring
from crystalmath.forces.pool.key import WorkerKey
from crystalmath.forces.pool.member import FAULTS, Member
from crystalmath.forces.pool.roster import Roster
from crystalmath.forces.pool.supervisor import Supervisor
from crystalmath.forces.worker import wire
from crystalmath.services.ports_forces import ProcessHost, ReadyEnvironment
from crystalmath.services.ports_pool import (
    Attached,
    Computed,
    Evaluation,
    Learnt,
    Paused,
    PlainStructure,
    PoolLimits,
    PoolTotals,
    Waiter,
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
    driver
        The program that stands between an i-PI server and a worker.
    recall
        What examinations have taught about a worker.
    """

    def __init__(
        self,
        host: ProcessHost,
        limits: PoolLimits,
        door: str,
        clock: Callable[[], float] = time.time,
        driver: ReadyEnvironment | None = None,
        recall: Recall = lambda _wanted: Learnt(),
    ) -> None:
        self.limits = limits
        self._clock = clock
        self._roster = Roster(limits.reports)
        self._supervisor = Supervisor(self._roster, limits, host, clock, recall)
        self._door = Door(door, limits, self._supervisor)
        self._hiring = Hiring(self._roster, self._supervisor, limits, clock)
        self._driver = driver

    # --- for the services -----------------------------------------------------------------------

    def listen(self, on_change: Callable[[WorkerRow], None]) -> None:
        """See ``ForcePool.listen``."""
        self._supervisor.on_change = on_change

    def attach(self, wanted: Wanted, call: Waiter) -> Attached:
        """See ``ForcePool.attach``."""
        with self._roster.changed:
            member = self._hiring.ready(wanted, call)
            self._door.open()
            return Attached(
                path=self._door.path,
                token=self._door.issue(member),
                token_s=self.limits.token_s,
                worker=member.id,
                abi=wire.ABI,
                capabilities=member.capabilities or {},
            )

    def expect(self, wanted: Wanted) -> None:
        """See ``ForcePool.expect``."""
        with self._roster.changed, suppress(CrystalMathError):
            self._hiring.begin(wanted)

    def evaluate(
        self,
        wanted: Wanted,
        structures: Sequence[PlainStructure],
        properties: Sequence[str],
        call: Waiter,
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
                Paused(
                    self._hiring.wanted[key], breaker.remaining_s(key, now), breaker.last_error(key)
                )
                for key in breaker.open_keys(now)
                if isinstance(key, WorkerKey) and key in self._hiring.wanted
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

    def serve(self, wanted: Wanted, address: str, template: str | None, call: Waiter) -> WorkerRow:
        """See ``ForcePool.serve``."""
        if self._driver is None:
            raise NotImplementedYet("this pool serves no i-PI servers")
        with self._roster.changed:
            member = self._hiring.ready(wanted, call, serves=address)
            theirs = self._open(member)
            worker = {
                "engine": wanted.environment.engine,
                "model": wanted.model.id,
                "capabilities": dict(member.capabilities or {}),
            }
            self._supervisor.help(
                member,
                self._driver,
                drive_arguments(theirs.fileno(), address, template, worker),
                theirs,
            )
            return self._row(member)

    def clients(self) -> int:
        """Data channels that are open: while there are any, the daemon is not idle."""
        with self._roster.changed:
            return sum(member.look().clients for member in self._roster.alive())

    def close(self) -> None:
        """Stop every worker. No request is answered any more."""
        with self._roster.changed:
            self._hiring.closed = True
            self._door.close()
            self._roster.changed.notify_all()
        self._supervisor.close(self.limits.close_s)

    # --- a channel for a request ----------------------------------------------------------------

    def _open_channel(self, wanted: Wanted, call: Waiter) -> tuple[Channel, Member]:
        with self._roster.changed:
            member = self._hiring.ready(wanted, call)
            ours = self._open(member)
        channel = Channel(ours, wanted.environment.engine)
        call.on_cancel(channel.shut)
        return channel, member

    def _open(self, member: Member) -> socket.socket:
        """The client's end of a new data channel; called under the lock."""
        if member.control is None or member.look().clients >= self.limits.channels:
            raise Overloaded(
                f"{endings.named(member)} has {self.limits.channels} clients",
                hint="try again in a moment",
            )
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
        return ours

    def _explain(self, member: Member, call: Waiter, *, last: bool) -> None:
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
            if self._hiring.closed or last or not again:
                failure: CrystalMathError = member.failure or WorkerDied(
                    f"{endings.named(member)} closed the channel", hint="try again"
                )
                raise failure

    def _longest_s(self) -> float:
        limits = self.limits
        return max(limits.call_s * limits.first_call_factor, limits.first_call_s, limits.call_s)

    def _row(self, member: Member) -> WorkerRow:
        return member.row(time.monotonic(), self._clock())


def drive_arguments(
    channel: int, address: str, template: str | None, worker: Mapping[str, Any]
) -> Sequence[str]:
    """What the program between an i-PI server and a worker is started with."""
    given = ["--channel", str(channel), "--address", address, "--worker", json.dumps(worker)]
    return [*given, "--template", template] if template is not None else given


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
