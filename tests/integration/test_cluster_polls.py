"""A poll of many jobs: it looks into those alone of which it says something new."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from crystalmath.runners.shells.local import LocalShell
from crystalmath.runners.slurm.runner import SlurmRunner
from crystalmath.services.cluster_polls import Polls
from crystalmath.services.ports_cluster import ClusterRunner
from crystalmath.services.ports_store import Move, Row
from crystalmath.storage.clusters import SqliteClusterStore
from crystalmath.storage.store import JobStore, open_store
from rig.live import Site, fill_live, make_sites

JOBS, RUNNING = 20, 8


class Noting(SqliteClusterStore):
    """Notes whose rows were read."""

    def __init__(self, store: JobStore) -> None:
        super().__init__(store)
        self.read: list[int] = []

    def rows_of(self, job_ids: Iterable[int]) -> list[Row]:
        """See ``ClusterStore.rows_of``."""
        ids = list(job_ids)
        self.read += ids
        return super().rows_of(ids)


class Poller:
    """One cluster, asked by hand."""

    def __init__(self, root: Path) -> None:
        [self.site] = make_sites(root / "c", 1, JOBS, RUNNING)
        fill_live(root / "db", [self.site], files=False)
        self.jobs = open_store(root / "db")
        self.store = Noting(self.jobs)
        shell = LocalShell(setup_commands=self.site.scheduler.setup_commands)
        self.runner: ClusterRunner = SlurmRunner(self.site.record, lambda: shell, time.time)
        self.polls = Polls(
            self.store, time.time, is_watched=lambda: False, history_every_s=0.0, fixed_s=0.0
        )

    def look(self) -> tuple[list[int], list[int]]:
        """Poll once; the jobs that were looked into, and those that changed."""
        self.store.read.clear()
        _poll, changes = self.polls.look(self.store.cluster("c0"), self.runner)
        return sorted(self.store.read), [change.job_id for change in changes]


@pytest.fixture
def poller(tmp_path: Path) -> Iterator[Poller]:
    made = Poller(tmp_path)
    yield made
    made.jobs.close()


def test_what_has_not_changed_is_not_looked_into_again(poller: Poller) -> None:
    site: Site = poller.site
    everything = list(site.numbers)
    assert poller.look() == (everything, [])
    assert poller.look() == ([], [])

    site.scheduler.let_start(2)
    first, second = everything[RUNNING], everything[RUNNING + 1]
    assert poller.look() == ([first, second], [first, second])
    site.scheduler.let_start(0)
    assert poller.look() == ([first, second], [])  # their rows have changed
    assert poller.look() == ([], [])


def test_a_row_that_others_have_changed_is_looked_into(poller: Poller) -> None:
    job = poller.site.first
    for _ in range(2):
        poller.look()
    poller.jobs.move(Move(job, ("RUNNING",), "CANCELLING", time.time(), "asked to end"))
    assert poller.look() == ([job], [])
    poller.jobs.move(Move(job, ("CANCELLING",), None, time.time(), changes={"attention": "?"}))
    assert poller.look() == ([job], [job])  # its row says what the scheduler does not
    assert poller.jobs.row(job)["attention"] is None


def test_a_job_that_vanishes_is_looked_into_at_every_poll(poller: Poller) -> None:
    for _ in range(2):
        poller.look()
    queue = poller.site.scheduler.root / "queue"
    kept = queue.read_text(encoding="utf-8").splitlines(keepends=True)
    queue.write_text("".join(kept[:-1]), encoding="utf-8")
    gone = poller.site.numbers[-1]
    for _ in range(2):
        assert poller.look() == ([gone], [])
    assert [seen.phase for seen in poller.store.evidence_of([gone])[gone]].count("absent") == 2
    queue.write_text("".join(kept), encoding="utf-8")
    assert poller.look() == ([gone], [])
    assert poller.jobs.row(gone)["state"] == "SUBMITTED"
