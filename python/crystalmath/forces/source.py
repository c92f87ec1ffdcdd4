"""Where a calculator gets its connections from."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from crystalmath.errors import CrystalMathError
from crystalmath.forces.connection import Connection
from crystalmath.forces.launch import Launch
from crystalmath.forces.running import RunningWorker, run_worker
from crystalmath.forces.starting import OnPhase
from crystalmath.services.ports_forces import ProcessHost


class Source(Protocol):
    """Gives connections, one for each term of a sum, and can be pickled.

    Attributes
    ----------
    parameters
        What the calculator was made with, as plain data.
    """

    parameters: Mapping[str, Any]

    def connect(self) -> Sequence[Connection]:
        """Give new connections, starting what is not there; also after a fork."""

    def again(self, error: CrystalMathError) -> bool:
        """Whether a request that failed so was never begun, and may be asked of new connections."""

    def close(self) -> None:
        """Let go of what belongs to this source alone."""


class DirectSource:
    """Workers of this process's own: started on first use, replaced when they have died.

    Parameters
    ----------
    host
        Starts the processes.
    launches
        The terms; several give a sum.
    parameters
        What is shown as the calculator's parameters.
    on_phase
        Told what a worker that loads is doing.
    """

    def __init__(
        self,
        host: ProcessHost,
        launches: Sequence[Launch],
        parameters: Mapping[str, Any],
        on_phase: OnPhase = lambda _text: None,
    ) -> None:
        self.parameters = parameters
        self._host = host
        self._launches = tuple(launches)
        self._on_phase = on_phase
        self._workers: list[RunningWorker | None] = [None] * len(self._launches)

    @property
    def workers(self) -> Sequence[RunningWorker]:
        """Those that run now."""
        return [worker for worker in self._workers if worker is not None]

    def connect(self) -> list[Connection]:
        """Give new connections, starting what is not there."""
        found: list[Connection] = []
        try:
            for i, launch in enumerate(self._launches):
                worker = self._workers[i]
                if worker is None or worker.pid != os.getpid() or not worker.alive():
                    if worker is not None:
                        worker.close()
                    self._workers[i] = None
                    worker = self._workers[i] = run_worker(self._host, launch, self._on_phase)
                found.append(worker.connect())
        except BaseException:
            for connection in found:
                connection.close()
            raise
        return found

    def again(self, _error: CrystalMathError) -> bool:
        """Never: a worker of one's own ends only by a fault."""
        return False

    def close(self) -> None:
        """End the workers."""
        for i, worker in enumerate(self._workers):
            self._workers[i] = None
            if worker is not None:
                worker.close()

    def __getstate__(self) -> dict[str, Any]:
        state = self.__dict__.copy()
        state["_workers"] = [None] * len(self._launches)
        state["_on_phase"] = _silent
        return state


def _silent(_text: str) -> None:
    """Tell nobody."""
