"""A seeded sample of ``scripts/soak cluster``: rounds of faults under jobs on the real SLURM."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from soak.cluster import run as cluster

pytestmark = [pytest.mark.testbed, pytest.mark.timeout(1500)]

SEED = 20260106
ROUNDS = 10


def test_faults_cost_no_job_and_make_none_run_twice(set_up: Callable[[str], str]) -> None:
    set_up("slurm-up")
    set_up("ssh-up")
    outcome = cluster.run(ROUNDS, SEED, print)
    assert outcome.ok, "\n".join([outcome.facts, *outcome.problems[:10]])
