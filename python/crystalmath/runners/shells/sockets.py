"""The first stretch of a connection: name, TCP, or the program of ``ProxyCommand``."""

from __future__ import annotations

import socket
import subprocess
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from crystalmath.errors import Unreachable
from crystalmath.runners.shells.hosts import Hop

if TYPE_CHECKING:
    from paramiko import Channel

CONNECT_S: Final = 15.0
_DEAD_PEER_S: Final = 30
_REAP_S: Final = 2.0
_FAMILIES: Final = {"inet": socket.AF_INET, "inet6": socket.AF_INET6}

Address = tuple[int, int, int, str, tuple[object, ...]]


class Wire:
    """A connected socket, and the program behind it if there is one."""

    def __init__(self, sock: socket.socket, child: subprocess.Popen[bytes] | None = None) -> None:
        self.sock = sock
        self._child = child

    def close(self) -> None:
        """Close at once, whatever waits to be sent; reap the program."""
        with suppress(OSError):  # it may be gone already
            self.sock.shutdown(socket.SHUT_RDWR)
        self.sock.close()
        if self._child is None:
            return
        self._child.terminate()
        try:
            self._child.wait(_REAP_S)
        except subprocess.TimeoutExpired:
            self._child.kill()
            self._child.wait()


class Tunnel:
    """A channel through one connection, as the socket of the next one.

    Everything is the channel's own but its end: a channel says there that it is closed, which
    raises when the connection below is dead, and then whoever waits for the connection above is
    never told that it is over.
    """

    def __init__(self, channel: Channel) -> None:
        self._channel = channel

    def __getattr__(self, name: str) -> object:
        """Return what the channel has."""
        return getattr(self._channel, name)

    def close(self) -> None:
        """Close; a dead connection below is none of ours."""
        from paramiko import SSHException

        with suppress(OSError, EOFError, SSHException):
            self._channel.close()


def open_wire(hop: Hop, until: float, now: Callable[[], float]) -> Wire:
    """Reach a host.

    Raises
    ------
    Unreachable
        With the stage ``resolve`` or ``connect``.
    """
    if hop.proxy_command is not None:
        return _run_proxy_command(hop.proxy_command)
    addresses = _resolve(hop, min(CONNECT_S, until - now()))
    trouble: OSError | None = None
    for family, kind, protocol, _name, address in addresses:
        sock = socket.socket(family, kind, protocol)
        try:
            sock.settimeout(max(0.1, min(CONNECT_S, until - now())))
            sock.connect(address)
            _tune(sock)
        except OSError as err:
            sock.close()
            trouble = err
        else:
            return Wire(sock)
    raise Unreachable(
        f"{hop.label} cannot be reached: {_reason(trouble)}",
        hint=_connect_hint(trouble),
        host=hop.label,
        stage="connect",
    ) from trouble


def _resolve(hop: Hop, timeout_s: float) -> list[Address]:
    """Look a name up; in a thread of its own, because a lookup has no time limit."""
    family = _FAMILIES.get(hop.address_family, socket.AF_UNSPEC)
    found: list[Address] = []
    trouble: list[OSError] = []

    def look() -> None:
        try:
            found.extend(socket.getaddrinfo(hop.host, hop.port, family, socket.SOCK_STREAM))
        except OSError as err:
            trouble.append(err)

    thread = threading.Thread(target=look, name=f"resolve {hop.host}", daemon=True)
    thread.start()
    thread.join(max(0.1, timeout_s))
    if found:
        return list(found)
    why = "no answer from the name server" if not trouble else _reason(trouble[0])
    raise Unreachable(
        f"the name {hop.host} cannot be resolved: {why}",
        hint="Look at `hostname`, and whether the network or a VPN is up.",
        host=hop.label,
        stage="resolve",
    )


def _tune(sock: socket.socket) -> None:
    """Notice a dead peer: keepalive packets of the SSH library do not."""
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for option, value in (
        ("TCP_KEEPIDLE", _DEAD_PEER_S),
        ("TCP_KEEPINTVL", 10),
        ("TCP_KEEPCNT", 3),
        ("TCP_USER_TIMEOUT", _DEAD_PEER_S * 1000),
    ):
        number = getattr(socket, option, None)  # not every system has each
        if number is not None:
            sock.setsockopt(socket.IPPROTO_TCP, number, value)


def _run_proxy_command(command: str) -> Wire:
    ours, theirs = socket.socketpair()
    child = subprocess.Popen(
        ["/bin/sh", "-c", f"exec {command}"],
        stdin=theirs.fileno(),
        stdout=theirs.fileno(),
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    theirs.close()
    return Wire(ours, child)


def _reason(err: OSError | None) -> str:
    if err is None:
        return "it has no address"
    if isinstance(err, TimeoutError):
        return "no answer in time"
    return (err.strerror or str(err)).lower()


def _connect_hint(err: OSError | None) -> str:
    if isinstance(err, ConnectionRefusedError):
        return "Nothing listens there: look at `port`, or the site is being serviced."
    return "Look whether the network or a VPN is up, and whether a `proxy_jump` is needed."
