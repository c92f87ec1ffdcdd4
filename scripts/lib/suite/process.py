"""Runs commands to their end or to their limit, with their output in a file.

Knows nothing of tests; called by ``running.py``.
"""

from __future__ import annotations

import os
import signal
import subprocess
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

GRACE_S: Final = 30.0
"""What an interrupted run has to take down what it started and to write its report."""


class Processes:
    """Runs commands from several threads; all of them can be stopped.

    Parameters
    ----------
    grace_s
        Seconds between the interrupt and the kill.
    """

    def __init__(self, grace_s: float = GRACE_S) -> None:
        self._grace_s = grace_s
        self._live: list[subprocess.Popen[bytes]] = []
        self._lock = threading.Lock()
        self._stopped = False

    def run(
        self,
        command: Sequence[str],
        limit_s: float,
        output: Path,
        environment: Mapping[str, str] | None = None,
    ) -> int | None:
        """Run a command and return its exit status, or None when it was ended at its limit.

        At the limit its process group is interrupted as by Ctrl-C, and killed after the grace. The
        output goes to a file rather than a pipe: a process that is left over keeps nobody waiting.

        Parameters
        ----------
        limit_s
            Seconds.
        output
            Takes both of its streams, in the order in which they come.
        environment
            Added to that of this process.
        """
        process = self._start(command, output, {**os.environ, **(environment or {})})
        if process is None:
            return -signal.SIGINT
        try:
            return process.wait(limit_s)
        except subprocess.TimeoutExpired:
            self._end(process)
            return None
        finally:
            with self._lock:
                self._live.remove(process)

    def stop(self) -> None:
        """Interrupt what runs, and start no more."""
        with self._lock:
            self._stopped = True
            for process in self._live:
                _signal(process, signal.SIGINT)

    def _start(
        self, command: Sequence[str], output: Path, environment: Mapping[str, str]
    ) -> subprocess.Popen[bytes] | None:
        with self._lock, output.open("ab") as file:
            if self._stopped:
                return None
            process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=file, stderr=file, env=environment,
                process_group=0,
            )  # fmt: skip
            self._live.append(process)
            return process

    def _end(self, process: subprocess.Popen[bytes]) -> None:
        _signal(process, signal.SIGINT)
        with suppress(subprocess.TimeoutExpired):
            process.wait(self._grace_s)
        _signal(process, signal.SIGKILL)
        process.wait()


def _signal(process: subprocess.Popen[bytes], number: signal.Signals) -> None:
    with suppress(ProcessLookupError):
        os.killpg(process.pid, number)
