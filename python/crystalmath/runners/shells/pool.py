"""The connections to one host: one for commands, at most one more for large transfers."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from crystalmath.errors import SshError, Unreachable
from crystalmath.runners.shells.breaker import Breaker, Health
from crystalmath.runners.shells.connection import Connection, ConnectionLost, Opener, with_host
from crystalmath.runners.shells.hosts import Clock
from crystalmath.services.ports_shell import Ask

if TYPE_CHECKING:
    from paramiko import Channel

Purpose = Literal["commands", "transfers"]

SLEPT_S: Final = 30.0
"""Clocks that part by more than this: the machine has slept, and every connection is dead."""


@dataclass(slots=True)
class _Busy:
    """A channel in use, and the time at which its connection is closed under it."""

    connection: Connection
    until: Callable[[], float]


class HostPool:
    """The connections to one host.

    Parameters
    ----------
    opener
        Makes a connection.
    on_connected
        Called when a connection is there.
    """

    def __init__(
        self,
        label: str,
        opener: Opener,
        breaker: Breaker,
        clock: Clock,
        on_connected: Callable[[], None] = lambda: None,
    ) -> None:
        self.label = label
        self._opener = opener
        self._breaker = breaker
        self._clock = clock
        self._on_connected = on_connected
        self._connecting = threading.Lock()
        self._lock = threading.Lock()
        self._connections: dict[Purpose, Connection] = {}
        self._in_use: dict[int, _Busy] = {}
        self._closed = False
        self._drift = clock.wall() - clock.monotonic()

    @contextmanager
    def channel(
        self, purpose: Purpose, until: float, *, by_user: bool = False
    ) -> Iterator[Channel]:
        """Lend a channel.

        Raises
        ------
        SshError
            No connection could be made; nothing was sent.
        """
        connection, channel = self._take(purpose, until, by_user=by_user)
        key = id(channel)
        with self._lock:
            self._in_use[key] = _Busy(connection, lambda: until)
        try:
            yield channel
        finally:
            with self._lock:
                self._in_use.pop(key, None)
            connection.give_back(channel)

    def extend(self, channel: Channel, until: Callable[[], float]) -> None:
        """Have the time at which the connection is closed under a channel asked for again."""
        with self._lock:
            busy = self._in_use.get(id(channel))
            if busy is not None:
                busy.until = until

    def current(self, until: float, ask: Ask | None, *, by_user: bool) -> Connection:
        """Return the connection for commands, made now if there is none."""
        return self._connection("commands", until, ask=ask, by_user=by_user)[0]

    def health(self) -> Health:
        """How the host is doing."""
        return self._breaker.health(self._clock.monotonic())

    def reset(self) -> None:
        """Forget failures and refusals: the user has changed something."""
        self._breaker.reset()

    @property
    def connected(self) -> bool:
        """Whether there is a connection."""
        with self._lock:
            return any(connection.alive for connection in self._connections.values())

    def standing(self) -> Connection | None:
        """The connection for commands, if there is one now."""
        with self._lock:
            found = self._connections.get("commands")
            return found if found is not None and found.alive else None

    def tend(self, *, idle_s: float, keep: bool, overdue_s: float) -> None:
        """Close what is idle, overdue, or was slept through; called now and then."""
        self._notice_sleep()
        now = self._clock.monotonic()
        with self._lock:
            overdue = [b.connection for b in self._in_use.values() if now > b.until() + overdue_s]
            idle = [
                connection
                for purpose, connection in self._connections.items()
                if connection.open_channels == 0
                and now - connection.last_used > idle_s
                and not (keep and purpose == "commands")
            ]
        for connection in (*overdue, *idle):
            self._drop(connection)

    def close(self, *, for_good: bool = False) -> None:
        """Close every connection."""
        with self._lock:
            self._closed = self._closed or for_good
            connections = list(self._connections.values())
            self._connections.clear()
        for connection in connections:
            connection.close()

    def _take(self, purpose: Purpose, until: float, *, by_user: bool) -> tuple[Connection, Channel]:
        self._notice_sleep()
        for _attempt in range(2):
            connection, fresh = self._connection(purpose, until, ask=None, by_user=by_user)
            try:
                return connection, connection.take_channel(until)
            except ConnectionLost:
                self._drop(connection)
                if fresh:
                    break
            except SshError as err:
                raise with_host(err, self.label) from err
        error = Unreachable(
            f"{self.label} does not answer on its connection",
            hint="It is tried again.",
            host=self.label,
            stage="session",
        )
        self._breaker.failed(error, self._clock.monotonic(), self._clock.wall())
        raise error

    def _connection(
        self, purpose: Purpose, until: float, *, ask: Ask | None, by_user: bool
    ) -> tuple[Connection, bool]:
        """Return a living connection, and whether it was made now."""
        found = self._living(purpose)
        if found is not None:
            return found, False
        left = until - self._clock.monotonic()
        if not self._connecting.acquire(timeout=max(0.0, left)):
            raise Unreachable(
                f"{self.label} is being connected to, and it takes long",
                hint="It is tried again.",
                host=self.label,
                stage="connect",
            )
        try:
            found = self._living(purpose)
            if found is not None:
                return found, False
            return self._connect(purpose, until, ask=ask, by_user=by_user), True
        finally:
            self._connecting.release()

    def _living(self, purpose: Purpose) -> Connection | None:
        with self._lock:
            if self._closed:
                raise Unreachable(f"the connections to {self.label} are closed", host=self.label)
            found = self._connections.get(purpose)
            if found is not None and not found.alive:
                del self._connections[purpose]
                found.close()
                found = None
            return found

    def _connect(
        self, purpose: Purpose, until: float, *, ask: Ask | None, by_user: bool
    ) -> Connection:
        now = self._clock.monotonic
        self._breaker.pass_or_raise(now(), by_user=by_user)
        try:
            made = self._opener(until, ask)
        except SshError as err:
            self._breaker.failed(err, now(), self._clock.wall())
            raise
        self._breaker.succeeded(now(), by_user=by_user)
        with self._lock:
            kept = not self._closed
            if kept:
                self._connections[purpose] = made
        if kept:
            self._on_connected()
            return made
        made.close()
        raise Unreachable(f"the connections to {self.label} are closed", host=self.label)

    def _drop(self, connection: Connection) -> None:
        with self._lock:
            for purpose, one in list(self._connections.items()):
                if one is connection:
                    del self._connections[purpose]
        connection.close()

    def _notice_sleep(self) -> None:
        drift = self._clock.wall() - self._clock.monotonic()
        with self._lock:
            slept = abs(drift - self._drift) > SLEPT_S
            self._drift = drift
        if slept:
            self.close()


class Tender:
    """One thread that tends the pools, while there are connections.

    Parameters
    ----------
    keep
        Whether a cluster's connection stays open without being used: jobs live there.
    """

    def __init__(
        self,
        pools: Callable[[], list[tuple[str, HostPool]]],
        *,
        keep: Callable[[str], bool],
        idle_s: float,
        every_s: float = 5.0,
        overdue_s: float = 5.0,
    ) -> None:
        self._pools = pools
        self._keep = keep
        self._idle_s = idle_s
        self._every_s = every_s
        self._overdue_s = overdue_s
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def wake(self) -> None:
        """Begin, if nobody tends."""
        with self._lock:
            if self._thread is None and not self._stop.is_set():
                self._thread = threading.Thread(target=self._run, name="ssh-tender", daemon=True)
                self._thread.start()

    def stop(self) -> None:
        """End it."""
        self._stop.set()
        with self._lock:
            thread = self._thread
        if thread is not None:
            thread.join(self._every_s)

    def _run(self) -> None:
        while not self._stop.wait(self._every_s):
            pools = self._pools()
            for name, pool in pools:
                with suppress(SshError):
                    pool.tend(idle_s=self._idle_s, keep=self._keep(name), overdue_s=self._overdue_s)
            with self._lock:
                if not any(pool.connected for _, pool in pools):
                    self._thread = None
                    return
