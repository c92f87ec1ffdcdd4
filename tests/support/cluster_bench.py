"""The job services with a cluster: the real lane, steps and runner, on any SLURM."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from crystalmath.codes.command.adapter import CommandAdapter
from crystalmath.runners.host.runner import HostRunner
from crystalmath.runners.shells.local import LocalShell
from crystalmath.runners.slurm.runner import SlurmRunner
from crystalmath.services.cluster_desk import ClusterDesk
from crystalmath.services.cluster_lane import Lane, LaneParts, LaneTiming
from crystalmath.services.cluster_lanes import Lanes, RunnerRegistry
from crystalmath.services.job_ending import Ending
from crystalmath.services.jobs import JobsParts, JobsService
from crystalmath.services.ports_cluster import ClusterRecord
from crystalmath.services.slurm import SlurmParts, SlurmService
from crystalmath.services.submission import Desk
from crystalmath.storage.clusters import SqliteClusterStore
from support.service_fakes import Bench, NoReader

PROGRAM = Path(__file__).with_name("slurm_program.py")
HANG_S = 60.0
QUICK = LaneTiming(
    idle_s=0.05,
    busy_s=0.01,
    follow_s=0.0,
    history_every_s=0.0,
    cancel_every_s=0.2,
    retry_after_s=(0.0,),
    fresh_s=0.0,
)


class ScriptedSlurm:
    """A SLURM in a folder: commands that run what they are given, with faults to switch on."""

    def __init__(self, root: Path) -> None:
        self.root = root
        (root / "jobs").mkdir(parents=True)
        (root / "bin").mkdir()
        for name in ("sbatch", "squeue", "sacct", "scancel"):
            command = root / "bin" / name
            command.write_text(f"#!{sys.executable} -S\n{PROGRAM.read_text()}")
            command.chmod(0o755)

    @property
    def setup_commands(self) -> tuple[str, ...]:
        """What puts its commands in front."""
        return (
            f"export SCRIPTED_SLURM={self.root}",
            f"export PATH={self.root}/bin:$PATH",
        )

    def fault(self, name: str, *, on: bool = True) -> None:
        """Switch a fault on or off."""
        if on:
            (self.root / f"fault.{name}").touch()
        else:
            (self.root / f"fault.{name}").unlink()

    def run(self, ident: int) -> None:
        """Run a job that waits, to its end."""
        environment = {**os.environ, "SCRIPTED_SLURM": str(self.root)}
        command = [sys.executable, "-S", str(PROGRAM), "run", str(ident)]
        subprocess.run(command, check=True, env=environment, timeout=HANG_S)

    @property
    def submitted(self) -> list[str]:
        """Names of everything that was submitted, also twice."""
        log = self.root / "submitted"
        return log.read_text().split() if log.exists() else []


@dataclass
class ClusterBench(Bench):
    """A bench with one cluster, ``c``, that is this machine."""

    code: Any = field(default_factory=CommandAdapter)
    setup_commands: tuple[str, ...] = ()
    timing: LaneTiming = QUICK
    record: ClusterRecord | None = None
    open_shell: Callable[[ClusterRecord], Any] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        self.now = time.time()
        self.clusters = SqliteClusterStore(self.store)
        self.runners = RunnerRegistry(self.make_runner)
        record = self.record or ClusterRecord(
            name="c",
            kind="slurm",
            hostname="localhost",
            remote_workdir=str(self.root / "remote"),
            min_poll_s=5.0,
            launcher="mpirun",
        )
        self.cluster = self.clusters.create_cluster(record, self.now)
        self.lane = self.new_lane()
        codes = {self.code.name: self.code}
        desk = ClusterDesk(self.clusters, self.runners.of)
        self.service = JobsService(
            JobsParts(
                store=self.store,
                desk=Desk(self.store, codes, NoReader(), cores=2, cluster_desk=desk),
                codes=codes,
                directories=self.directories,
                clock=lambda: self.now,
                wake=self.woken.set,
                end_unrecorded=self.pump.end_unrecorded,
            )
        )
        self.lanes = _OneLane(self)
        self.slurm = SlurmService(
            SlurmParts(
                jobs=self.store,
                store=self.clusters,
                lanes=self.lanes,
                runner_of=self.runners.of,
                ending=Ending(self.store, self.directories, lambda: self.now, lambda _: None),
                codes=codes,
                directories=self.directories,
                clock=lambda: self.now,
            )
        )

    def make_runner(self, record: ClusterRecord) -> Any:
        """The real runner, on this machine or through the test's own shell."""
        kinds: dict[str, Any] = {"slurm": SlurmRunner, "ssh": HostRunner}
        if self.open_shell is not None:
            made = self.open_shell(record)
            return kinds[record.kind](record, lambda: made, lambda: self.now)
        lines = (*self.setup_commands, *record.setup_commands)
        shell = LocalShell(setup_commands=lines)
        return kinds[record.kind](record, lambda: shell, lambda: self.now)

    def new_lane(self, store: Any = None, clusters: Any = None, wrap: Any = None) -> Lane:
        """A lane as a freshly started daemon has it."""
        runner_of = self.runners.of if wrap is None else lambda c: wrap(self.runners.of(c))
        return Lane(
            self.cluster.id,
            LaneParts(
                jobs=store or self.store,
                store=clusters or self.clusters,
                runner_of=runner_of,
                codes={self.code.name: self.code},
                directories=self.directories,
                clock=lambda: self.now,
                version="test",
                watched_logs=set,
                timing=self.timing,
            ),
        )

    def send(self, script: str = "exit 0", **fields: Any) -> int:
        """Submit a shell script to the cluster."""
        inputs = {"argv": ["/bin/sh", "-c", script]}
        return self.submit(**{"inputs": inputs, "cluster": "c", **fields})

    def turn(self, *, later_s: float = 0.0) -> None:
        """One turn of the lane, at the present time or so many seconds later."""
        self.now = max(self.now, time.time()) + later_s
        self.lane.turn()

    def until(self, holds: Callable[[], bool], *, step_s: float = 0.0) -> None:
        """Turn until something holds."""
        deadline = time.monotonic() + HANG_S
        while not holds():
            assert time.monotonic() < deadline, [dict(r) for r in self._rows()]
            self.turn(later_s=step_s)

    def until_state(self, job: int, *states: str, step_s: float = 0.0) -> None:
        """Turn until a job is in one of the states."""
        self.until(lambda: self.state(job) in states, step_s=step_s)

    def whys(self, job: int) -> list[str]:
        """The history of a job, in words."""
        return [line["why"] for line in self.store.events(job)]

    def _rows(self) -> list[Any]:
        return self.clusters.remote_rows("c", ("CREATED", "STAGED", "SUBMITTED", "RUNNING", "LOST"))


class _OneLane(Lanes):
    """The bench's lane, which nothing but the test turns."""

    def __init__(self, bench: ClusterBench) -> None:
        self._bench = bench

    def wake(self) -> None:
        self._bench.woken.set()

    def lane(self, cluster_id: int) -> Lane:
        assert cluster_id == self._bench.cluster.id
        return self._bench.lane
