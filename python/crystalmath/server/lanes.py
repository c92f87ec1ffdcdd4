"""Lanes: one bounded pool of threads per kind of waiting, so that no slow call delays a quick one.

A lane knows nothing of JSON-RPC; it runs callables and refuses when its queue is full. Called by
``router``.
"""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class LaneCounts:
    """What a lane is doing."""

    name: str
    threads: int
    queued: int
    running: int


class Lane:
    """Worker threads, started when needed, behind a queue of limited length.

    Parameters
    ----------
    name
        Shown in status and log.
    workers
        Most threads.
    queue
        Most tasks that wait.
    """

    def __init__(self, name: str, workers: int, queue: int) -> None:
        self.name = name
        self._workers = workers
        self._queue_limit = queue
        self._tasks: deque[Callable[[], None]] = deque()
        self._ready = threading.Condition()
        self._threads = 0
        self._idle = 0
        self._running = 0

    def submit(self, task: Callable[[], None]) -> bool:
        """Queue a task; False when the lane is full."""
        with self._ready:
            if self._idle > len(self._tasks):
                self._tasks.append(task)
                self._ready.notify()
                return True
            if self._threads < self._workers:
                self._tasks.append(task)
                self._threads += 1
                number = self._threads
            elif len(self._tasks) < self._queue_limit:
                self._tasks.append(task)
                return True
            else:
                return False
        threading.Thread(target=self._run, name=f"{self.name}-{number}", daemon=True).start()
        return True

    def counts(self) -> LaneCounts:
        """Count threads and tasks."""
        with self._ready:
            return LaneCounts(self.name, self._threads, len(self._tasks), self._running)

    def _run(self) -> None:
        while True:
            with self._ready:
                while not self._tasks:
                    self._idle += 1
                    self._ready.wait()
                    self._idle -= 1
                task = self._tasks.popleft()
                self._running += 1
            try:
                task()
            except BaseException:  # noqa: BLE001 - SystemExit from a handler must not end the lane
                _log.exception("a task of lane %s failed", self.name)
            finally:
                with self._ready:
                    self._running -= 1
