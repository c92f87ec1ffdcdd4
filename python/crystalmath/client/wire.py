"""One connection to the daemon: a request out, its answer in. Called by ``client``."""

from __future__ import annotations

import errno
import json
import os
import socket
import struct
import sys
import time
from collections.abc import Mapping
from typing import Any, Final, Self

from crystalmath.client.errors import Busy, Disconnected, to_exception
from crystalmath.errors import TransportError

CONNECT_S: Final = 0.5


class Wire:
    """One connection: sends a request, reads lines until its answer comes."""

    def __init__(self, sock: socket.socket, path: str) -> None:
        self._sock = sock
        self._path = path
        self._buffer = bytearray()

    @classmethod
    def connect(cls, path: str) -> Self | None:
        """Connect; None when nobody listens.

        Raises
        ------
        TransportError
            Something listens, but it is busy, foreign or no socket.
        """
        sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        sock.settimeout(CONNECT_S)
        deadline = time.monotonic() + CONNECT_S
        while True:
            reason = sock.connect_ex(path)
            if reason == errno.EAGAIN and time.monotonic() < deadline:
                time.sleep(0.01)  # the backlog is full
                continue
            break
        if reason == 0 and _peer_uid(sock) == os.getuid():
            return cls(sock, path)
        sock.close()
        if reason == 0:
            raise TransportError(f"The server at {path} belongs to another user.")
        if reason in (errno.ENOENT, errno.ECONNREFUSED):
            return None
        if reason in (errno.EAGAIN, errno.ETIMEDOUT, errno.EINPROGRESS):
            raise Busy(f"The daemon at {path} takes no connections now.", hint="Try again.")
        raise TransportError(f"Cannot connect to {path}: {os.strerror(reason)}.")

    def close(self) -> None:
        """Close the connection."""
        self._sock.close()

    def call(self, call_id: int, method: str, params: Mapping[str, Any], timeout_s: float) -> Any:
        """Send a request and return ``result``; raises what the server answers."""
        message = {"jsonrpc": "2.0", "id": call_id, "method": method, "params": params}
        data = json.dumps(message, allow_nan=False).encode() + b"\n"
        deadline = time.monotonic() + timeout_s
        try:
            self._sock.settimeout(timeout_s)
            self._sock.sendall(data)
            while True:
                reply = json.loads(self._line(deadline))
                # an id of null is about a line that the server could not attribute: ours
                ours = isinstance(reply, dict) and reply.get("id") in (call_id, None)
                if ours and "method" not in reply:
                    break
        except TimeoutError:
            raise Busy(
                f"The daemon at {self._path} did not answer {method} within {timeout_s:g} s.",
                hint="`crystalmath-server status` tells more.",
            ) from None
        except (OSError, ValueError) as error:
            raise Disconnected(f"The connection to the daemon broke: {error}.") from None
        if "error" in reply:
            raise to_exception(reply["error"])
        return reply["result"]

    def notification(self, timeout_s: float | None) -> dict[str, Any]:
        """Wait for a message that is no answer; raises ``TimeoutError``."""
        deadline = None if timeout_s is None else time.monotonic() + timeout_s
        try:
            while True:
                message: dict[str, Any] = json.loads(self._line(deadline))
                if "method" in message:
                    return message
        except TimeoutError:
            raise TimeoutError(f"nothing was told within {timeout_s:g} s") from None
        except (OSError, ValueError) as error:
            raise Disconnected(f"The connection to the daemon broke: {error}.") from None

    def _line(self, deadline: float | None) -> bytes:
        searched = 0
        while (end := self._buffer.find(b"\n", searched)) < 0:
            searched = len(self._buffer)
            left_s = None if deadline is None else max(0.001, deadline - time.monotonic())
            self._sock.settimeout(left_s)
            data = self._sock.recv(1 << 20)
            if not data:
                raise ConnectionError("the server closed it")
            self._buffer += data
        line = bytes(self._buffer[:end])
        del self._buffer[: end + 1]
        return line


def _peer_uid(sock: socket.socket) -> int:
    if sys.platform == "darwin":
        # <sys/ucred.h>: struct xucred {u_int version; uid_t uid; …}, from LOCAL_PEERCRED
        return int(struct.unpack_from("II", sock.getsockopt(0, 1, 76))[1])
    credentials = sock.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    return int(struct.unpack("3i", credentials)[1])
