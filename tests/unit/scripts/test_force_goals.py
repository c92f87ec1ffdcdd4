"""What the benchmark of force calls makes of its runs."""

from __future__ import annotations

from typing import Any

import pytest

from bench.forces import goals


def run(**rows_us: float) -> dict[str, Any]:
    return {"64": {"median_us": rows_us}}


def test_the_middle_run_counts_and_ratios_are_of_one_run() -> None:
    goal = goals.Goal("peer / ours", goals.over("peer", "ours"), {64: 30}, least=True)
    runs = [run(peer=300, ours=10), run(peer=990, ours=30), run(peer=400, ours=20)]
    (target,) = goals.targets([goal], runs)
    assert target.value == 30
    assert target.ok
    assert "64 atoms" in target.name


def test_an_adapter_is_what_it_adds() -> None:
    goal = next(goal for goal in goals.PINNED if "adapter" in goal.name)
    row = {"ours_adapter": 50.0, "ours_l1": 30.0, "direct": 100.0}
    assert goal.figure(row) == pytest.approx(0.2)


def test_every_goal_has_a_limit_at_each_size() -> None:
    assert all(set(goal.limits) == {64, 1000, 10000} for goal in goals.PINNED)
    assert all(None not in goal.limits.values() for goal in goals.PINNED)
