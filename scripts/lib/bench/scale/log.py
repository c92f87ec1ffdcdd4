"""What the commands of a scripted scheduler tell of whoever asked them. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Final

from crystalmath.domain.budget import TokenBucket

QUERIES: Final = ("squeue", "sacct", "scancel")
SUBMISSIONS: Final = ("sbatch",)
_SLACK_S: Final = 0.5
"""A command writes down when it has started, which is later than the daemon has counted it, and
not always by the same."""


def over_budget(asked: Iterable[float], size: float, refill_per_min: float) -> int:
    """How many of these commands there was no token for, in a bucket that was full at first."""
    times = sorted(asked)
    bucket = TokenBucket(size, refill_per_min)
    if times:
        bucket.wait_s(times[0] - _SLACK_S)  # full from here on
    return sum(not bucket.take(at) for at in times)


def lateness_s(asked: Iterable[float], every_s: float, since: float, until: float) -> list[float]:
    """By how much later than planned each question within a window came after the one before."""
    return [b - a - every_s for a, b in pairwise(sorted(asked)) if since <= b <= until]


def counts(asked: Sequence[Iterable[float]], since: float, until: float) -> list[int]:
    """How often each was asked within a window."""
    return [sum(since <= at < until for at in times) for times in asked]
