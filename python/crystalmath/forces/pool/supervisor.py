"""The thread that watches the workers: one for all of them, for as long as the daemon lives.

It wakes when a worker speaks or ends (its channel, its pidfd), when it is called, and every half a
second while there are workers, to look at their status pages. Everything that changes a worker
happens in its loop or under the lock of the roster.
"""

from __future__ import annotations

import logging
import os
import socket
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Literal

from crystalmath.errors import CrystalMathError, ForcesError, WorkerTimeout
from crystalmath.forces.pool import endings
from crystalmath.forces.pool.breaker import Breaker
from crystalmath.forces.pool.control import Control, ControlClosed, ControlError
from crystalmath.forces.pool.dialogue import Dialogue, Recall
from crystalmath.forces.pool.loop import Loop
from crystalmath.forces.pool.machine import Machine, machine_memory, resident_bytes
from crystalmath.forces.pool.member import FAULTS, Member, Stage, Why
from crystalmath.forces.pool.memory import MIB, Peaks, over_budget, starving
from crystalmath.forces.pool.roster import Roster
from crystalmath.forces.pool.starter import Starter
from crystalmath.forces.reported import how_it_ended
from crystalmath.services.ports_forces import (
    CrashReport,
    HostedProcess,
    ProcessHost,
    ReadyEnvironment,
)
from crystalmath.services.ports_pool import Learnt, PoolLimits, WorkerRow

_log = logging.getLogger(__name__)


class Supervisor:
    """See the module docstring.

    Parameters
    ----------
    roster
        All workers.
    clock
        Seconds since the epoch, for what people read.
    recall
        What examinations have taught about a worker.

    Attributes
    ----------
    loop
        Its thread.
    on_change
        Told of each worker that is new or has changed its state.
    chores
        Called at each look; True: look again soon, though there be no worker.
    machine
        Tells the memory of this machine.
    """

    def __init__(
        self,
        roster: Roster,
        limits: PoolLimits,
        host: ProcessHost,
        clock: Callable[[], float] = time.time,
        recall: Recall = lambda _wanted: Learnt(),
    ) -> None:
        self._roster = roster
        self._limits = limits
        self._host = host
        self._clock = clock
        self.breaker = Breaker(limits.crashes, limits.crashes_within_s, limits.pause_s)
        self.peaks = Peaks()
        self.on_change: Callable[[WorkerRow], None] = lambda _row: None
        self._dialogue = Dialogue(limits, self, recall)
        self._starter = Starter(host, self._on_started, self._on_unstarted)
        self.loop = Loop(roster.changed, self._look_at_all, self._is_over)
        self._closing = False
        self.chores: list[Callable[[], bool]] = []
        self.machine: Callable[[], Machine | None] = machine_memory

    # --- from other threads ---------------------------------------------------------------------

    def start(self, member: Member) -> None:
        """Start a worker; called under the lock."""
        self.tell(member)
        self.loop.start()
        self._starter.start(member)

    def end(self, member: Member, why: Why, mode: Literal["drain", "now"] = "drain") -> None:
        """Begin to end a worker; called under the lock. A second call may only hurry."""
        if not member.alive or (member.why is not None and mode == "drain"):
            return
        member.why = member.why or why
        if member.process is None:
            self._bury(member, None)
            return
        drained = mode == "drain" and member.stage == "ready" and member.control is not None
        if drained and member.control is not None:
            try:
                member.control.exit()
            except (ControlClosed, ControlError):
                drained = False
        if drained:
            self.enter(member, "draining")
        else:
            self._terminate(member)
        self.loop.poke()

    def help(
        self,
        member: Member,
        program: ReadyEnvironment,
        arguments: Sequence[str],
        channel: socket.socket,
    ) -> None:
        """Start a program that uses a worker through ``channel``; it ends with the program."""

        def start() -> None:
            try:
                helper = self._host.start(
                    program,
                    arguments,
                    pass_fds=(channel.fileno(),),
                    name=f"{member.id}-{program.engine}",
                )
            except CrystalMathError as error:
                with self._roster.changed:
                    member.failure = error
                    self.end(member, "helper", "now")
                return
            finally:
                channel.close()
            with self._roster.changed:
                member.helper = helper
                if not member.alive:
                    helper.kill()

        self._starter.run(start)

    def close(self, patience_s: float) -> None:
        """End all workers: asked first, killed at the end of half the patience."""
        until = time.monotonic() + patience_s
        with self._roster.changed:
            self._closing = True
            for member in self._roster.alive():
                self.end(member, "shutdown")
            hurried = False
            while self._roster.alive() and (left := until - time.monotonic()) > 0:
                if left < patience_s / 2 and not hurried:
                    hurried = True
                    for member in self._roster.alive():
                        self._kill(member)
                self._roster.changed.wait(min(left, 0.05 if hurried else patience_s / 2))
            for member in self._roster.alive():
                self._kill(member)
        self.loop.poke()
        self._starter.close()
        self.loop.join(1.0)

    # --- looking --------------------------------------------------------------------------------

    def _is_over(self) -> bool:
        return self._closing and not self._roster.alive()

    def _look_at_all(self) -> float | None:
        """Look at every worker; return when to look again at the latest, None: when called."""
        chores = [chore() for chore in self.chores]
        members = self._roster.alive()
        if not members:
            return self._limits.look_s if any(chores) else None
        now = time.monotonic()
        for member in members:
            self.loop.guarded(lambda m=member: self._look_at(m, now))  # type: ignore[misc]
        budget = self._limits.memory_mib * MIB
        fat = over_budget(budget, self._roster.occupants(self.peaks))
        if fat is not None:
            self.end(self._roster.find(fat), "memory")
        self._spare_the_machine(members)
        self.breaker.forget_old(now)
        waits = [self._limits.look_s]
        waits += [m.kill_at - now for m in self._roster.alive() if m.kill_at is not None]
        return max(0.01, min(waits))

    def _spare_the_machine(self, members: Sequence[Member]) -> None:
        """End the worker that takes the last memory; what it says of itself comes too late."""
        machine = self.machine()
        if machine is None:
            return
        sizes = {m.id: resident_bytes(m.pid) or 0 for m in members if m.alive and m.pid}
        name = starving(machine, sizes)
        if name is not None:
            member = self._roster.find(name)
            self.end(member, "starving", "now")
            self._kill(member)

    def _look_at(self, member: Member, now: float) -> None:
        if (
            member.pidfd is None
            and member.process is not None
            and member.process.poll() is not None
        ):
            self._bury(member, None)
            return
        limits = self._limits
        stage, since = member.stage, now - member.since
        if stage == "connecting" and since > limits.connect_s:
            self._overdue_start(member, f"did not speak within {limits.connect_s:g} s")
        elif stage == "loading" and since > limits.load_s:
            self._overdue_start(member, f"was not loaded within {limits.load_s:g} s")
        elif stage == "ready":
            self._look_at_ready(member, now)
        elif stage == "draining":
            look = member.look()
            if look.overdue() or (not look.started_at and since > limits.close_s):
                self._terminate(member)
        if member.kill_at is not None and now >= member.kill_at:
            self._lose_patience(member)
        self.tell(member)

    def _look_at_ready(self, member: Member, now: float) -> None:
        look = member.look()
        if look.overdue():
            self.end(member, "overdue", "now")
            return
        if member.helper is not None and member.helper.poll() is not None:
            self._helper_ended(member, member.helper)
            return
        if member.replaced and look.clients == 0 and not look.started_at:
            self.end(member, "replaced")
            return
        idle_since = member.idle_since()
        if (
            idle_since is not None
            and member.serves is None
            and now - idle_since > self._limits.idle_s
        ):
            self.end(member, "idle")

    def _helper_ended(self, member: Member, helper: HostedProcess) -> None:
        """The program that drove the worker has ended: so has the worker's use."""
        report = helper.report("serving")
        if report.exit_code == 0:
            self.end(member, "served")
            return
        lines = report.stderr_tail.strip().splitlines()
        member.failure = ForcesError(
            lines[-1][:1000] if lines else f"serving ended: {how_it_ended(report)}"
        )
        self.end(member, "helper", "now")

    def _overdue_start(self, member: Member, what: str) -> None:
        member.failure = WorkerTimeout(
            f"{endings.named(member)} {what}",
            hint="look at the end of what it printed: `crystalmath engines workers`",
        )
        self.end(member, "load", "now")

    def _lose_patience(self, member: Member) -> None:
        if member.stage != "stopping":  # its channel is closed, but it goes on living
            self._terminate(member)
        elif not member.killed:
            self._kill(member)
            member.kill_at = time.monotonic() + self._limits.kill_s
        else:
            _log.error("worker %s (pid %s) cannot be killed", member.id,
                       member.process.pid if member.process else None)  # fmt: skip
            self._bury(member, None)

    # --- what workers do ------------------------------------------------------------------------

    def _on_started(self, member: Member, process: HostedProcess, control: Control) -> None:
        """In the thread of the starter."""
        with self._roster.changed:
            if not member.alive:
                process.kill()
                control.close()
                member.page.close()
                threading.Thread(
                    target=process.wait, args=(self._limits.kill_s,), daemon=True
                ).start()
                return
            member.process, member.control = process, control
            if member.why is not None:
                self._terminate(member)
            else:
                self.enter(member, "connecting", phase="starting")
        self.loop.soon(lambda: self._adopt(member))

    def _on_unstarted(self, member: Member, error: CrystalMathError) -> None:
        """In the thread of the starter."""
        with self._roster.changed:
            if member.alive:
                member.failure, member.why = error, "load"
                self._bury(member, None)
            member.page.close()

    def _adopt(self, member: Member) -> None:
        """Watch a new process, and speak to it."""
        if not member.alive or member.process is None or member.control is None:
            return
        self.loop.watch(member.control, lambda: self._dialogue.listen(member))
        with suppress(AttributeError, OSError):  # no pidfd here: the looks notice its end
            member.pidfd = os.pidfd_open(member.process.pid)
            self.loop.watch(member.pidfd, lambda: self._exited(member))
        if member.stage == "connecting":
            try:
                member.control.open()
            except (ControlClosed, ControlError):
                self.hung_up(member)

    def hung_up(self, member: Member) -> None:
        """Its channel is closed: it is ending, or soon will be made to."""
        if member.control is not None:
            self.loop.unwatch(member.control)
        if member.kill_at is None and member.alive:
            member.kill_at = time.monotonic() + self._limits.term_s

    def _exited(self, member: Member) -> None:
        if not member.alive or member.process is None or member.process.poll() is None:
            return
        self._bury(member, member.process.report(endings.doing(member, member.look())))

    # --- the end --------------------------------------------------------------------------------

    def _terminate(self, member: Member) -> None:
        if member.process is None or member.stage == "stopping":
            return
        with suppress(ProcessLookupError, PermissionError):
            member.process.terminate()
        member.kill_at = time.monotonic() + self._limits.term_s
        self.enter(member, "stopping")

    def _kill(self, member: Member) -> None:
        if member.process is not None:
            member.process.kill()
            member.killed = True

    def _bury(self, member: Member, report: CrashReport | None) -> None:
        """It has ended: tell everybody why, and let go of everything."""
        if not member.alive:
            return
        if report is None and member.process is not None and member.process.poll() is not None:
            report = member.process.report(endings.doing(member, member.look()))
        now, look = time.monotonic(), member.look()
        error = endings.failure_of(member, look, report)
        if member.why is None or member.why in FAULTS:
            member.crash = endings.crash_of(member, look, report, error, self._clock())
            self._roster.crashes += 1
            if self._counts(member, error, look.allowance_s):
                self.breaker.crashed(member.key, error.message, now)
            _log.warning("worker %s: %s", member.id, error.message)
        member.failure = error
        self._let_go(member)
        self.enter(member, "ended", phase=member.crash.phase if member.crash else "ended")
        self._roster.buried(member)

    def _counts(self, member: Member, error: CrystalMathError, allowance_s: float) -> bool:
        """Whether it says something about the engine, and not about whoever asked."""
        if isinstance(error, endings.OWN_FAULT):
            return False
        if member.why == "helper":
            return False
        return member.why != "overdue" or allowance_s >= self._limits.call_s

    def _let_go(self, member: Member) -> None:
        control, pidfd = member.control, member.pidfd
        member.control = member.pidfd = None
        if self.loop.is_here():
            self._close_sources(control, pidfd)
        else:
            self.loop.soon(lambda: self._close_sources(control, pidfd))
        if member.process is not None:  # else the starter may be about to hand it on
            member.page.close()
        member.kill_at = None
        if member.helper is not None:
            member.helper.kill()

    def _close_sources(self, control: Control | None, pidfd: int | None) -> None:
        if control is not None:
            self.loop.unwatch(control)
            control.close()
        if pidfd is not None:
            self.loop.unwatch(pidfd)
            os.close(pidfd)

    # --- for the dialogue -------------------------------------------------------------------------

    def loaded(self, member: Member) -> None:
        """It is ready: what it replaces goes with the last of its clients."""
        self.enter(member, "ready", phase="ready")
        for other in self._roster.others_of(member.place, member):
            other.replaced = True

    def enter(self, member: Member, stage: Stage, *, phase: str | None = None) -> None:
        """Note that a worker is in another stage."""
        member.stage = stage
        member.since = time.monotonic()
        if phase is not None:
            member.phase = phase
        self.tell(member)
        self._roster.changed.notify_all()

    def tell(self, member: Member) -> None:
        """Tell listeners if more than counters has changed."""
        look = member.look()
        mark = (member.state(look), member.phase, look.clients, member.crash is not None)
        if mark != member.told:
            member.told = mark
            self.on_change(member.row(time.monotonic(), self._clock()))
