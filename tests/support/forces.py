"""What tests of force workers share: a plain process host, calls, and the fake worker's engine."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from crystalmath.errors import Cancelled
from crystalmath.services.ports_forces import (
    CrashReport,
    HostedProcess,
    ReadyEnvironment,
    ResolvedModel,
)
from crystalmath.services.ports_pool import PlainStructure, Wanted

FAKE_WORKER = Path(__file__).with_name("fake_worker.py")


class PlainProcess:
    """A process of :class:`PlainHost`."""

    def __init__(self, process: subprocess.Popen[bytes], stderr: int) -> None:
        self._process = process
        self._stderr = stderr
        self.pid = process.pid

    def __del__(self) -> None:
        os.close(self._stderr)

    def poll(self) -> int | None:
        return self._process.poll()

    def wait(self, timeout_s: float) -> int | None:
        try:
            return self._process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            return None

    def stop(self, grace_s: float) -> None:
        self._process.terminate()
        if self.wait(grace_s) is None:
            self.kill()
            self.wait(5)

    def kill(self) -> None:
        try:
            os.killpg(self.pid, signal.SIGKILL)
        except ProcessLookupError:
            return

    def stderr_tail(self) -> str:
        start = max(0, os.fstat(self._stderr).st_size - 8192)
        return os.pread(self._stderr, 8192, start).decode(errors="replace")

    def report(self, phase: str) -> CrashReport:
        code = self.poll()
        return CrashReport(
            phase=phase,
            exit_code=code if code is not None and code >= 0 else None,
            signal=-code if code is not None and code < 0 else None,
            oom_killed=None,
            stderr_tail=self.stderr_tail(),
        )


@dataclass
class PlainHost:
    """Starts the worker of an environment and nothing else; counts what it started."""

    started: list[PlainProcess] = field(default_factory=list)
    before: Callable[[], None] = lambda: None

    def start(
        self,
        environment: ReadyEnvironment,
        arguments: Sequence[str],
        *,
        pass_fds: Sequence[int] = (),
        env: Mapping[str, str] | None = None,
        threads: int = 1,
        name: str = "worker",
    ) -> HostedProcess:
        self.before()
        stderr = os.memfd_create("stderr")
        process = subprocess.Popen(
            [environment.python, "-I", environment.worker, *arguments],
            pass_fds=tuple(pass_fds),
            stdin=subprocess.DEVNULL,
            stdout=stderr,
            stderr=stderr,
            process_group=0,
            env={"PATH": os.environ["PATH"], "OMP_NUM_THREADS": str(threads), **(env or {})},
        )
        hosted = PlainProcess(process, stderr)
        self.started.append(hosted)
        return hosted

    def running(self) -> int:
        return sum(process.poll() is None for process in self.started)


class WaitingCall:
    """A ``Call`` with a deadline that can be cancelled."""

    trace_id = "t"
    connection: Any = None

    def __init__(self, deadline_s: float = 30.0) -> None:
        self._until = time.monotonic() + deadline_s
        self._cancelled = threading.Event()
        self._closers: list[Callable[[], None]] = []

    def check(self) -> None:
        if self._cancelled.is_set() or time.monotonic() > self._until:
            raise Cancelled("The call was cancelled.")

    def remaining_s(self) -> float:
        return max(0.0, self._until - time.monotonic())

    def wait_cancelled(self, timeout_s: float) -> bool:
        return self._cancelled.wait(timeout_s)

    def on_cancel(self, close: Callable[[], None]) -> None:
        self._closers.append(close)

    def cancel(self) -> None:
        self._cancelled.set()
        for close in self._closers:
            close()


def fake_engine(
    model: str = "m", *, key: str | None = None, device: str = "cpu", **options: Any
) -> Wanted:
    """The fake worker, told how to behave by ``options``."""
    return Wanted(
        environment=ReadyEnvironment(
            id="fake",
            engine="fake",
            python=sys.executable,
            worker=str(FAKE_WORKER),
            declaration="/dev/null",
            versions={"fake": "1.0"},
            python_version="3",
        ),
        model=ResolvedModel(id=model, argument=model, key=key or f"fake:{model}", sha256=None,
                            declaration=None),
        device=device,
        options=options,
    )  # fmt: skip


def atoms(*positions: tuple[float, float, float], symbol: str = "Cu") -> PlainStructure:
    """A molecule of equal atoms."""
    return PlainStructure([symbol] * len(positions), positions, None, (False, False, False))


def until(what: Callable[[], Any], deadline_s: float = 20.0) -> Any:
    """Poll until ``what`` is true; its value."""
    end = time.monotonic() + deadline_s
    while not (value := what()):
        if time.monotonic() > end:
            raise AssertionError(f"not within {deadline_s} s")
        time.sleep(0.01)
    return value
