"""Random walks: whatever users and programs do, a job keeps to the table and comes to an end."""

from __future__ import annotations

import itertools
import random
from pathlib import Path

import pytest

from crystalmath.contract.jobs import CancelJobsParams
from crystalmath.domain.states import TERMINAL, may_move
from crystalmath.errors import IllegalTransition
from crystalmath.services.ports import Observation, Verdict
from support.service_fakes import Bench


def disturb(bench: Bench, dice: random.Random, jobs: list[int]) -> None:
    """Do one random thing."""
    act = dice.choice(
        ["submit", "cancel", "end", "vanish", "boot", "turn", "turn", "daemon", "later"]
    )
    job = dice.choice(jobs) if jobs else 0
    if act == "submit" and len(jobs) < 6:
        after = [job] if job and bench.state(job) not in ("FAILED", "CANCELLED") else []
        jobs.append(bench.submit(after=after if dice.random() < 0.3 else []))
    elif act == "cancel" and job:
        try:
            bench.service.cancel(CancelJobsParams(id=job))
        except IllegalTransition:
            assert bench.state(job) in TERMINAL
    elif act == "turn":
        bench.pump.turn()
    elif act == "daemon":
        bench.pump = bench.new_pump()
    elif act == "later":
        bench.now += dice.choice([0.1, 60, 4000])
    elif job and bench.runner.seen.get(bench.key(job), Observation("unclaimed")).phase == "running":
        if act == "end":
            bench.code.verdict = Verdict(completed=dice.random() < 0.5, reason=None)
            bench.runner.end(bench.key(job), cause=dice.choice(["exit", "cancel", "walltime"]))
        elif act in ("vanish", "boot"):
            phase = "vanished" if act == "vanish" else "other_boot"
            bench.runner.seen[bench.key(job)] = Observation(phase, t_start=1.0)  # type: ignore[arg-type]


@pytest.mark.parametrize("seed", range(12))
def test_walks_keep_to_the_table_and_end(tmp_path: Path, seed: int) -> None:
    dice = random.Random(seed)
    bench = Bench(tmp_path)
    jobs: list[int] = []
    for _ in range(60):
        disturb(bench, dice, jobs)
    for _ in range(20):
        bench.now += 4000
        bench.pump.turn()
        for job in jobs:
            key = bench.key(job)
            if bench.runner.seen.get(key, Observation("unclaimed")).phase == "running":
                bench.runner.end(key, cause="cancel" if key in bench.runner.cancelled else "exit")
    for job in jobs:
        assert bench.state(job) in TERMINAL
        events = bench.store.events(job)
        for event in events[1:]:
            old, new = event["from_state"], event["to_state"]
            assert old == new or may_move(old, new)
        for before, after in itertools.pairwise(events):
            assert before["to_state"] == after["from_state"]
        assert [launch.key for launch in bench.runner.launched].count(bench.key(job)) <= 1
    bench.close()
