"""Connections that outlive the daemon: for the program of a job, which may run for days.

Workers of the daemon as long as there is one. When it goes, its workers go with it: the job waits
for the next daemon for a while, then starts workers of its own. The step in hand is repeated, as it
was not the engine that failed; a crash of the engine is an error, and nothing is repeated.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from crystalmath.calculators.daemon import DaemonGone, DaemonSource, WorkerStopped
from crystalmath.calculators.request import Request
from crystalmath.client import Busy, Disconnected, Down, StartFailed
from crystalmath.errors import CrystalMathError, Overloaded, ShuttingDown
from crystalmath.forces.connection import Connection
from crystalmath.forces.source import Source

GRACE_S: Final = 60.0
ROOM_S: Final = 3600.0
"""How long to wait for the memory that other workers take."""
_RETRY_S: Final = 0.2
_ROOM_RETRY_S: Final = 5.0

NO_DAEMON: Final = (Down, Busy, Disconnected, StartFailed, ShuttingDown)
Say = Callable[[str], None]


class LastingSource:
    """See the module docstring.

    Parameters
    ----------
    say
        Writes a line into the log of the job.
    grace_s
        How long to wait for a daemon.
    threads
        Of a worker of its own.
    """

    def __init__(
        self,
        requests: Sequence[Request],
        parameters: Mapping[str, Any],
        say: Say,
        *,
        grace_s: float = GRACE_S,
        threads: int | None = None,
    ) -> None:
        self.parameters = parameters
        self._requests = requests
        self._say = say
        self._grace_s = grace_s
        self._threads = threads
        self._source: Source = DaemonSource(requests, parameters, auto_start=False)
        self._own = False

    def connect(self) -> Sequence[Connection]:
        """Connect to the daemon's workers, to those of the next daemon, or to workers of one's own.

        Raises
        ------
        CrystalMathError
            What the daemon says; that there is none is no error here.
        """
        if self._own:
            return self._source.connect()
        until, waits = time.monotonic() + self._grace_s, False
        while True:
            try:
                found = self._connect_when_there_is_room()
            except (*NO_DAEMON, DaemonGone, WorkerStopped) as error:
                if time.monotonic() >= until:
                    self._say(f"no daemon within {self._grace_s:g} s: going on with an own worker")
                    self._go_on_alone()
                    return self._source.connect()
                if not waits:
                    self._say(f"{error.message.rstrip('.')}: waiting for a daemon")
                    waits = True
                time.sleep(_RETRY_S)
            else:
                if waits:
                    self._say("a daemon is there again")
                return found

    def _connect_when_there_is_room(self) -> Sequence[Connection]:
        until, waits = time.monotonic() + ROOM_S, False
        while True:
            try:
                return self._source.connect()
            except Overloaded as error:
                if time.monotonic() >= until:
                    raise
                if not waits:
                    self._say(f"{error.message}: waiting")
                    waits = True
                time.sleep(_ROOM_RETRY_S)

    def _go_on_alone(self) -> None:
        # Only here: what finds environments is slow to import, and almost no job needs it.
        from crystalmath.calculators.own import direct_source

        self._own = True
        self._source = direct_source(
            self._requests, self.parameters, threads=self._threads, on_phase=lambda _text: None
        )

    def again(self, error: CrystalMathError) -> bool:
        """Whether the engine is not to blame."""
        if self._own or not isinstance(error, WorkerStopped | DaemonGone):
            return False
        self._say(error.message)
        return True

    def close(self) -> None:
        """End workers of its own."""
        self._source.close()
