"""The goals of a force call, and what a set of runs says of each. No I/O."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any, Final

from bench.measure import Target

Medians = Mapping[str, float]
"""Row → µs a call, of one run at one size."""


@dataclass(frozen=True, slots=True)
class Goal:
    """A figure of one run, and its limit at each size.

    Attributes
    ----------
    limits
        Atoms → limit; None is a figure to know.
    least
        The limit is the least that is wanted, not the most.
    """

    name: str
    figure: Callable[[Medians], float]
    limits: Mapping[int, float | None]
    least: bool = False


def over(one: str, other: str) -> Callable[[Medians], float]:
    """The quotient of two rows."""
    return lambda row: row[one] / row[other]


def _adapter(row: Medians) -> float:
    return (row["ours_adapter"] - row["ours_l1"]) / row["direct"]


PINNED: Final = (
    Goal("rootstock / level 1", over("rootstock", "ours_l1"), {64: 30, 1000: 30, 10000: 14}, True),
    Goal(
        "rootstock / daemon", over("rootstock", "ours_daemon"), {64: 20, 1000: 22, 10000: 22}, True
    ),
    Goal("ASE socketio / level 1", over("ase", "ours_l1"), {64: 28, 1000: 26, 10000: 8}, True),
    Goal("i-PI raw / level 1", over("ipi", "ours_l1"), {64: 2.5, 1000: 2.2, 10000: 1.2}, True),
    Goal("level 1 / floor of a socket", over("ours_l1", "floor"), {64: 5, 1000: 5, 10000: 5}),
    Goal(
        "level 1 / ase.Calculator in process",
        over("ours_l1", "direct"),
        {64: 0.25, 1000: 0.28, 10000: 0.75},
    ),
    Goal(
        "level 0 with ASE's SocketClient / ASE socketio",
        over("ours_l0", "ase"),
        {64: 0.5, 1000: 0.5, 10000: 0.65},
    ),
    # 20, 25 and 40 µs where the calculator in process takes 142, 160 and 345 µs
    Goal(
        "added by the generic ASE adapter / ase.Calculator in process",
        _adapter,
        {64: 0.14, 1000: 0.16, 10000: 0.12},
    ),
)
"""Null model, both ends on one core."""

EMT: Final = (
    Goal("EMT: level 1 / in process", over("ours_l1", "direct"), {64: 1.05, 1000: 1.03}),
    Goal("EMT: rootstock / in process", over("rootstock", "direct"), {64: None, 1000: None}),
)
"""A model that computes."""

APART: Final = (
    Goal("two cores: rootstock / level 1", over("rootstock", "ours_l1"), {64: None, 1000: None}),
    Goal(
        "two cores: level 1 / floor of a socket", over("ours_l1", "floor"), {64: None, 1000: None}
    ),
)
"""Each end on a core of its own, which has to be woken."""


def targets(goals: Sequence[Goal], runs: Sequence[Mapping[str, Any]]) -> list[Target]:
    """What the middle one of some runs says.

    Parameters
    ----------
    runs
        Of each: atoms, as text, → ``median_us``.
    """
    found = []
    for goal in goals:
        for atoms, limit in goal.limits.items():
            value = median(goal.figure(run[str(atoms)]["median_us"]) for run in runs)
            found.append(
                Target(f"forces: {goal.name}, {atoms} atoms", limit, value, least=goal.least)
            )
    return found
