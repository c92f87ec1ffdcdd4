"""The daemon dies before or after any commit of the pump: each job still runs exactly once.

A death is an exception that nothing catches, thrown from the store or the runner, followed by a
pump that knows only what is in the database and on the disk. The runner, its supervisors and the
programs are real. ``scripts/soak kill`` does the same to whole daemons with SIGKILL.
"""

from __future__ import annotations

import contextlib
import itertools
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from crystalmath.codes.command.adapter import CommandAdapter
from crystalmath.contract.jobs import CancelJobsParams
from crystalmath.domain.states import TERMINAL
from crystalmath.runners.local.runner import LocalRunner
from support.service_fakes import Bench

PATIENCE_S = 60.0


class Killed(BaseException):
    """Not an ``Exception``: no handler of the program may take it for trouble with a step."""


class Mortal:
    """Passes calls on, and dies before or after the n-th call of one of ``deadly``."""

    def __init__(self, inner: Any, deadly: set[str], fuse: Callable[[str], bool]) -> None:
        self._inner = inner
        self._deadly = deadly
        self._fuse = fuse

    def __getattr__(self, name: str) -> Any:
        target = getattr(self._inner, name)
        if name not in self._deadly:
            return target

        def call(*args: Any, **kwargs: Any) -> Any:
            if self._fuse("before"):
                raise Killed
            result = target(*args, **kwargs)
            if self._fuse("after"):
                raise Killed
            return result

        return call


def run_to_the_end(bench: Bench, job: int, killed_at: int, cancel: bool) -> int:
    """Turn the pump until the job ends, dying at the ``killed_at``-th point; returns the points."""
    points = itertools.count()
    passed = 0

    def fuse(_: str) -> bool:
        nonlocal passed
        passed = next(points)
        return passed == killed_at

    runner = LocalRunner()
    pump = bench.new_pump(
        store=Mortal(bench.store, {"move"}, fuse), runner=Mortal(runner, {"launch", "cancel"}, fuse)
    )
    deadline = time.monotonic() + PATIENCE_S
    while bench.state(job) not in TERMINAL:
        assert time.monotonic() < deadline, bench.state(job)
        try:
            pump.turn()
        except Killed:
            pump = bench.new_pump(runner=runner)
        if cancel and bench.state(job) == "RUNNING":
            bench.service.cancel(CancelJobsParams(id=job))
    return passed


@pytest.mark.parametrize("cancel", [False, True], ids=["to its end", "cancelled"])
@pytest.mark.parametrize("killed_at", range(16))
def test_one_run_whenever_the_daemon_dies(tmp_path: Path, killed_at: int, cancel: bool) -> None:
    bench = Bench(tmp_path, code=CommandAdapter())
    ran = tmp_path / "ran"
    rest = "exec sleep 600" if cancel else "exit 0"
    job = bench.submit(
        inputs={"argv": ["/bin/sh", "-c", f"echo run >> {ran}; {rest}"]},
    )
    with contextlib.closing(bench):
        run_to_the_end(bench, job, killed_at, cancel)
        assert bench.state(job) == ("CANCELLED" if cancel else "COMPLETED")
        assert ran.read_text() == "run\n"


def test_the_points_above_are_all_there_are(tmp_path: Path) -> None:
    bench = Bench(tmp_path, code=CommandAdapter())
    job = bench.submit(inputs={"argv": ["true"]})
    with contextlib.closing(bench):
        assert run_to_the_end(bench, job, killed_at=-1, cancel=False) < 16
