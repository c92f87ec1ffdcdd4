"""A small sample of what ``scripts/bench scale`` does: many lanes at once, one of which hangs.

Counts are judged here and no times.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from bench.scale.log import QUERIES, counts, over_budget
from crystalmath.codes.command.adapter import CommandAdapter
from crystalmath.runners.shells.local import LocalShell
from crystalmath.runners.slurm.runner import SlurmRunner
from crystalmath.services.cluster_lane import LaneParts, LaneTiming
from crystalmath.services.cluster_lanes import Lanes, RunnerRegistry
from crystalmath.services.job_directory import JobDirectories
from crystalmath.services.ports_cluster import ClusterRecord
from crystalmath.storage.clusters import SqliteClusterStore
from crystalmath.storage.store import JobStore, open_store
from rig.live import Site, fill_live, make_sites
from rig.place import wait_until

CLUSTERS, JOBS, EVERY_S, SEED = 4, 12, 0.5, 5
PATIENCE_S = 60.0
NARROW = {"size": 10, "refill_per_min": 60}
"""Of these 8 are kept for the user, so that only the refill lets a cluster be asked."""


class Fleet:
    """The lanes of a daemon that has just started, on a database it has left."""

    def __init__(self, root: Path) -> None:
        self.rng = random.Random(SEED)
        running = self.rng.randint(1, JOBS // 2)
        self.sites = make_sites(root / "c", CLUSTERS, JOBS, running, query_budget=NARROW)
        fill_live(root / "db", self.sites, files=False)
        self.store: JobStore = open_store(root / "db")
        self.runners = RunnerRegistry(_runner)
        self.lanes = Lanes(
            LaneParts(
                jobs=self.store,
                store=SqliteClusterStore(self.store),
                runner_of=self.runners.of,
                codes={"command": CommandAdapter()},
                directories=JobDirectories(root / "jobs"),
                clock=time.time,
                version="test",
                watched_logs=set,
                timing=LaneTiming(fresh_s=EVERY_S),
            )
        )

    def close(self) -> None:
        """Let whoever hangs come back, and stop."""
        for site in self.sites:
            if (site.scheduler.root / "hang").exists():
                site.scheduler.hang(on=False)
        self.lanes.stop()
        self.runners.close()
        self.store.close()

    def running(self, site: Site) -> int:
        """How many of a cluster's jobs run, by our database."""
        states = self.store.states_of(site.numbers)
        return sum(state == "RUNNING" for state in states.values())


def _runner(record: ClusterRecord) -> SlurmRunner:
    shell = LocalShell(setup_commands=record.setup_commands)
    return SlurmRunner(record, lambda: shell, time.time)


@pytest.fixture
def fleet(tmp_path: Path) -> Iterator[Fleet]:
    made = Fleet(tmp_path)
    yield made
    made.close()


def until(what: str, check: Callable[[], bool]) -> None:
    wait_until(what, check, PATIENCE_S)


def test_lanes_keep_to_their_interval_and_budget_and_a_hanging_one_holds_up_no_other(
    fleet: Fleet,
) -> None:
    silent, *others = fleet.sites
    silent.scheduler.hang(on=True)
    for site in others:
        site.scheduler.let_start(fleet.rng.randint(0, 2))
    began = time.time()
    fleet.lanes.start()

    until("a question that gets no answer", lambda: bool(silent.scheduler.asked("squeue")))
    until(
        "five polls of every other cluster",
        lambda: all(len(site.scheduler.answered()) >= 5 for site in others),
    )
    assert silent.scheduler.answered() == []
    ended = time.time()
    most = (ended - began) / EVERY_S + 1
    assert max(counts([s.scheduler.asked("squeue") for s in fleet.sites], began, ended)) <= most
    assert counts([silent.scheduler.asked("squeue")], began, ended) == [1]
    for site in fleet.sites:
        assert over_budget(site.scheduler.asked(*QUERIES), **NARROW) == 0
        site.scheduler.let_start(0)

    def is_followed(site: Site) -> bool:
        return fleet.running(site) == min(JOBS, site.scheduler.shown_running())

    until("the states of the queues", lambda: all(map(is_followed, others)))
    before = fleet.running(silent)
    assert before < JOBS

    silent.scheduler.let_start(1)
    silent.scheduler.hang(on=False)
    until("what the silent one has to say", lambda: fleet.running(silent) > before)
