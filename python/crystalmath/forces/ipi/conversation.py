"""The connection to one force program: bytes out and in, each within a deadline.

The common case costs no more than the calls that move the bytes: the kernel waits a moment
(``SO_RCVTIMEO``). Only when nothing has come by then, both the connection and the process are
watched until the deadline.
"""

from __future__ import annotations

import select
import socket
import struct
import time
from typing import Final

from crystalmath.errors import WorkerDied, WorkerTimeout
from crystalmath.forces.ipi.codec import ReplyReader
from crystalmath.forces.ipi.program import Program
from crystalmath.forces.ipi.words import surprise

_MOMENT_S: Final = 0.02
_AFTER_DEATH_S: Final = 1.0
"""How long the connection may outlive the process that was started, as with a launcher of MPI."""
_REAP_S: Final = 2.0
_TICK_MS: Final = 50
_TIMEVAL: Final = struct.Struct("@ll")
_TAIL_LINES: Final = 12


class Conversation:
    """Words and answers with one connected program.

    Attributes
    ----------
    allowed_s
        What the deadline in force gives, for messages.

    Raises
    ------
    WorkerDied
        The connection was closed, or the process is gone.
    WorkerTimeout
        The deadline passed.
    BadResult
        The answer is none.
    """

    def __init__(self, connection: socket.socket, title: str, program: Program | None) -> None:
        self.connection = connection
        self.title = title
        self.program = program
        self.allowed_s = 0.0
        self._unasked = select.poll()
        self._unasked.register(connection, select.POLLIN)
        moment = _TIMEVAL.pack(0, int(_MOMENT_S * 1e6))
        for option in (socket.SO_RCVTIMEO, socket.SO_SNDTIMEO):
            connection.setsockopt(socket.SOL_SOCKET, option, moment)

    def send(self, data: memoryview | bytes, until: float, phase: str) -> None:
        """Send all of it."""
        view = memoryview(data)
        while view:
            try:
                view = view[self.connection.send(view, socket.MSG_NOSIGNAL) :]
            except BlockingIOError:
                self._watch(select.POLLOUT, until, phase)
            except OSError as error:
                raise self.death(phase) from error

    def receive(self, reader: ReplyReader, until: float, phase: str) -> None:
        """Read until the answer that the reader expects is complete."""
        take = self.connection.recv_into
        while True:
            try:
                count = take(reader.room())
            except BlockingIOError:
                self._watch(select.POLLIN, until, phase)
                continue
            except OSError as error:
                raise self.death(phase) from error
            if count == 0:
                raise self.death(f"{phase}, in the middle of its answer" if reader.begun else phase)
            if reader.took(count):
                return

    def expect_silence(self) -> None:
        """Make sure that nothing came unasked: it would be taken for the next answer."""
        if not self._unasked.poll(0):
            return
        try:
            stray = self.connection.recv(12, socket.MSG_PEEK | socket.MSG_DONTWAIT)
        except OSError as error:
            raise self.death("waiting for the next structure") from error
        if not stray:
            raise self.death("waiting for the next structure")
        raise surprise(f"{len(stray)} bytes or more came unasked")

    def _watch(self, events: int, until: float, phase: str) -> None:
        """Wait until the connection is ready, the process gone, or the deadline over."""
        poll = select.poll()
        poll.register(self.connection, events)
        program = self.program
        if program is not None and program.pidfd >= 0:
            poll.register(program.pidfd, select.POLLIN)
        alive = True
        while True:
            left_s = until - time.monotonic()
            if left_s <= 0.0:
                if alive:
                    raise self.lateness(phase)
                raise self.death(phase)
            wait_ms = left_s * 1e3 + 1.0
            if alive and program is not None and program.pidfd < 0:
                wait_ms = min(wait_ms, _TICK_MS)
            ready = {descriptor for descriptor, _ in poll.poll(wait_ms)}
            if self.connection.fileno() in ready:
                return
            if alive and program is not None and program.exit_code() is not None:
                alive = False
                until = min(until, time.monotonic() + _AFTER_DEATH_S)
                if program.pidfd >= 0:
                    poll.unregister(program.pidfd)

    def death(self, phase: str) -> WorkerDied:
        """Return the error for a program that is gone."""
        if self.program is not None:
            self.program.wait(_REAP_S)
        return WorkerDied(
            f"{self.title} {self._ending()} while {phase}", hint=last_lines(self.program)
        )

    def _ending(self) -> str:
        if self.program is None:
            return "closed the connection"
        if self.program.exit_code() is None:
            return "closed the connection"
        return self.program.describe_end()

    def lateness(self, phase: str) -> WorkerTimeout:
        """Return the error for a program that did not answer in time."""
        return WorkerTimeout(
            f"{self.title} did not answer within {self.allowed_s:g} s while {phase}",
            hint=last_lines(self.program),
        )


def last_lines(program: Program | None) -> str | None:
    """Quote what a program wrote last, for the hint of an error."""
    if program is None:
        return None
    lines = program.tail().splitlines()[-_TAIL_LINES:]
    return "its last words:\n" + "\n".join(lines) if lines else "it wrote nothing"
