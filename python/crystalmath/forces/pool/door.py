"""The private socket through which clients reach the workers.

A client shows a token of ``forces.attach``; its connection is then handed to the worker, and the
daemon is out of the way. Runs in the thread of the supervisor; nobody is waited for.
"""

from __future__ import annotations

import hashlib
import logging
import os
import secrets
import socket
import struct
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from crystalmath.errors import CrystalMathError, ForcesError, Overloaded, WorkerDied
from crystalmath.forces.pool import endings
from crystalmath.forces.pool.control import ControlClosed, ControlError
from crystalmath.forces.pool.member import Member
from crystalmath.forces.pool.supervisor import Supervisor
from crystalmath.forces.worker import plain, wire
from crystalmath.services.ports_pool import PoolLimits

_log = logging.getLogger(__name__)

TOKEN_BYTES: Final = 32
MAX_PATH_BYTES: Final = 107
_BACKLOG: Final = 64
_WAITING: Final = 64


def door_path(socket_path: str) -> str:
    """Where the door of the daemon at ``socket_path`` is: beside it, one for each socket."""
    digest = hashlib.sha256(os.fsencode(socket_path)).hexdigest()[:8]
    return os.path.join(os.path.dirname(socket_path), f"cmf-{digest}.sock")  # noqa: PTH118, PTH120


@dataclass(slots=True, eq=False)
class _Visitor:
    """A connection that has not shown its token yet."""

    sock: socket.socket
    until: float
    shown: bytes = b""


class Door:
    """See the module docstring. Everything but :meth:`open` is called under the roster's lock.

    Parameters
    ----------
    path
        Of the socket; whatever lies there is a leftover of ours, as the daemon holds its lock.
    """

    def __init__(self, path: str, limits: PoolLimits, supervisor: Supervisor) -> None:
        self.path = path
        self._limits = limits
        self._supervisor = supervisor
        self._listener: socket.socket | None = None
        self._identity: tuple[int, int] | None = None
        self._tokens: dict[str, tuple[Member, float]] = {}
        self._visitors: set[_Visitor] = set()

    def open(self) -> None:
        """Listen, if it does not yet.

        Raises
        ------
        ForcesError
            The path is too long or cannot be used.
        """
        if self._listener is not None:
            return
        if len(os.fsencode(self.path)) > MAX_PATH_BYTES:
            raise ForcesError(
                f"the path of the socket for force engines is longer than {MAX_PATH_BYTES} bytes",
                hint="give the daemon a shorter --socket",
            )
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            with suppress(FileNotFoundError):
                os.unlink(self.path)  # noqa: PTH108
            _bind_private(listener, self.path)
            listener.listen(_BACKLOG)
            listener.setblocking(False)
        except OSError as error:
            listener.close()
            raise ForcesError(
                f"the socket for force engines cannot be made: {error.strerror}",
                hint="check the directory of the daemon's socket",
            ) from error
        info = os.stat(self.path)  # noqa: PTH116
        self._identity = (info.st_dev, info.st_ino)
        self._listener = listener
        self._supervisor.loop.watch(listener, self._accept)
        self._supervisor.chores.append(self._drop_late)

    def issue(self, member: Member) -> str:
        """A token for one connection to a worker."""
        now = time.monotonic()
        for token, (_, until) in list(self._tokens.items()):
            if until < now:
                del self._tokens[token]
        token = secrets.token_hex(TOKEN_BYTES // 2)
        self._tokens[token] = (member, now + self._limits.token_s)
        return token

    def close(self) -> None:
        """Listen no more, and remove the socket if it is still ours."""
        listener, self._listener = self._listener, None
        if listener is None:
            return
        with suppress(OSError):
            info = os.stat(self.path)  # noqa: PTH116
            if (info.st_dev, info.st_ino) == self._identity:
                os.unlink(self.path)  # noqa: PTH108
        self._supervisor.loop.soon(lambda: self._close_all(listener))

    def _close_all(self, listener: socket.socket) -> None:
        self._supervisor.loop.unwatch(listener)
        listener.close()
        for visitor in list(self._visitors):
            self._leave(visitor)

    # --- in the thread of the supervisor --------------------------------------------------------

    def _accept(self) -> None:
        listener = self._listener
        if listener is None:
            return
        while True:
            try:
                sock, _ = listener.accept()
            except BlockingIOError:
                return
            except OSError as error:  # no descriptors left: the client sees its own deadline
                _log.warning("a client of the force workers could not be accepted: %s", error)
                return
            if not _is_ours(sock) or len(self._visitors) >= _WAITING:
                sock.close()
                continue
            visitor = _Visitor(sock, time.monotonic() + self._limits.knock_s)
            self._visitors.add(visitor)
            self._supervisor.loop.watch(sock, _reader(self, visitor))

    def _drop_late(self) -> bool:
        """Send away who shows nothing; whether there is anybody left to wait for."""
        now = time.monotonic()
        for visitor in list(self._visitors):
            if visitor.until < now:
                self._leave(visitor)
        return bool(self._visitors)

    def read(self, visitor: _Visitor) -> None:
        """Take what a visitor shows."""
        if visitor not in self._visitors:
            return
        wanted = TOKEN_BYTES - len(visitor.shown)
        try:
            data = visitor.sock.recv(wanted, socket.MSG_DONTWAIT)  # what follows is the worker's
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self._leave(visitor)
            return
        visitor.shown += data
        if len(visitor.shown) == TOKEN_BYTES:
            self._admit(visitor)

    def _admit(self, visitor: _Visitor) -> None:
        member, until = self._tokens.pop(visitor.shown.decode("ascii", "replace"), (None, 0.0))
        error: CrystalMathError | None = None
        if member is None or until < time.monotonic():
            error = ForcesError("this token is not good, or not any more",
                                hint="ask `forces.attach` for another")  # fmt: skip
        elif member.stage != "ready" or member.control is None:
            error = member.failure or WorkerDied(
                f"{endings.named(member)} is ending", hint="ask `forces.attach` again"
            )
        elif member.look().clients >= self._limits.channels:
            error = Overloaded(f"{endings.named(member)} has {self._limits.channels} clients",
                               hint="close some of them")  # fmt: skip
        else:
            error = self._hand_over(visitor, member)
        if error is not None:
            _send(visitor.sock, plain.render_message(wire.FAULT, _fault(error)))
        self._leave(visitor)

    def _hand_over(self, visitor: _Visitor, member: Member) -> CrystalMathError | None:
        if member.control is None:
            return WorkerDied(f"{endings.named(member)} is gone")
        _send(visitor.sock, plain.render_message(wire.ATTACH))  # before the worker's first word
        try:
            member.control.attach(visitor.sock.fileno())
        except (ControlClosed, ControlError):
            return None  # the connection closes: as if the worker had died just after
        member.last_used = time.monotonic()
        return None

    def _leave(self, visitor: _Visitor) -> None:
        self._visitors.discard(visitor)
        self._supervisor.loop.unwatch(visitor.sock)
        visitor.sock.close()


def _reader(door: Door, visitor: _Visitor) -> Callable[[], None]:
    return lambda: door.read(visitor)


def _send(sock: socket.socket, data: bytes) -> None:
    with suppress(OSError):
        sock.send(data, socket.MSG_DONTWAIT | socket.MSG_NOSIGNAL)


def _fault(error: CrystalMathError) -> dict[str, object]:
    return {
        "kind": error.kind,
        "message": error.message,
        "hint": error.hint,
        "retryable": error.retryable,
    }


def _bind_private(listener: socket.socket, path: str) -> None:
    """Bind with mode 0600: the umask belongs to the whole process, which keeps it at 077."""
    listener.bind(path)
    os.chmod(path, 0o600)  # noqa: PTH101


def _is_ours(sock: socket.socket) -> bool:
    """Whether the peer is the same user."""
    if not hasattr(socket, "SO_PEERCRED"):
        return True  # the mode of the socket keeps others out
    _, uid, _ = struct.unpack("3i", sock.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
    return bool(uid == os.geteuid())
