"""A raw connection that is told of events, beside the replies to its calls."""

from __future__ import annotations

import json
import socket
from typing import Any

from rig.wire import RpcError, Wire, request_line

SUBSCRIBE_ID = 1


class Subscriber(Wire):
    """See the module docstring; a context manager.

    Parameters
    ----------
    receive_bytes
        Room for what is not read yet, in the kernel; None: as the system does it.
    """

    def __init__(self, path: str, receive_bytes: int | None = None) -> None:
        super().__init__(path, timeout_s=60.0)
        self._told: list[list[dict[str, Any]]] = []
        if receive_bytes is not None:
            self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_bytes)

    def subscribe(self, *topics: str, **more: Any) -> dict[str, Any]:
        """Subscribe; what is told meanwhile is kept."""
        params = {"topics": list(topics), **more}
        self.sock.sendall(request_line("events.subscribe", params, SUBSCRIBE_ID))
        while (reply := json.loads(self.read_line())).get("id") != SUBSCRIBE_ID:
            self._told.append(reply["params"]["events"])
        if "error" in reply:
            raise RpcError(reply["error"])
        answer: dict[str, Any] = reply["result"]["data"]
        return answer

    def next(self) -> list[dict[str, Any]]:
        """The events of the next notification; raises ``OSError`` when none comes."""
        if self._told:
            return self._told.pop(0)
        events: list[dict[str, Any]] = json.loads(self.read_line())["params"]["events"]
        return events

    def shut(self) -> None:
        """End the connection, also for whoever reads it at the moment."""
        self.sock.shutdown(socket.SHUT_RDWR)
