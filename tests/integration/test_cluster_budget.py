"""No question to a cluster is beyond its budget, whatever asks it; submissions leave it alone."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from crystalmath.contract.slurm import QueueParams, SchedulerJobsParams
from crystalmath.errors import SlurmError
from crystalmath.runners.shells.local import LocalShell
from crystalmath.runners.slurm.runner import SlurmRunner
from crystalmath.services.cluster_polls import Polls
from crystalmath.services.ports_cluster import ClusterRecord
from crystalmath.storage.clusters import SqliteClusterStore
from crystalmath.storage.store import open_store
from rig.live import fill_live, make_sites
from rig.scheduler import ScriptedScheduler
from support.cluster_bench import ClusterBench

QUERIES = {"size": 20, "refill_per_min": 10}
SUBMISSIONS = {"size": 3, "refill_per_min": 6}


@pytest.fixture
def scheduler(tmp_path: Path) -> ScriptedScheduler:
    return ScriptedScheduler(tmp_path / "slurm", running=0)


@pytest.fixture
def bench(tmp_path: Path, scheduler: ScriptedScheduler) -> Iterator[ClusterBench]:
    record = ClusterRecord(
        name="c",
        kind="slurm",
        hostname="localhost",
        remote_workdir=str(tmp_path / "remote"),
        min_poll_s=5.0,
        launcher="mpirun",
        query_budget=QUERIES,
        submit_budget=SUBMISSIONS,
    )
    made = ClusterBench(tmp_path, setup_commands=scheduler.setup_commands, record=record)
    yield made
    made.close()


def states(bench: ClusterBench, jobs: list[int]) -> dict[str, int]:
    found = list(bench.store.states_of(jobs).values())
    return {state: found.count(state) for state in set(found)}


def test_submissions_wait_for_their_budget_and_leave_the_questions_theirs(
    bench: ClusterBench, scheduler: ScriptedScheduler
) -> None:
    jobs = [bench.send() for _ in range(5)]
    for _ in range(3):
        bench.turn()
    assert len(scheduler.asked("sbatch")) == SUBMISSIONS["size"]
    assert states(bench, jobs) == {"SUBMITTED": 3, "STAGED": 2}
    assert scheduler.asked("squeue")

    bench.turn(later_s=20.0)
    bench.turn()
    assert states(bench, jobs) == {"SUBMITTED": 5}
    assert len(scheduler.asked("sbatch")) == len(jobs)


def test_a_user_is_told_when_the_questions_are_used_up(
    bench: ClusterBench, scheduler: ScriptedScheduler
) -> None:
    job = bench.send()
    bench.until_state(job, "SUBMITTED")
    asked = {"cluster": "c", "job_ids": ["1"]}
    for _ in range(QUERIES["size"] + 1):
        if not bench.lane.polls.may_ask(by_user=True):
            break
    before = scheduler.asked("squeue", "scancel", "sacct")
    for _ in range(2):
        with pytest.raises(SlurmError, match="used up"):
            bench.slurm.cancel(SchedulerJobsParams.model_validate(asked))
    with pytest.raises(SlurmError, match="used up"):
        bench.slurm.queue(QueueParams.model_validate({"cluster": "c", "all_users": True}))
    assert scheduler.asked("squeue", "scancel", "sacct") == before
    assert bench.state(job) == "SUBMITTED"


def test_hundreds_that_vanish_are_asked_for_as_the_budget_allows(tmp_path: Path) -> None:
    budget = {"size": 11, "refill_per_min": 1}
    [site] = make_sites(tmp_path / "c", 1, 450, 450, query_budget=budget)
    fill_live(tmp_path / "db", [site], files=False)
    store = open_store(tmp_path / "db")
    clusters = SqliteClusterStore(store)
    shell = LocalShell(setup_commands=site.scheduler.setup_commands)
    runner = SlurmRunner(site.record, lambda: shell, time.time)
    polls = Polls(clusters, time.time, is_watched=lambda: False, history_every_s=0.0, fixed_s=None)
    polls.take_record(site.record)
    for vanish in (False, True):
        if vanish:
            (site.scheduler.root / "queue").write_text("")
        poll, changed = polls.look(clusters.cluster("c0"), runner)
        assert poll is not None
        assert (poll.complete, changed) == (True, [])
    assert set(store.states_of(site.numbers).values()) == {"RUNNING"}
    store.close()
    # Eleven, of which eight are the user's: two polls, and one question about two hundred jobs.
    assert len(site.scheduler.asked("squeue")) == 2
    assert len(site.scheduler.asked("sacct")) == 1
