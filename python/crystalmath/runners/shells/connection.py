"""One connection: a logged-in transport to a host, with those to the jump hosts beneath it."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from crystalmath.errors import CrystalMathError, SshError, Unreachable
from crystalmath.runners.shells.answers import Answers
from crystalmath.runners.shells.authentication import ANSWER_S, AUTH_S, LoggedIn, Login
from crystalmath.runners.shells.host_keys import HostKeyOffer, HostKeys
from crystalmath.runners.shells.hosts import Hop, Route
from crystalmath.runners.shells.sockets import CONNECT_S, Tunnel, Wire, open_wire
from crystalmath.services.ports_shell import Ask

if TYPE_CHECKING:
    from paramiko import Channel, Transport

MAX_CHANNELS: Final = 6  # the server's MaxSessions is often 10
_POLL_S: Final = 1.0
_OPEN_CHANNEL_S: Final = 10.0
_STILL_CLOSING_S: Final = 2.0
_ASK_AGAIN_S: Final = 0.05


class ChannelRefused(Exception):
    """The host does not open another channel on this connection now; others may be open."""


class ConnectionLost(Exception):
    """The connection is gone, or the host does not answer on it; nothing was sent."""


@dataclass(frozen=True, slots=True)
class Credentials:
    """What a log-in may use; ``environment`` names the agent, ``ask`` asks a person."""

    environment: Mapping[str, str]
    answers: Answers
    ask: Ask | None = None


@dataclass(slots=True)
class Opened:
    """What was seen while connecting, also when it failed half-way."""

    host_keys: list[HostKeyOffer] = field(default_factory=list)
    logged_in: list[LoggedIn] = field(default_factory=list)
    banner: str = ""


class Connection:
    """A logged-in connection; made by :func:`connect`."""

    def __init__(self, wire: Wire, transports: list[Transport], opened: Opened) -> None:
        self._wire = wire
        self._transports = transports
        self.opened = opened
        self.open_channels = 0
        self.limit = MAX_CHANNELS
        self.last_used = time.monotonic()
        self._room = threading.Condition()

    @property
    def alive(self) -> bool:
        """Whether nobody has said that it is closed."""
        return all(transport.is_active() for transport in self._transports)

    @property
    def latest_banner(self) -> str:
        """The banner of the host."""
        return self.opened.banner

    def take_channel(self, until: float) -> Channel:
        """Open a channel; waits while too many are open. Give it back with :meth:`give_back`.

        Raises
        ------
        ConnectionLost
            Nothing was sent: another connection may be tried.
        Unreachable
            The deadline passed while every channel was taken.
        """
        # One that was closed just now may still count on the other side.
        give_up = min(until, time.monotonic() + _STILL_CLOSING_S)
        while True:
            self._wait_for_room(until)
            try:
                return self._open(until)
            except ChannelRefused as err:
                self._leave()
                with self._room:
                    if self.open_channels == 0 and time.monotonic() < give_up:
                        self._room.wait(_ASK_AGAIN_S)
                    elif self.open_channels == 0:
                        raise SshError(
                            "the host refuses to open a session",
                            hint="The account may be restricted to forwarding or to SFTP.",
                            stage="session",
                        ) from err
                    else:
                        self.limit = min(self.limit, self.open_channels)
            except BaseException:
                self._leave()
                raise

    def give_back(self, channel: Channel) -> None:
        """Close a channel and make room for the next one."""
        with suppress(EOFError, OSError):  # the connection may be gone
            channel.close()
        self.last_used = time.monotonic()
        self._leave()

    def close(self) -> None:
        """Close at once; what runs on it ends as unknown."""
        self._wire.close()
        for transport in reversed(self._transports):
            with suppress(EOFError, OSError):  # a nested one cannot say goodbye any more
                transport.close()

    def _wait_for_room(self, until: float) -> None:
        with self._room:
            while self.open_channels >= self.limit:
                left = until - time.monotonic()
                if left <= 0 or not self._room.wait(left):
                    raise Unreachable(
                        "every channel of the connection is in use",
                        hint="It is tried again.",
                        stage="session",
                    )
            self.open_channels += 1

    def _leave(self) -> None:
        with self._room:
            self.open_channels -= 1
            self._room.notify()

    def _open(self, until: float) -> Channel:
        import paramiko

        # An idle connection may be dead without a word: opening a channel is the question.
        patience = min(_OPEN_CHANNEL_S, max(0.1, until - time.monotonic()))
        try:
            return self._transports[-1].open_session(timeout=patience)
        except paramiko.ChannelException as err:
            raise ChannelRefused(str(err)) from err
        except (paramiko.SSHException, EOFError, OSError) as err:
            raise ConnectionLost(str(err)) from err


def connect(
    route: Route,
    host_keys: HostKeys,
    credentials: Credentials,
    *,
    until: float,
    opened: Opened | None = None,
) -> Connection:
    """Connect and log in at every hop, each host key checked before anything is offered.

    Parameters
    ----------
    until
        When to give up, on the monotonic clock.
    opened
        Filled as it goes, for reports.

    Raises
    ------
    SshError
        Any of its kinds, with the hop and the stage.
    """
    opened = opened if opened is not None else Opened()
    making = _Making(host_keys, credentials, until, opened)
    try:
        for hop in route.hops:
            making.add(hop)
            making.log_in(hop)
    except BaseException:
        making.abandon()
        raise
    return making.done()


def offered_key(
    route: Route, host_keys: HostKeys, credentials: Credentials, *, until: float
) -> tuple[Hop, str, bytes]:
    """Return the first host on the way whose key is not known, or the last one, with its key."""
    making = _Making(host_keys, credentials, until, Opened())
    try:
        for hop in route.hops:
            key_type, key = making.add(hop, check=False)
            known = host_keys.look(hop, key_type, key).known
            if not known or hop is route.target:
                return hop, key_type, key
            making.log_in(hop)
    finally:
        making.abandon()
    raise AssertionError("a route has at least one hop")


class _Making:
    """A connection in the making."""

    def __init__(
        self, host_keys: HostKeys, credentials: Credentials, until: float, opened: Opened
    ) -> None:
        # What it would log comes back as exceptions; its tracebacks would only fill the log.
        logging.getLogger("paramiko").setLevel(logging.CRITICAL)
        self._host_keys = host_keys
        self._credentials = credentials
        self._until = until
        self._opened = opened
        self._wire: Wire | None = None
        self._transports: list[Transport] = []

    def add(self, hop: Hop, *, check: bool = True) -> tuple[str, bytes]:
        """Reach the next hop and check its host key."""
        import paramiko

        sock = self._socket_to(hop)
        transport = paramiko.Transport(sock)
        self._transports.append(transport)
        transport.banner_timeout = self._left(CONNECT_S)
        transport.handshake_timeout = self._left(CONNECT_S)
        self._prefer_known_types(transport, hop)
        try:
            transport.start_client(timeout=self._left(CONNECT_S))
            key = transport.get_remote_server_key()
        except (paramiko.SSHException, EOFError, OSError) as err:
            raise self._no_ssh(hop, err) from err
        if check:
            found = self._host_keys.check(hop, key.get_name(), key.asbytes())
            self._opened.host_keys.append(found)
        return key.get_name(), key.asbytes()

    def log_in(self, hop: Hop) -> None:
        """Log in at the hop that was added last."""
        transport = self._transports[-1]
        asks = self._credentials.ask is not None
        transport.auth_timeout = self._left(AUTH_S + (ANSWER_S if asks else 0.0))
        login = Login(
            transport,
            hop,
            environment=self._credentials.environment,
            answers=self._credentials.answers,
            ask=self._credentials.ask,
        )
        self._opened.logged_in.append(login.so_far)
        login.run()
        transport.set_keepalive(hop.alive_interval_s)
        banner = transport.get_banner()
        self._opened.banner = banner.decode("utf-8", "replace") if banner else ""

    def done(self) -> Connection:
        """The connection."""
        assert self._wire is not None
        # The library wakes up ten times a second to see whether it was closed; we wake it then.
        self._wire.sock.settimeout(_POLL_S)
        return Connection(self._wire, self._transports, self._opened)

    def abandon(self) -> None:
        """Close what was opened."""
        if self._wire is not None:
            Connection(self._wire, self._transports, self._opened).close()

    def _left(self, at_most: float) -> float:
        return max(0.1, min(at_most, self._until - time.monotonic()))

    def _socket_to(self, hop: Hop) -> object:
        import paramiko

        if not self._transports:
            self._wire = open_wire(hop, self._until, time.monotonic)
            return self._wire.sock
        through = self._transports[-1]
        try:
            return Tunnel(through.open_channel(
                "direct-tcpip",
                (hop.host, hop.port),
                ("127.0.0.1", 0),
                timeout=self._left(CONNECT_S),
            ))  # fmt: skip
        except (paramiko.SSHException, EOFError, OSError) as err:
            by = self._opened.logged_in[-1].host if self._opened.logged_in else "the jump host"
            code = err.code if isinstance(err, paramiko.ChannelException) else None
            forbids = code == paramiko.OPEN_FAILED_ADMINISTRATIVELY_PROHIBITED
            why = "does not allow connections" if forbids else "has no connection"
            raise Unreachable(
                f"the jump host {by} {why} to {hop.label}",
                hint="Look at `proxy_jump`, and at the host name and port as the jump host "
                "knows them.",
                host=hop.label,
                stage="connect",
            ) from err

    def _prefer_known_types(self, transport: Transport, hop: Hop) -> None:
        """Ask for the key types on file, or a known host would look like an unknown one."""
        options = transport.get_security_options()
        wanted: list[str] = []
        for key_type in self._host_keys.preferred_types(hop):
            names = ("rsa-sha2-512", "rsa-sha2-256") if key_type == "ssh-rsa" else (key_type,)
            wanted += [name for name in names if name in options.key_types]
        if wanted:
            rest = [name for name in options.key_types if name not in wanted]
            options.key_types = (*wanted, *rest)

    def _no_ssh(self, hop: Hop, err: Exception) -> SshError:
        import paramiko

        if isinstance(err, paramiko.IncompatiblePeer):
            return SshError(
                f"{hop.label} and this side have no algorithm in common",
                hint="`shell: openssh` may know older ones.",
                host=hop.label,
                stage="connect",
            )
        return Unreachable(
            f"{hop.label} accepts connections but does not speak SSH in time",
            hint="The host may be overloaded, or this port is not its SSH server.",
            host=hop.label,
            stage="connect",
        )


def with_host(error: CrystalMathError, label: str) -> CrystalMathError:
    """Name the host in an error that does not know it."""
    if isinstance(error, SshError) and error.host is None:
        error.host = label
        error.message = f"{label}: {error.message}"
    return error


Opener = Callable[[float, Ask | None], Connection]
"""Opens a connection until a time, perhaps with a person to ask."""
