"""Where a foreign program connects: a socket file of a random name, or TCP on the loopback."""

from __future__ import annotations

import errno
import os
import re
import secrets
import socket
import stat
import struct
from pathlib import Path
from typing import Final, Literal

from crystalmath.errors import Conflict, InputRejected
from crystalmath.forces.ipi.quirks import MAX_SOCKET_PATH_BYTES, SOCKET_PREFIX

LOOPBACK: Final = "127.0.0.1"
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_CREDENTIALS: Final = struct.Struct("3i")


def socket_path(name: str) -> str:
    """Path of the socket file that programs look for under ``name``.

    Raises
    ------
    InputRejected
        The name has other characters than letters, digits, ``._-``, or is too long.
    """
    if not _NAME.fullmatch(name):
        raise InputRejected(
            f"{name!r} cannot be the name of an i-PI socket",
            hint="use letters, digits and . _ - only, beginning with a letter or digit",
            field="name",
        )
    path = SOCKET_PREFIX + name
    if len(path) > MAX_SOCKET_PATH_BYTES:
        raise InputRejected(
            f"the name of the i-PI socket has {len(name)} characters; "
            f"{MAX_SOCKET_PATH_BYTES - len(SOCKET_PREFIX)} are possible",
            field="name",
        )
    return path


class Door:
    """A listening socket for one program; closed, and its file removed, as soon as one is in.

    Parameters
    ----------
    transport
        ``unix``, or ``inet``: TCP on the loopback, where any local user could connect.
    name
        Of the socket file; by default a random one.
    port
        Of TCP; 0 takes a free one.

    Raises
    ------
    InputRejected
        The name is not possible.
    Conflict
        Somebody listens there already.
    """

    def __init__(
        self, transport: Literal["unix", "inet"] = "unix", *, name: str | None = None, port: int = 0
    ) -> None:
        self.transport = transport
        self.name = f"cm{secrets.token_hex(8)}" if name is None else name
        self.path = socket_path(self.name) if transport == "unix" else ""
        self.host, self.port = (LOOPBACK, port) if transport == "inet" else ("", 0)
        self._inode = 0
        family = socket.AF_UNIX if transport == "unix" else socket.AF_INET
        self.listener = socket.socket(family, socket.SOCK_STREAM)
        try:
            if transport == "unix":
                self._bind_file()
            else:
                self._bind_port()
            self.listener.listen(1)
            self.listener.setblocking(False)
        except BaseException:
            self.close()
            raise

    def _bind_file(self) -> None:
        # The file takes its mode from the socket: it is never open to others, not for a moment.
        os.fchmod(self.listener.fileno(), 0o600)
        try:
            self.listener.bind(self.path)
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                raise
            _remove_stale(self.path)
            self.listener.bind(self.path)
        self._inode = Path(self.path).lstat().st_ino

    def _bind_port(self) -> None:
        self.listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            self.listener.bind((self.host, self.port))
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                raise
            raise Conflict(
                f"port {self.port} is in use",
                hint="leave the port out to take a free one",
                field="port",
            ) from None
        self.port = self.listener.getsockname()[1]

    def fill_in(self, argument: str) -> str:
        """Replace ``{name}``, ``{path}``, ``{host}`` and ``{port}`` in an argument of a command."""
        for placeholder, value in (
            ("{name}", self.name),
            ("{path}", self.path),
            ("{host}", self.host),
            ("{port}", str(self.port)),
        ):
            argument = argument.replace(placeholder, value)
        return argument

    def accept(self) -> socket.socket | None:
        """Take the connection that waits, if any; another user's is dropped. Closes the door."""
        try:
            connection, _ = self.listener.accept()
        except BlockingIOError:
            return None
        if self.transport == "unix":
            if not _is_ours(connection):
                connection.close()
                return None
        else:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection.setblocking(True)
        self.close()
        return connection

    def close(self) -> None:
        """Stop listening and remove the file; may be called again."""
        self.listener.close()
        if self._inode:
            path = Path(self.path)
            try:
                if path.lstat().st_ino == self._inode:
                    path.unlink()
            except FileNotFoundError:
                pass
            self._inode = 0


def _is_ours(connection: socket.socket) -> bool:
    """Whether this user, or root, is at the other end; the mode of the file says so already."""
    if not hasattr(socket, "SO_PEERCRED"):
        return True
    raw = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    _, user, _ = _CREDENTIALS.unpack(raw)
    return user in (os.geteuid(), 0)


def _remove_stale(path: str) -> None:
    """Remove a socket file that nobody listens on.

    Raises
    ------
    Conflict
        Somebody does, or it is no socket.
    """
    there = Path(path).lstat()
    if not stat.S_ISSOCK(there.st_mode):
        raise Conflict(f"{path} is there and is no socket", hint="take another name", field="name")
    with socket.socket(socket.AF_UNIX) as probe:
        try:
            probe.connect(path)
        except ConnectionRefusedError:
            if Path(path).lstat().st_ino == there.st_ino:
                Path(path).unlink()
            return
        except (FileNotFoundError, PermissionError):
            pass
    raise Conflict(f"another program listens on {path}", hint="take another name", field="name")
