"""Warm worker processes for what is heavy or holds the interpreter, e.g. reading structures.

A worker imports what it needs once and stays; the daemon's thread only waits for its line. A call
that passes its deadline costs the worker its life, never the daemon's thread. Built by ``daemon``;
the services call :meth:`WorkerPool.run` through ``ServerPort.run_worker``.
"""

from __future__ import annotations

import json
import logging
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Mapping
from typing import Any, Final

from crystalmath.errors import (
    CrystalMathError,
    DeadlinePassed,
    Overloaded,
    ShuttingDown,
    WorkerDied,
)
from crystalmath.server.strict_json import encode
from crystalmath.services.workflows.computations import COMPUTATIONS

_log = logging.getLogger(__name__)

FUNCTIONS: Final = frozenset(
    {
        "crystalmath.structures.read:read_structure",
        "crystalmath.structures.report:inspect_structure",
        "crystalmath.structures.report:material_of",
        "crystalmath.structures.convert:convert_structure",
        "crystalmath.materials.embedded:find",
        "crystalmath.materials.embedded:one",
        "crystalmath.materials.files:find",
        "crystalmath.materials.files:read",
        "crystalmath.materials.join:same_as",
        "crystalmath.materials.materials_project:read",
        "crystalmath.materials.optimade:read",
        "crystalmath.materials.project:describe",
        "crystalmath.codes.crystal.generate.deck:generate_deck",
        "crystalmath.codes.crystal.large:read",
        "crystalmath.codes.espresso.large:read",
        "crystalmath.codes.espresso.generate.deck:generate_inputs",
        "crystalmath.codes.crystal.generate.properties:generate_properties",
        "crystalmath.codes.crystal.lint.lint:lint_source",
        "crystalmath.codes.vasp.generate.inputs:generate_inputs",
        "crystalmath.codes.vasp.large:read",
        "crystalmath.codes.vasp.lint.source:lint_source",
        "crystalmath.templates.shelf:list_templates",
        "crystalmath.templates.shelf:get_template",
        "crystalmath.templates.render:render_template",
        "crystalmath.templates.saving:save_template",
        "crystalmath.templates.shell:lint_script",
        *COMPUTATIONS,
    }
)
"""What a worker may be asked to run, as ``module:function``."""

MAX_REPLY_BYTES: Final = 64 * 1024 * 1024
_COMMAND: Final = (sys.executable, "-P", "-m", "crystalmath.server.proc_worker")


class Worker:
    """One process, one call at a time."""

    def __init__(self) -> None:
        self._sock, far = socket.socketpair()
        try:
            # a session of its own: Ctrl-C on the daemon's terminal is not for the workers
            self._process = subprocess.Popen(_COMMAND, stdin=far.fileno(), start_new_session=True)
        finally:
            far.close()
        self._buffer = bytearray()
        self.idle_since = time.monotonic()

    def ask(self, request: bytes, deadline: float) -> dict[str, Any]:
        """Send one line and read one.

        Raises
        ------
        TimeoutError
            No answer until ``deadline`` on the monotonic clock.
        OSError
            The process is gone.
        """
        self._sock.settimeout(max(0.001, deadline - time.monotonic()))
        self._sock.sendall(request + b"\n")
        searched = 0
        while (end := self._buffer.find(b"\n", searched)) < 0:
            searched = len(self._buffer)
            if searched > MAX_REPLY_BYTES:
                raise OSError("its answer is too long")
            self._sock.settimeout(max(0.001, deadline - time.monotonic()))
            data = self._sock.recv(1 << 20)
            if not data:
                raise OSError("it closed its socket")
            self._buffer += data
        line = bytes(self._buffer[:end])
        del self._buffer[: end + 1]
        answer: dict[str, Any] = json.loads(line)
        return answer

    def is_alive(self) -> bool:
        """Whether the process still runs."""
        return self._process.poll() is None

    def kill(self) -> int:
        """End the process; return its exit code, negative for a signal."""
        self._sock.close()
        self._process.kill()
        return self._process.wait()


class WorkerPool:
    """Workers that are started when needed and reaped when idle.

    Parameters
    ----------
    size
        Most workers.
    idle_s
        Seconds after which an idle worker ends.
    functions
        What may be run.
    """

    def __init__(self, size: int, idle_s: float, functions: Iterable[str] = FUNCTIONS) -> None:
        self._size = size
        self._idle_s = idle_s
        self._functions = frozenset(functions)
        self._changed = threading.Condition()  # callers and the reaper wait on it: notify_all
        self._idle: list[Worker] = []
        self._busy: set[Worker] = set()
        self._starting = 0
        self._closed = False
        self._reaper: threading.Thread | None = None

    def run(self, function: str, kwargs: Mapping[str, Any], deadline_s: float) -> Any:
        """Run ``module:function`` with JSON arguments; return its JSON value.

        Raises
        ------
        CrystalMathError
            What the function raised, ``WorkerDied``, or ``DeadlinePassed``.
        """
        if function not in self._functions:
            raise ValueError(f"{function} is not a function that workers run")
        deadline = time.monotonic() + deadline_s
        request = encode({"function": function, "kwargs": kwargs})
        worker = self._take(deadline)
        try:
            answer = worker.ask(request, deadline)
        except TimeoutError:
            self._discard(worker)
            raise DeadlinePassed(
                f"A worker process took longer than {deadline_s:g} s and was ended.",
                hint="Try a smaller input.",
            ) from None
        except (OSError, ValueError) as error:
            code = self._discard(worker)
            if self._closed:
                raise _stopping() from None
            _log.warning("a worker ended with %d in %s: %s", code, function, error)
            how = f"signal {-code}" if code < 0 else f"exit code {code}"
            raise WorkerDied(
                f"A worker process ended unexpectedly ({how}).",
                hint="The input may be too large or damaged; the server's log may tell more.",
            ) from None
        except BaseException:
            self._discard(worker)
            raise
        self._give_back(worker)
        return _value(answer)

    def close(self) -> None:
        """End all workers, busy ones too."""
        with self._changed:
            self._closed = True
            workers = [*self._idle, *self._busy]
            self._idle.clear()
            self._changed.notify_all()
        for worker in workers:
            worker.kill()

    @property
    def count(self) -> int:
        """Workers that are alive."""
        with self._changed:
            return len(self._idle) + len(self._busy)

    def _take(self, deadline: float) -> Worker:
        with self._changed:
            while True:
                if self._closed:
                    raise _stopping()
                while self._idle:
                    worker = self._idle.pop()
                    if worker.is_alive():
                        self._busy.add(worker)
                        return worker
                    worker.kill()
                if len(self._busy) + self._starting < self._size:
                    self._starting += 1
                    break
                if not self._changed.wait(max(0.0, deadline - time.monotonic())):
                    raise Overloaded("All worker processes are busy.", hint="Try again later.")
        try:
            worker = Worker()
        finally:
            with self._changed:
                self._starting -= 1
                self._changed.notify_all()
        with self._changed:
            self._busy.add(worker)
        return worker

    def _give_back(self, worker: Worker) -> None:
        worker.idle_since = time.monotonic()
        with self._changed:
            self._busy.discard(worker)
            if not self._closed:
                self._idle.append(worker)
                self._changed.notify_all()
                if self._reaper is None:
                    self._reaper = threading.Thread(target=self._reap, name="reaper", daemon=True)
                    self._reaper.start()

    def _discard(self, worker: Worker) -> int:
        with self._changed:
            self._busy.discard(worker)
            self._changed.notify_all()
        # a worker that has just ended by itself keeps its own exit code
        return worker.kill()

    def _reap(self) -> None:
        """Wait for the longest idle worker to become too old; ends with the last one."""
        while True:
            with self._changed:
                if self._closed or not (self._idle or self._busy):
                    self._reaper = None
                    return
                oldest = min((w.idle_since for w in self._idle), default=time.monotonic())
                wait_s = oldest + self._idle_s - time.monotonic()
                if wait_s > 0:
                    self._changed.wait(wait_s)
                    continue
                now = time.monotonic()
                old = [w for w in self._idle if now - w.idle_since >= self._idle_s]
                self._idle = [w for w in self._idle if w not in old]
            for worker in old:
                worker.kill()


def _stopping() -> ShuttingDown:
    return ShuttingDown("The daemon is stopping.", hint="Try again.")


def _kinds(root: type[CrystalMathError]) -> dict[str, type[CrystalMathError]]:
    found = {root.kind: root}
    for child in root.__subclasses__():
        found.update(_kinds(child))
    return found


def _value(answer: Mapping[str, Any]) -> Any:
    if "value" in answer:
        return answer["value"]
    failure = answer["error"]
    kind = _kinds(CrystalMathError).get(failure["kind"])
    if kind is None:
        _log.error("a worker failed:\n%s", failure["traceback"])
        raise RuntimeError(f"a worker failed: {failure['message']}")
    raise kind(failure["message"], hint=failure["hint"], field=failure["field"])
