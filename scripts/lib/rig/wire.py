"""A raw connection to a daemon: bytes out, lines in, nothing hidden.

Not the client library: no retries, no auto-start, no deadline but the socket's. Used wherever what
travels over the socket is the thing that is looked at.
"""

from __future__ import annotations

import json
import socket
from typing import Any, Self

READ_BYTES = 1 << 18


class ClosedError(ConnectionError):
    """The daemon closed the connection before a whole line came."""


class RpcError(Exception):
    """The daemon answered with an error.

    Attributes
    ----------
    code, data
        As in the reply.
    """

    def __init__(self, error: dict[str, Any]) -> None:
        super().__init__(f"{error.get('code')} {error.get('message')}")
        self.code = int(error["code"])
        self.data: dict[str, Any] = error.get("data") or {}

    @property
    def retryable(self) -> bool:
        """Whether the daemon says that trying again may help."""
        return self.data.get("retryable") is True


def request_line(method: str, params: dict[str, Any] | None = None, call_id: int = 1) -> bytes:
    """One request as it is sent, with its newline."""
    request = {"jsonrpc": "2.0", "id": call_id, "method": method, "params": params or {}}
    return json.dumps(request, separators=(",", ":")).encode() + b"\n"


class Wire:
    """A connection; a context manager.

    Parameters
    ----------
    path
        The socket.
    timeout_s
        Longest wait for anything: connecting, sending, the next bytes.
    """

    def __init__(self, path: str, timeout_s: float = 10.0) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(timeout_s)
        self._buffer = b""
        self._next_id = 0
        try:
            self.sock.connect(path)
        except BaseException:
            self.sock.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exception: object) -> None:
        self.sock.close()

    def read_line(self) -> bytes:
        """Read one line, without its newline.

        Raises
        ------
        ClosedError
            The connection ended first.
        """
        while b"\n" not in self._buffer:
            data = self.sock.recv(READ_BYTES)
            if not data:
                raise ClosedError("the daemon closed the connection")
            self._buffer += data
        line, _, self._buffer = self._buffer.partition(b"\n")
        return line

    def call_unread(self, method: str, params: dict[str, Any] | None = None) -> bytes:
        """Send a request and return the line that answers it, as it came; an error too."""
        self._next_id += 1
        self.sock.sendall(request_line(method, params, self._next_id))
        return self.read_line()

    def call(self, method: str, params: dict[str, Any] | None = None) -> dict[str, Any]:
        """Send a request and return the ``result`` of its reply.

        Raises
        ------
        RpcError
            The reply is an error.
        OSError
            There is no reply: the connection ended, or nothing came in time.
        """
        self._next_id += 1
        self.sock.sendall(request_line(method, params, self._next_id))
        while True:
            reply: dict[str, Any] = json.loads(self.read_line())
            if reply.get("id") in (self._next_id, None):
                break
        if "error" in reply:
            raise RpcError(reply["error"])
        result: dict[str, Any] = reply["result"]
        return result
