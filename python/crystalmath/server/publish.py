"""Puts the listening socket into the file system without ever removing somebody else's.

The socket is bound under a temporary name and renamed over the final one, so that there is no
moment without a reachable socket; only a socket that refuses connections is replaced. Called by
``lifecycle``, under the lock.
"""

from __future__ import annotations

import errno
import os
import secrets
import socket
import stat
from pathlib import Path
from typing import Final

from crystalmath.errors import Conflict

BACKLOG: Final = 128


class Publication:
    """Our listening socket and the name it has in the file system."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.listener: socket.socket | None = None
        self._identity: tuple[int, int] | None = None

    def publish(self) -> socket.socket:
        """Listen at the path and return the (non-blocking) listener.

        Raises
        ------
        Conflict
            Something that is not a stale socket is in the way; it is left untouched.
        """
        refuse_unless_free(self.path)
        temporary = self._temporary()
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            old = os.umask(0o177)
            try:
                listener.bind(temporary)
            finally:
                os.umask(old)
            listener.listen(BACKLOG)
            listener.setblocking(False)
            found = os.lstat(temporary)
            Path(temporary).rename(self.path)
        except BaseException:
            listener.close()
            Path(temporary).unlink(missing_ok=True)
            raise
        self.listener = listener
        self._identity = (found.st_dev, found.st_ino)
        return listener

    def is_ours(self, path: str | None = None) -> bool:
        """Whether the file at the path is the socket that we made."""
        try:
            found = os.lstat(path or self.path)
        except OSError:
            return False
        return (found.st_dev, found.st_ino) == self._identity

    def is_gone(self) -> bool:
        """Whether nothing is at the path any more."""
        return not os.path.lexists(self.path)

    def set_aside(self) -> str | None:
        """Give the socket a temporary name, so that no new client finds it; None if not ours."""
        if not self.is_ours():
            return None
        aside = self._temporary()
        Path(self.path).rename(aside)
        return aside

    def put_back(self, aside: str) -> None:
        """Undo :meth:`set_aside`, unless something else has taken the place."""
        refuse_unless_free(self.path)
        Path(aside).rename(self.path)

    def withdraw(self, aside: str | None = None) -> None:
        """Unlink the socket if it is ours, and stop listening."""
        for path in (self.path, aside):
            if path is not None and self.is_ours(path):
                Path(path).unlink(missing_ok=True)
        if self.listener is not None:
            self.listener.close()
            self.listener = None

    def _temporary(self) -> str:
        # nine bytes; the alphabet of token_hex makes 2^24 names, and bind refuses a taken one
        return str(Path(self.path).parent / f".cm{secrets.token_hex(3)}")


def refuse_unless_free(path: str) -> None:
    """Check that nothing, or a stale socket, is at ``path``.

    Raises
    ------
    Conflict
        Anything else is there.
    """
    try:
        found = os.lstat(path)
    except FileNotFoundError:
        return
    if not stat.S_ISSOCK(found.st_mode):
        raise Conflict(
            f"{path} exists and is not a socket; it is left as it is.",
            hint="Move it away, or give another path with --socket.",
        )
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.setblocking(False)  # a full backlog answers EAGAIN instead of making us wait
        reason = probe.connect_ex(path)
    if reason in (errno.ECONNREFUSED, errno.ENOENT):
        return
    if reason in (0, errno.EAGAIN, errno.EINPROGRESS):
        raise Conflict(
            f"Another program listens at {path}; it is left as it is.",
            hint="Stop that program, or give another path with --socket.",
        )
    raise Conflict(
        f"Cannot tell whether the socket {path} is in use: {os.strerror(reason)}.",
        hint="Give another path with --socket.",
    )
