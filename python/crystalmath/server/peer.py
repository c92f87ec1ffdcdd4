"""Talks to a running daemon: hello, status, shutdown. Not the client library; stdlib only.

Called by ``claim`` (who holds the lock?) and ``cli``.
"""

from __future__ import annotations

import errno
import json
import os
import socket
import struct
import sys
import time
from typing import Any, Literal, Self

Trouble = Literal["down", "busy", "refused"]


class PeerError(Exception):
    """No conversation is possible.

    Attributes
    ----------
    trouble
        ``down``: nobody listens. ``busy``: somebody does, but does not answer. ``refused``: what
        is there is not ours to talk to.
    """

    def __init__(self, trouble: Trouble, text: str) -> None:
        super().__init__(text)
        self.trouble = trouble


class PeerRpcError(Exception):
    """The daemon answered with an error."""

    def __init__(self, error: dict[str, Any]) -> None:
        super().__init__(str(error.get("message", "")))
        self.code = int(error.get("code", 0))
        self.data: dict[str, Any] = error.get("data") or {}


class Peer:
    """A connection to the daemon at ``path``; a context manager.

    Raises
    ------
    PeerError
        Nobody can be reached within ``timeout_s``.
    """

    def __init__(self, path: str, timeout_s: float) -> None:
        self._deadline = time.monotonic() + timeout_s
        self._buffer = b""
        self._next_id = 0
        self._sock = self._connect(path)
        if peer_uid(self._sock) != os.getuid():
            self._sock.close()
            raise PeerError("refused", f"the server at {path} belongs to another user")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exception: object) -> None:
        self._sock.close()

    def call(self, method: str, params: dict[str, Any] | None = None) -> Any:
        """Call a method and return ``data``.

        Raises
        ------
        PeerError
            No answer came in time.
        PeerRpcError
            The answer is an error.
        """
        self._next_id += 1
        request = {"jsonrpc": "2.0", "id": self._next_id, "method": method, "params": params or {}}
        try:
            self._sock.settimeout(self._remaining_s())
            self._sock.sendall(json.dumps(request).encode() + b"\n")
            while True:
                reply = json.loads(self._line())
                if isinstance(reply, dict) and reply.get("id") in (self._next_id, None):
                    break
        except (OSError, ValueError) as error:
            raise PeerError("busy", f"no answer: {error}") from None
        if "error" in reply:
            raise PeerRpcError(reply["error"])
        return reply["result"]["data"]

    def _line(self) -> bytes:
        while b"\n" not in self._buffer:
            self._sock.settimeout(self._remaining_s())
            data = self._sock.recv(65536)
            if not data:
                raise PeerError("down", "the server closed the connection")
            self._buffer += data
        line, _, self._buffer = self._buffer.partition(b"\n")
        return line

    def _remaining_s(self) -> float:
        return max(0.001, self._deadline - time.monotonic())

    def _connect(self, path: str) -> socket.socket:
        sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        sock.settimeout(self._remaining_s())
        while True:
            reason = sock.connect_ex(path)
            if reason == 0:
                return sock
            if reason == errno.EAGAIN and time.monotonic() < self._deadline:
                time.sleep(0.01)  # the backlog is full
                continue
            sock.close()
            if reason in (errno.ENOENT, errno.ECONNREFUSED):
                raise PeerError("down", os.strerror(reason))
            if reason in (errno.EAGAIN, errno.ETIMEDOUT, errno.EINPROGRESS):
                raise PeerError("busy", "it does not take connections")
            raise PeerError("refused", f"{path}: {os.strerror(reason)}")


def hello(path: str, timeout_s: float) -> dict[str, Any] | None:
    """Ask who listens at ``path``; None when nobody answers in time."""
    try:
        with Peer(path, timeout_s) as peer:
            answer: dict[str, Any] = peer.call("system.hello", {"client": "crystalmath-server"})
            return answer
    except (PeerError, PeerRpcError):
        return None


def peer_uid(sock: socket.socket) -> int:
    """Return the user id of the process at the other end of a Unix socket."""
    if sys.platform == "darwin":
        # <sys/ucred.h>: struct xucred {u_int version; uid_t uid; …}, from LOCAL_PEERCRED
        return int(struct.unpack_from("II", sock.getsockopt(0, 1, 76))[1])
    credentials = sock.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    return int(struct.unpack("3i", credentials)[1])
