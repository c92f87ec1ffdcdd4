"""Notices that the outputs of running jobs grow, for those who have asked to be told.

A thread of its own that sleeps while nobody watches a log, and else looks at the sizes of the
watched files a few times a second. It tells sizes, never text: clients read on by offset. Started
and stopped by ``api``.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from crystalmath.domain.states import TERMINAL
from crystalmath.errors import CrystalMathError, NotFound
from crystalmath.services.events import EventHub, Happening
from crystalmath.services.job_directory import JobDirectories
from crystalmath.services.job_files import LOG_FILES, log_files
from crystalmath.services.ports_store import Store

log = logging.getLogger(__name__)

TOPIC = "log:"


@dataclass(slots=True)
class _Watched:
    """One job's outputs: stream → file, and the size that was told last."""

    paths: dict[str, Path]
    sizes: dict[str, int] = field(default_factory=dict)


class LogWatch:
    """See the module docstring.

    Parameters
    ----------
    every_s
        Seconds between two looks at a job: at most one event per output and look.
    """

    def __init__(
        self, hub: EventHub, store: Store, directories: JobDirectories, every_s: float
    ) -> None:
        self._hub = hub
        self._store = store
        self._directories = directories
        self._every_s = every_s
        self._lock = threading.Lock()
        self._jobs: dict[int, _Watched] = {}
        self._ended: set[int] = set()
        self._awake = threading.Event()
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Start the thread."""
        self._thread = threading.Thread(target=self._run, name="logs", daemon=True)
        self._thread.start()

    def stop(self, timeout_s: float = 5.0) -> None:
        """Stop the thread."""
        self._stopping.set()
        self._awake.set()
        if self._thread is not None:
            self._thread.join(timeout_s)

    def wake(self) -> None:
        """Somebody has subscribed."""
        self._awake.set()

    def job_ended(self, job_id: int) -> None:
        """The job writes nothing any more: look once more, then not again."""
        with self._lock:
            if job_id in self._jobs:
                self._ended.add(job_id)

    def look(self) -> bool:
        """Look at every watched job once; False when there is none that may still grow."""
        wanted = self._hub.watched(TOPIC)
        for job_id in wanted - self._jobs.keys():
            self._begin(job_id)
        with self._lock:
            ended, self._ended = self._ended, set()
            for gone in self._jobs.keys() - wanted:
                del self._jobs[gone]
        for job_id, watched in list(self._jobs.items()):
            self._hub.publish(list(_grown(job_id, watched)))
            if job_id in ended:
                watched.paths = {}
        return any(watched.paths for watched in self._jobs.values())

    def _begin(self, job_id: int) -> None:
        """Start to watch a job; what is there already is told at the first look."""
        try:
            row = self._store.row(job_id)
            output = self._store.documents(job_id).prepared.get("output")
        except NotFound:
            paths = {}
        else:
            directory = self._directories.path(row["uuid"])
            names = {"output": str(output or LOG_FILES["stdout"]), **log_files(row)}
            paths = {stream: directory / name for stream, name in names.items()}
        with self._lock:
            self._jobs[job_id] = _Watched(paths)
            # Read after the job is in the table: an end in between is not overlooked.
            if paths and self._store.states_of([job_id]).get(job_id) in TERMINAL:
                self._ended.add(job_id)

    def _run(self) -> None:
        while not self._stopping.is_set():
            self._awake.clear()
            try:
                growing = self.look()
            except CrystalMathError:
                log.exception("cannot look at the logs")
                growing = True
            if growing:
                self._stopping.wait(self._every_s)
            else:
                self._awake.wait()


def _grown(job_id: int, watched: _Watched) -> Iterator[Happening]:
    for stream, path in watched.paths.items():
        try:
            size = path.stat().st_size
        except OSError:
            continue  # not there yet
        if size != watched.sizes.get(stream, 0):
            watched.sizes[stream] = size
            yield _happening(job_id, stream, size)


def _happening(job_id: int, stream: str, size: int) -> Happening:
    content = {"kind": "log", "stream": stream, "size": size}
    return Happening((f"{TOPIC}{job_id}",), ("log", job_id, stream), 100, lambda: content)
