"""The thread that starts the workers' processes.

It lives as long as the pool: a child that asks to die with its parent dies with the *thread* that
made it. Starting may wait for a disk, so it is not the supervisor's work.
"""

from __future__ import annotations

import logging
import os
import queue
import socket
import threading
from collections.abc import Callable, Sequence

from crystalmath.errors import CrystalMathError, EnvironmentBroken
from crystalmath.forces.pool.control import Control
from crystalmath.forces.pool.member import Member
from crystalmath.services.ports_forces import HostedProcess, ProcessHost

_log = logging.getLogger(__name__)

OnStarted = Callable[[Member, HostedProcess, Control], None]
OnFailed = Callable[[Member, CrystalMathError], None]


class Starter:
    """See the module docstring.

    Parameters
    ----------
    on_started, on_failed
        Called in this thread, exactly one of them for each worker.
    """

    def __init__(self, host: ProcessHost, on_started: OnStarted, on_failed: OnFailed) -> None:
        self._host = host
        self._on_started = on_started
        self._on_failed = on_failed
        self._queue: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None

    def start(self, member: Member) -> None:
        """Start a worker soon."""
        self.run(lambda: self._start_or_say(member))

    def run(self, call: Callable[[], None]) -> None:
        """Do something in this thread soon: what starts a process."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="force-starter", daemon=True)
            self._thread.start()
        self._queue.put(call)

    def close(self) -> None:
        """End the thread once everything else has ended: its children would die with it."""
        if self._thread is not None:
            self._queue.put(None)
            self._thread.join(1.0)

    def _run(self) -> None:
        while (call := self._queue.get()) is not None:
            call()

    def _start_or_say(self, member: Member) -> None:
        try:
            self._start(member)
        except CrystalMathError as error:
            self._on_failed(member, error)
        except Exception as error:  # noqa: BLE001 - the thread must go on, whatever a start does
            _log.exception("worker %s could not be started", member.id)
            self._on_failed(member, _unstartable(member, error))

    def _start(self, member: Member) -> None:
        ours, theirs = socket.socketpair()
        try:
            process = self._host.start(
                member.wanted.environment,
                arguments(theirs.fileno(), member.page.fd, member.wanted.environment.declaration),
                pass_fds=(theirs.fileno(), member.page.fd),
                threads=member.threads,
                name=f"{member.id}-{member.wanted.environment.engine}",
            )
        except BaseException:
            ours.close()
            raise
        finally:
            theirs.close()
        self._on_started(member, process, Control(ours))


def arguments(control: int, status: int, declaration: str) -> Sequence[str]:
    """What a worker's program is started with."""
    return ("--control", str(control), "--status", str(status), "--declaration", declaration)


def _unstartable(member: Member, error: Exception) -> CrystalMathError:
    text = os.strerror(error.errno) if isinstance(error, OSError) and error.errno else "see the log"
    return EnvironmentBroken(
        f"a worker for {member.wanted.environment.engine} could not be started: {text}",
        hint="`crystalmath engines doctor` looks at its environment",
    )
