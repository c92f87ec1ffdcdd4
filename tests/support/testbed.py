"""Jobs on the testbed's SLURM: a bench that is calm enough for it, and waits that end.

Limits act up to 30 s late there, and a process over both nodes needs 25 s to start.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from crystalmath.services.cluster_lane import LaneTiming
from crystalmath.services.ports_cluster import ClusterRecord
from support.cluster_bench import ClusterBench

SI_SCF_RY = -15.84452726
ENDS = ("COMPLETED", "FAILED", "CANCELLED")
HANG_S = 180.0
CALM = LaneTiming(
    idle_s=1.0,
    busy_s=0.2,
    follow_s=1.0,
    history_every_s=2.0,
    cancel_every_s=2.0,
    retry_after_s=(1.0,),
    usage_after_s=1.0,
    fresh_s=1.0,
)
SSH_FILES = Path("/var/lib/cmtestbed/ssh")
HOME = "~/crystalmath-tests"
HERE = ClusterRecord(
    name="c", kind="slurm", hostname="localhost", remote_workdir="", launcher="mpirun"
)


def finish(bench: ClusterBench, *jobs: int) -> list[str]:
    """Turn until all jobs have ended; returns their states."""
    deadline = time.monotonic() + HANG_S
    while not {bench.state(job) for job in jobs} <= set(ENDS):
        states = [(bench.state(job), bench.whys(job)[-1]) for job in jobs]
        assert time.monotonic() < deadline, states
        bench.turn()
        bench.woken.wait(0.2)
    return [bench.state(job) for job in jobs]


def reach(bench: ClusterBench, holds: Callable[[], bool]) -> None:
    """Turn until something holds."""
    deadline = time.monotonic() + HANG_S
    while not holds():
        assert time.monotonic() < deadline
        bench.turn()
        bench.woken.wait(0.2)
