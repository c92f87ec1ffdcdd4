"""Channels of one connection, with a transport made up."""

from __future__ import annotations

import threading
import time
from typing import Any

import paramiko
import pytest

from crystalmath.errors import SshError, Unreachable
from crystalmath.runners.shells.connection import MAX_CHANNELS, Connection, ConnectionLost, Opened

_HANG_S = 20.0


class FakeChannel:
    def __init__(self, transport: FakeTransport) -> None:
        self.transport = transport

    def close(self) -> None:
        self.transport.open -= 1


class FakeTransport:
    """Lets so many sessions be open at once."""

    def __init__(self, sessions: int = 100, fault: Exception | None = None) -> None:
        self.sessions = sessions
        self.fault = fault
        self.open = 0
        self.most = 0

    def open_session(self, timeout: float) -> FakeChannel:
        if self.fault is not None:
            raise self.fault
        if self.open >= self.sessions:
            raise paramiko.ChannelException(1, "Administratively prohibited")
        self.open += 1
        self.most = max(self.most, self.open)
        return FakeChannel(self)

    def is_active(self) -> bool:
        return True

    def close(self) -> None:
        pass


class FakeWire:
    def close(self) -> None:
        pass


def connection(transport: FakeTransport) -> Connection:
    wire: Any = FakeWire()
    transports: Any = [transport]
    return Connection(wire, transports, Opened())


@pytest.mark.parametrize(("sessions", "most"), [(100, MAX_CHANNELS), (2, 2), (1, 1)])
def test_a_server_that_allows_fewer_sessions_teaches_the_limit(sessions: int, most: int) -> None:
    transport = FakeTransport(sessions)
    made = connection(transport)
    done: list[int] = []

    def use(n: int) -> None:
        channel = made.take_channel(time.monotonic() + _HANG_S)
        threading.Event().wait(0.005)
        made.give_back(channel)
        done.append(n)

    threads = [threading.Thread(target=use, args=(n,)) for n in range(30)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(_HANG_S)
    assert sorted(done) == list(range(30))
    assert transport.most <= most
    assert (transport.open, made.open_channels) == (0, 0)


def test_a_server_that_allows_no_session_is_told() -> None:
    with pytest.raises(SshError, match="refuses to open a session") as caught:
        connection(FakeTransport(0)).take_channel(time.monotonic() + _HANG_S)
    assert caught.value.stage == "session"


@pytest.mark.parametrize("fault", [paramiko.SSHException("Timeout"), EOFError(), OSError()])
def test_a_connection_that_does_not_answer_is_lost(fault: Exception) -> None:
    made = connection(FakeTransport(fault=fault))
    with pytest.raises(ConnectionLost):
        made.take_channel(time.monotonic() + _HANG_S)
    assert made.open_channels == 0


def test_waiting_for_a_channel_has_a_deadline() -> None:
    made = connection(FakeTransport())
    for _ in range(MAX_CHANNELS):
        made.take_channel(time.monotonic() + _HANG_S)
    with pytest.raises(Unreachable, match="every channel"):
        made.take_channel(time.monotonic() + 0.02)
