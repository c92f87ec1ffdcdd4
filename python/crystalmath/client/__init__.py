"""A small synchronous client for notebooks and scripts: the same methods as the wire.

    with Client() as client:
        for job in client.jobs.list(state="RUNNING"):
            print(job["id"], job["name"])

Starts the daemon when none runs. Values are plain JSON values; errors are the exceptions of
``crystalmath.errors``. Used by scripts and tests, by no room of the package.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from crystalmath import __version__
from crystalmath.client.errors import Busy, Disconnected, Down, ServerError, StartFailed
from crystalmath.client.events import EventStream
from crystalmath.client.starting import find_socket, pointed_socket, spawn, start_lock
from crystalmath.client.wire import Wire
from crystalmath.errors import ShuttingDown, TransportError

__all__ = ["Busy", "Client", "Disconnected", "Down", "EventStream", "ServerError", "StartFailed"]

PROTOCOL: Final = (1, 1)
HELLO_S: Final = 2.0
RETRY_S: Final = 0.02


class Namespace:
    """The methods of one namespace as attributes: ``client.jobs.list(limit=10)``."""

    def __init__(self, client: Client, name: str) -> None:
        self._client = client
        self._name = name

    def __getattr__(self, method: str) -> Any:
        """Return the method as a function of keyword arguments."""
        if method.startswith("_"):
            raise AttributeError(method)
        full_name = f"{self._name}.{method}"

        def call(**params: Any) -> Any:
            return self._client.call(full_name, **params)

        call.__name__ = method
        call.__qualname__ = full_name
        return call


class Client:
    """A connection to the daemon of this user. May be shared between threads.

    Parameters
    ----------
    socket
        Path of the socket; by default where the daemon of this user is.
    auto_start
        Start the daemon when none runs.
    timeout_s
        Seconds to wait for an answer. The daemon has deadlines of its own, which are shorter.
    start_timeout_s
        Seconds a starting daemon may stay silent.
    env
        The environment to look at; by default that of this process.

    Raises
    ------
    TransportError
        There is no daemon to talk to: ``Down``, ``Busy`` or ``StartFailed``.
    """

    def __init__(
        self,
        socket: str | os.PathLike[str] | None = None,
        *,
        auto_start: bool = True,
        timeout_s: float = 150.0,
        start_timeout_s: float | None = None,
        env: Mapping[str, str] | None = None,
    ) -> None:
        self._env = dict(os.environ if env is None else env)
        self._flag = None if socket is None else str(Path(socket).absolute())
        self._auto_start = auto_start
        self._timeout_s = timeout_s
        patience = self._env.get("CRYSTALMATH_START_TIMEOUT", "") or "30"
        self._start_timeout_s = float(patience) if start_timeout_s is None else start_timeout_s
        self._lock = threading.Lock()
        self._next_id = 0
        self._wire: Wire | None = None
        self.server: dict[str, Any] = {}
        with self._lock:
            self._connect()

    def __enter__(self) -> Self:
        """Return the client itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        where: TracebackType | None,
    ) -> None:
        """Close the connection; the daemon stays."""
        self.close()

    def __getattr__(self, name: str) -> Namespace:
        """Return the namespace ``name``."""
        if name.startswith("_"):
            raise AttributeError(name)
        return Namespace(self, name)

    def close(self) -> None:
        """Close the connection; the daemon stays."""
        with self._lock:
            self._drop()

    def call(self, method: str, /, **params: Any) -> Any:
        """Call a method and return ``data`` of its result.

        Raises
        ------
        CrystalMathError
            What the daemon answered, as the class of its ``kind``; ``Disconnected`` when the
            connection broke, in which case the next call connects again.
        """
        result = self.request(method, **params)
        return result["data"] if isinstance(result, dict) and "data" in result else result

    def request(self, method: str, /, **params: Any) -> Any:
        """Call a method and return its whole result: ``status``, ``data``, of lists ``meta``."""
        with self._lock:
            if self._wire is None:
                self._connect()
            assert self._wire is not None
            self._next_id += 1
            try:
                return self._wire.call(self._next_id, method, params, self._timeout_s)
            except TransportError as error:
                if isinstance(error, Disconnected | Busy | ShuttingDown):
                    self._drop()
                raise

    def events(self, *topics: str, timeout_s: float | None = None) -> EventStream:
        """Iterate over what happens under these topics, on a connection of its own.

            for event in client.events("jobs"):
                print(event["kind"], event)

        Parameters
        ----------
        timeout_s
            Seconds to wait for an event before ``TimeoutError``; None: for ever.
        """
        own = Client(
            self._flag,
            auto_start=self._auto_start,
            timeout_s=self._timeout_s,
            start_timeout_s=self._start_timeout_s,
            env=self._env,
        )
        return EventStream(own, topics, timeout_s)

    def notification(self, timeout_s: float | None = None) -> dict[str, Any]:
        """Wait for the next message that the daemon sends by itself.

        Raises
        ------
        Disconnected
            The connection broke; what was subscribed to is gone with it.
        TimeoutError
            None came in time.
        """
        with self._lock:
            if self._wire is None:
                raise Disconnected("There is no connection to the daemon.")
            try:
                return self._wire.notification(timeout_s)
            except Disconnected:
                self._drop()
                raise

    # --- connecting -----------------------------------------------------------------------------

    def _drop(self) -> None:
        if self._wire is not None:
            self._wire.close()
            self._wire = None

    def _connect(self) -> None:
        path = find_socket(self._flag, self._env)
        deadline = time.monotonic() + self._start_timeout_s
        while True:
            wire = self._reach(path) or self._start(path, deadline)
            if wire is not None:
                try:
                    self.server = self._hello(wire)
                except Disconnected:  # a daemon that was just leaving
                    wire.close()
                    if time.monotonic() >= deadline:
                        raise
                except BaseException:
                    wire.close()
                    raise
                else:
                    if self.server["state"] != "stopping" or time.monotonic() >= deadline:
                        self._wire = wire
                        return
                    wire.close()
                    time.sleep(RETRY_S)  # it will be gone in a moment
            elif time.monotonic() >= deadline:
                raise Down(f"The daemon at {path} was started and has gone.", hint="Try again.")

    def _hello(self, wire: Wire) -> dict[str, Any]:
        params = {
            "client": "crystalmath-python",
            "version": __version__,
            "protocol": PROTOCOL,
            "env": {"SSH_AUTH_SOCK": self._env.get("SSH_AUTH_SOCK")},
        }
        answer = wire.call(0, "system.hello", params, max(HELLO_S, self._start_timeout_s))
        data: dict[str, Any] = answer["data"]
        return data

    def _reach(self, path: str) -> Wire | None:
        """Connect to the daemon at ``path``, or where ``server.json`` points; None when down."""
        wire = Wire.connect(path)
        if wire is None:
            pointed = pointed_socket(self._env)
            if pointed is not None and pointed != path and self._flag is None:
                wire = Wire.connect(pointed)
        return wire

    def _start(self, path: str, deadline: float) -> Wire | None:
        """Start the daemon, or wait for whoever does; None when it has gone again."""
        if not self._auto_start:
            raise Down(f"No daemon listens at {path}.", hint="Run `crystalmath-server start`.")
        with start_lock(path, deadline):
            wire = self._reach(path)
            if wire is not None:
                return wire  # somebody else has started it meanwhile
            started = spawn(self._flag, self._env, self._start_timeout_s)
        return Wire.connect(started)
