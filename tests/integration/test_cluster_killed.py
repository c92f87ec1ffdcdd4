"""The daemon dies before or after any step of a cluster job: SLURM still gets it exactly once.

A death is an exception that nothing catches, thrown from the store or the runner, followed by a
lane that knows only what is in the database, on the disk and on the cluster. SLURM is scripted;
the shell, the remote steps and the job script are real. The last tests kill it within steps too,
several times on the way of one job, on SLURM and on a host without a scheduler.
"""

from __future__ import annotations

import contextlib
import itertools
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import pytest

from crystalmath.contract.jobs import CancelJobsParams
from crystalmath.domain.states import TERMINAL
from crystalmath.runners.shells.local import LocalShell
from crystalmath.services.ports_cluster import ClusterRecord
from support.cluster_bench import ClusterBench, ScriptedSlurm

PATIENCE_S = 180.0
POINTS = 26
POINTS_CANCELLED = 36
BEFORE_IT_RUNS = 10
"""So many points are the same, whether it is cancelled later or not."""
_STORE = {"commit", "move"}
_RUNNER = {"stage", "submit", "receipt", "queue", "receipts", "cancel", "listing", "fetch"}
_SHELL = {"run", "put", "get", "tail", "probe"}
STRIDE = 6
DEATHS = 16
"""At most so many, should a step never come to its end between two of them."""


class Killed(BaseException):
    """Not an ``Exception``: no handler of the program may take it for trouble with a step."""


class Mortal:
    """Passes calls on, and dies before or after the n-th call of one of ``deadly``."""

    def __init__(self, inner: Any, deadly: set[str], fuse: Callable[[], bool]) -> None:
        self._inner = inner
        self._deadly = deadly
        self._fuse = fuse

    def __getattr__(self, name: str) -> Any:
        target = getattr(self._inner, name)
        if name not in self._deadly:
            return target

        def call(*args: Any, **kwargs: Any) -> Any:
            if self._fuse():
                raise Killed
            result = target(*args, **kwargs)
            if self._fuse():
                raise Killed
            return result

        return call


def run_to_the_end(bench: ClusterBench, job: int, killed_at: int, cancel: bool) -> int:
    """Turn the lane until the job ends, dying at the ``killed_at``-th point; returns the points."""
    points = itertools.count()
    passed = 0

    def fuse() -> bool:
        nonlocal passed
        passed = next(points)
        return passed == killed_at

    bench.lane = bench.new_lane(
        store=Mortal(bench.store, _STORE, fuse),
        clusters=Mortal(bench.clusters, _STORE, fuse),
        wrap=lambda runner: Mortal(runner, _RUNNER, fuse),
    )
    deadline = time.monotonic() + PATIENCE_S
    while bench.state(job) not in TERMINAL:
        assert time.monotonic() < deadline, (bench.state(job), bench.whys(job))
        try:
            bench.turn(later_s=1.0)
        except Killed:
            bench.lane = bench.new_lane()
        if cancel and bench.state(job) == "RUNNING":
            bench.service.cancel(CancelJobsParams(id=job))
    return passed


class Moments:
    """Says when to die: at the first of some points, then at every ``STRIDE``-th one after it."""

    def __init__(self, first: int) -> None:
        self._deadly = {first + STRIDE * n for n in range(DEATHS)}
        self.passed = 0
        self.deaths = 0

    def __call__(self) -> bool:
        point, self.passed = self.passed, self.passed + 1
        self.deaths += point in self._deadly
        return point in self._deadly


def survive(bench: ClusterBench, job: int, fuse: Moments, cancel: bool) -> None:
    """Turn the lane until the job ends, with another daemon after each death."""

    def begin() -> None:
        bench.runners.close()
        bench.lane = bench.new_lane(
            store=Mortal(bench.store, _STORE, fuse),
            clusters=Mortal(bench.clusters, _STORE, fuse),
            wrap=lambda runner: Mortal(runner, _RUNNER, fuse),
        )

    begin()
    deadline = time.monotonic() + PATIENCE_S
    while bench.state(job) not in TERMINAL:
        assert time.monotonic() < deadline, (bench.state(job), bench.whys(job))
        try:
            bench.turn(later_s=1.0)
        except Killed:
            begin()
        if cancel and bench.state(job) == "RUNNING":
            bench.service.cancel(CancelJobsParams(id=job))


@pytest.mark.parametrize(
    ("killed_at", "cancel"),
    [
        *((point, False) for point in range(POINTS)),
        *((point, True) for point in range(BEFORE_IT_RUNS, POINTS_CANCELLED)),
    ],
)
def test_one_job_whenever_the_daemon_dies(tmp_path: Path, killed_at: int, cancel: bool) -> None:
    slurm = ScriptedSlurm(tmp_path / "slurm")
    bench = ClusterBench(tmp_path, setup_commands=slurm.setup_commands)
    ran = tmp_path / "ran"
    job = bench.send(f"echo run >> {ran}; {'exec sleep 600' if cancel else 'exit 0'}")
    with contextlib.closing(bench):
        run_to_the_end(bench, job, killed_at, cancel)
        assert bench.state(job) == ("CANCELLED" if cancel else "COMPLETED")
        assert len(slurm.submitted) == 1
        assert ran.read_text() == "run\n"


@pytest.mark.parametrize("killed_at", range(10))
def test_one_job_also_when_sbatch_times_out(tmp_path: Path, killed_at: int) -> None:
    slurm = ScriptedSlurm(tmp_path / "slurm")
    slurm.fault("timeout")
    bench = ClusterBench(tmp_path, setup_commands=slurm.setup_commands)
    ran = tmp_path / "ran"
    job = bench.send(f"echo run >> {ran}")
    with contextlib.closing(bench):
        run_to_the_end(bench, job, killed_at, cancel=False)
        assert bench.state(job) == "COMPLETED"
        assert len(slurm.submitted) == 1
        assert ran.read_text() == "run\n"


@pytest.mark.parametrize("cancel", [False, True], ids=["to its end", "cancelled"])
@pytest.mark.parametrize("kind", ["slurm", "ssh"])
@pytest.mark.parametrize("first", range(STRIDE))
def test_one_run_however_often_it_dies_within_steps(
    tmp_path: Path, first: int, kind: Literal["slurm", "ssh"], cancel: bool
) -> None:
    slurm, fuse = ScriptedSlurm(tmp_path / "slurm"), Moments(first)
    shell = LocalShell(setup_commands=slurm.setup_commands)
    record = ClusterRecord(
        name="c", kind=kind, hostname="localhost", remote_workdir=str(tmp_path / "remote"),
        min_poll_s=5.0,
    )  # fmt: skip
    bench = ClusterBench(tmp_path, record=record, open_shell=lambda _: Mortal(shell, _SHELL, fuse))
    ran = tmp_path / "ran"
    job = bench.send(f"echo run >> {ran}; {'exec sleep 600' if cancel else 'exit 0'}")
    with contextlib.closing(bench):
        survive(bench, job, fuse, cancel)
        assert bench.state(job) == ("CANCELLED" if cancel else "COMPLETED")
        assert len(slurm.submitted) == (1 if kind == "slurm" else 0)
        assert ran.read_text() == "run\n"
        assert fuse.deaths > 5


def test_the_points_above_are_all_there_are(tmp_path: Path) -> None:
    slurm = ScriptedSlurm(tmp_path / "slurm")
    bench = ClusterBench(tmp_path, setup_commands=slurm.setup_commands)
    job = bench.send("exit 0")
    with contextlib.closing(bench):
        assert run_to_the_end(bench, job, killed_at=-1, cancel=False) < POINTS
