"""The first stretch of a connection, where the one below it dies."""

from __future__ import annotations

import threading
from typing import Any, cast

import paramiko

from crystalmath.runners.shells.sockets import Tunnel

_HANG_S = 20.0


class DeadChannel:
    """A channel whose connection has broken: it gives no bytes, and cannot say its own end."""

    def settimeout(self, timeout: float) -> None:
        pass

    def recv(self, size: int) -> bytes:
        return b""

    def send(self, data: bytes) -> int:
        return len(data)

    def close(self) -> None:
        raise EOFError


def test_whoever_waits_learns_that_the_connection_below_is_dead() -> None:
    transport = paramiko.Transport(cast("Any", Tunnel(cast("Any", DeadChannel()))))
    over = threading.Event()
    transport.start_client(event=over)
    assert over.wait(_HANG_S)
    assert isinstance(transport.get_exception(), paramiko.SSHException)
