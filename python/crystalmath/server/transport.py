"""Accepts clients: checks who they are and how many there are, and refuses in JSON-RPC.

All of it runs in the main thread's loop and never waits. Called by ``lifecycle``.
"""

from __future__ import annotations

import errno
import logging
import os
import socket
import threading
import time
from dataclasses import dataclass
from typing import Final

from crystalmath.errors import Overloaded
from crystalmath.server.connection import ClientConnection
from crystalmath.server.envelope import exception_reply
from crystalmath.server.notifier import Notifier
from crystalmath.server.peer import peer_uid
from crystalmath.server.router import Router
from crystalmath.server.settings import WireLimits

_log = logging.getLogger(__name__)

MAX_REFUSED: Final = 32
"""Refused sockets that may linger at a time; further ones are closed at once."""

NO_DESCRIPTOR_S: Final = 0.05
"""How long the loop rests when not even the spare descriptor is there."""


@dataclass(slots=True)
class Refused:
    """A refused socket that is drained a moment, so that the peer can read why."""

    sock: socket.socket
    until: float


class Transport:
    """The clients of a listener.

    Parameters
    ----------
    router
        Where their requests go.
    limits
        How many clients, how long refused ones linger.
    trace_prefix
        Beginning of every trace id of this run.
    notifier
        Sends the clients what they subscribe to.
    """

    def __init__(
        self, router: Router, limits: WireLimits, trace_prefix: str, notifier: Notifier
    ) -> None:
        self._router = router
        self._limits = limits
        self._trace_prefix = trace_prefix
        self._notifier = notifier
        self._lock = threading.Lock()
        self._clients: dict[int, ClientConnection] = {}
        self._accepted = 0
        self._spare: int | None = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
        self.refused: dict[int, Refused] = {}
        self.last_activity = time.monotonic()

    def has_been_reached(self) -> bool:
        """Return whether any client has ever come."""
        return self._accepted > 0

    def clients(self) -> list[ClientConnection]:
        """Return the open connections."""
        with self._lock:
            return list(self._clients.values())

    def accept_all(self, listener: socket.socket) -> int:
        """Accept everything in the backlog; return how many connections there were."""
        count = 0
        while True:
            try:
                sock, _ = listener.accept()
            except BlockingIOError:
                return count
            except OSError as error:
                if error.errno in (errno.EMFILE, errno.ENFILE) and self._shed(listener):
                    continue
                if error.errno not in (errno.ECONNABORTED, errno.EINTR, errno.EMFILE, errno.ENFILE):
                    raise
                return count
            count += 1
            self._welcome(sock)

    def drain_refused(self) -> None:
        """Read and drop what refused peers still send; close them when done or late."""
        for fd, refused in list(self.refused.items()):
            try:
                data: bytes | None = refused.sock.recv(65536)
            except BlockingIOError:
                data = None
            except OSError:
                data = b""
            if data == b"" or time.monotonic() >= refused.until:
                refused.sock.close()
                del self.refused[fd]

    def close_all(self, flush_s: float) -> None:
        """Send what is ready, then end every connection."""
        deadline = time.monotonic() + flush_s
        clients = self.clients()
        for client in clients:
            client.flush(max(0.0, deadline - time.monotonic()))
        for client in clients:
            client.hang_up()

    def _welcome(self, sock: socket.socket) -> None:
        sock.setblocking(True)
        if peer_uid(sock) != os.getuid():
            _log.warning("a client of another user was turned away")
            sock.close()
            return
        with self._lock:
            full = len(self._clients) >= self._limits.connections
            if not full:
                self._accepted += 1
                client = ClientConnection(
                    self._accepted, sock, self._router, self._limits, self._trace_prefix,
                    self._gone, notifier=self._notifier,
                )  # fmt: skip
                self._clients[client.id] = client
        if full:
            self._refuse(sock)
        else:
            client.start()

    def _gone(self, client: ClientConnection) -> None:
        with self._lock:
            self._clients.pop(client.id, None)
            self.last_activity = time.monotonic()

    def _refuse(self, sock: socket.socket) -> None:
        error = Overloaded(
            f"The daemon has its {self._limits.connections} clients already.",
            hint="Wait a moment and try again.",
        )
        sock.setblocking(False)
        try:
            sock.send(exception_reply(None, error, self._trace_prefix))
            # closing with unread bytes would reset the peer before it has read this
            sock.shutdown(socket.SHUT_WR)
        except OSError:
            sock.close()
            return
        if len(self.refused) >= MAX_REFUSED:
            sock.close()
            return
        until = time.monotonic() + self._limits.refused_drain_s
        self.refused[sock.fileno()] = Refused(sock, until)

    def _shed(self, listener: socket.socket) -> bool:
        """Out of descriptors: give up the spare one to refuse the first in the queue."""
        if self._spare is None:
            time.sleep(NO_DESCRIPTOR_S)  # the listener stays readable: do not spin
            return False
        os.close(self._spare)
        self._spare = None
        try:
            sock, _ = listener.accept()
        except OSError:
            return False
        else:
            error = Overloaded("The daemon is out of file descriptors.", hint="Try again later.")
            try:
                sock.send(exception_reply(None, error, self._trace_prefix))
                sock.shutdown(socket.SHUT_WR)
            except OSError:
                _log.info("a refused client was gone already")
            sock.close()
            return True
        finally:
            self.reopen_spare()

    def reopen_spare(self) -> None:
        """Get the spare descriptor back; tried again in every turn of the loop until it works."""
        if self._spare is None:
            try:
                self._spare = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
            except OSError:
                _log.warning("no file descriptor is left")
