"""Connections to workers of the daemon.

Control goes by JSON-RPC, the numbers straight to the worker: the daemon hands the socket over and
is out of the way. How a worker ended is asked of the daemon afterwards.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, Final

from crystalmath.calculators.request import Request
from crystalmath.client import Client
from crystalmath.errors import CrystalMathError, WorkerDied, WorkerTimeout
from crystalmath.forces.connection import Connection
from crystalmath.forces.pool.knock import knock
from crystalmath.forces.reported import reported_error, with_tail
from crystalmath.forces.worker import wire

ATTACH_S: Final = 900.0
"""Seconds for loading a model; the daemon has a deadline of its own, which is shorter."""

ENDED_S: Final = 10.0
"""Seconds that the daemon may take to notice how a worker ended."""

_POLL_S: Final = 0.02
_SLACK_S: Final = 30.0


class WorkerStopped(WorkerDied):
    """A worker ended by plan before it began with the request: another will take it."""


class DaemonGone(WorkerDied):
    """The worker ended and so did the daemon, which ends its workers."""


class DaemonSource:
    """Gives connections to workers of the daemon; can be pickled, and used after a fork.

    Parameters
    ----------
    socket
        Of the daemon; None: where the daemon of this user is, which is started if need be.
    parameters
        What is shown as the calculator's parameters.
    """

    def __init__(
        self,
        requests: Sequence[Request],
        parameters: Mapping[str, Any],
        *,
        socket: str | None = None,
        auto_start: bool = True,
    ) -> None:
        self.parameters = parameters
        self._requests = tuple(requests)
        self._socket = socket
        self._auto_start = auto_start

    def connect(self) -> list[Connection]:
        """Give new connections; the daemon starts what is not there."""
        found: list[Connection] = []
        try:
            with self.client(ATTACH_S) as client:
                for request in self._requests:
                    found.append(self._enter(client, request))  # noqa: PERF401 - closed on failure
        except BaseException:
            for connection in found:
                connection.close()
            raise
        return found

    def client(self, timeout_s: float, *, start: bool = True) -> Client:
        """Connect to the daemon."""
        return Client(self._socket, auto_start=start and self._auto_start, timeout_s=timeout_s)

    def _enter(self, client: Client, request: Request) -> Connection:
        way = client.call("forces.attach", **request.params())
        if way["abi"] != wire.ABI:
            raise WorkerDied(
                f"the daemon speaks version {way['abi']} with its workers, this is {wire.ABI}",
                hint="it is of another version of CrystalMath: `crystalmath-server stop`, then try "
                "again",
            )
        sock = knock(way["path"], way["token"], engine=request.engine)
        watch = DaemonWatch(self, request.engine, way["worker"], client.server["instance"])
        return Connection(sock, way["capabilities"], way["identity"], watch)

    def again(self, error: CrystalMathError) -> bool:
        """Whether the request was never begun."""
        return isinstance(error, WorkerStopped)

    def close(self) -> None:
        """Nothing belongs to it alone."""


class DaemonWatch:
    """Explains how a worker of the daemon ended. The daemon itself looks after it."""

    def __init__(self, source: DaemonSource, engine: str, worker: str, instance: str) -> None:
        self._source = source
        self._engine = engine
        self._worker = worker
        self._instance = instance

    def look(self, waited_s: float) -> None:
        """Look whether the daemon, which ends what is overdue, has overlooked this one.

        Raises
        ------
        WorkerTimeout
        """
        if waited_s < _SLACK_S:
            return
        row = self._row()
        if row is None or row["state"] in ("crashed", "stopped"):
            raise self._explained(row)
        if row["state"] == "idle" and waited_s > 10 * _SLACK_S:
            raise WorkerTimeout(f"the worker of {self._engine} is idle, and has not answered")

    def ended(self) -> CrystalMathError:
        """Explain a channel that has closed."""
        until = time.monotonic() + ENDED_S
        while True:
            row = self._row()
            if row is None or row["state"] in ("crashed", "stopped"):
                return self._explained(row)
            if time.monotonic() > until:
                return WorkerStopped(f"the worker of {self._engine} has closed the channel")
            time.sleep(_POLL_S)

    def _row(self) -> dict[str, Any] | None:
        """The worker as the daemon knows it; None when the daemon is gone, or is another one."""
        with suppress(CrystalMathError), self._source.client(ENDED_S, start=False) as client:
            if client.server["instance"] == self._instance:
                rows = client.call("forces.workers", worker=self._worker)
                found: dict[str, Any] = rows[0]
                return found
        return None

    def _explained(self, row: dict[str, Any] | None) -> CrystalMathError:
        if row is None:
            return DaemonGone(
                f"the worker of {self._engine} has ended with the daemon",
                hint="the daemon was stopped; the next call starts it again",
            )
        crash = row["last_error"]
        if crash is None:
            return WorkerStopped(f"the worker of {self._engine} was stopped")
        error = reported_error({"kind": crash["kind"], "message": crash["message"]})
        return with_tail(error, crash["stderr_tail"])
