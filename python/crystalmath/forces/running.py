"""A worker of one's own that is loaded: opens channels into it, watches it, and ends it."""

from __future__ import annotations

import array
import os
import socket
import threading
import weakref
from contextlib import suppress
from typing import Final

from crystalmath.errors import CrystalMathError, WorkerTimeout
from crystalmath.forces.connection import Connection
from crystalmath.forces.launch import Deadlines, Launch
from crystalmath.forces.page import PageView
from crystalmath.forces.reported import death_of, with_tail
from crystalmath.forces.starting import OnPhase, Started, start
from crystalmath.forces.worker import plain, wire
from crystalmath.services.ports_forces import HostedProcess, ProcessHost

_END_S: Final = 5.0
"""How long a process may take to end after its channel has closed."""


class RunningWorker:
    """See the module docstring. Safe in threads; belongs to the process that made it.

    Parameters
    ----------
    started
        The loaded process.
    """

    def __init__(self, launch: Launch, started: Started) -> None:
        self._launch = launch
        self._started = started
        self._lock = threading.Lock()
        self._failure: CrystalMathError | None = None
        self.pid = os.getpid()
        self.capabilities = started.capabilities
        self.identity = launch.identity(started.capabilities)
        self._end = weakref.finalize(
            self, _end, os.getpid(), started.process, started.control, started.page,
            launch.deadlines,
        )  # fmt: skip

    @property
    def engine(self) -> str:
        """Name of the engine."""
        return self._launch.environment.engine

    @property
    def evaluations(self) -> int:
        """Structures that its model has computed."""
        return self._started.page.look().evaluations

    def alive(self) -> bool:
        """Whether it can be used."""
        return self._failure is None and self._started.process.poll() is None

    def connect(self) -> Connection:
        """Open a channel into it.

        Raises
        ------
        WorkerDied
        """
        ours, theirs = socket.socketpair()
        rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [theirs.fileno()]))]
        try:
            head = plain.render_message(wire.ATTACH)
            self._started.control.sendmsg([head], rights, socket.MSG_NOSIGNAL)
        except OSError:
            ours.close()
            raise self.ended() from None
        finally:
            theirs.close()
        return Connection(ours, self.capabilities, self.identity, self)

    def close(self) -> None:
        """End it: what is in hand is finished first, within the time of TERM."""
        self._end()

    # --- what a connection asks -----------------------------------------------------------------

    def look(self, waited_s: float) -> None:
        """Look after it while a request waits; ends it when it is overdue.

        Raises
        ------
        WorkerDied, WorkerTimeout
        """
        process, limits = self._started.process, self._launch.deadlines
        if process.poll() is not None:
            raise self.ended()
        look = self._started.page.look()
        stuck = look.started_at == 0.0 and waited_s > limits.call_s
        if not look.overdue() and not stuck:
            return
        atoms = f" for {look.atoms} atoms" if look.atoms else ""
        allowed_s = limits.call_s if stuck else look.allowance_s
        with self._lock:
            if self._failure is None:
                process.stop(limits.term_s)
                error = WorkerTimeout(
                    f"the worker of {self.engine} took longer than {allowed_s:g} s{atoms} "
                    f"and was ended; it was {look.phase}",
                    hint="ask for less at once, or give a longer deadline",
                )
                self._failure = with_tail(error, process.stderr_tail())
        raise self._failure

    def ended(self) -> CrystalMathError:
        """Explain a channel that has closed."""
        process = self._started.process
        with self._lock:
            if self._failure is None:
                if process.wait(_END_S) is None:
                    process.stop(self._launch.deadlines.term_s)
                self._failure = death_of(
                    self.engine, process.report(self._started.page.look().phase)
                )
            failure = self._failure
        return _again(failure)


def _again(error: CrystalMathError) -> CrystalMathError:
    """A new exception of the same content: one that was raised before carries its old traceback."""
    fresh = type(error)(error.message, hint=error.hint, field=error.field)
    for note in getattr(error, "__notes__", ()):
        fresh.add_note(note)
    return fresh


def run_worker(
    host: ProcessHost, launch: Launch, on_phase: OnPhase = lambda _text: None
) -> RunningWorker:
    """Start a worker; raises as :func:`~crystalmath.forces.starting.start`."""
    return RunningWorker(launch, start(host, launch, on_phase))


def _end(
    pid: int,
    process: HostedProcess,
    control: socket.socket,
    page: PageView,
    limits: Deadlines,
) -> None:
    """End a process; in a fork only the descriptors are closed."""
    if pid == os.getpid() and process.poll() is None:
        with suppress(OSError):
            control.sendall(plain.render_message(wire.EXIT), socket.MSG_DONTWAIT)
        if process.wait(limits.term_s) is None:
            process.stop(limits.term_s)
    control.close()
    page.close()
