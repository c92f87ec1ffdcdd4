"""When a cluster is asked, and how often it may be."""

from __future__ import annotations

import pytest

from crystalmath.domain.budget import TokenBucket
from crystalmath.domain.polling import interval_s, lost_look_s

DAY_S = 86_400.0


@pytest.mark.parametrize(
    ("quiet_s", "watched", "failures", "floor_s", "expected_s"),
    [
        (0.0, False, 0, 5.0, 10.0),
        (300.0, False, 0, 5.0, 30.0),
        (3600.0, False, 0, 5.0, 180.0),
        (3600.0, True, 0, 5.0, 10.0),
        (0.0, False, 0, 120.0, 120.0),
        (0.0, False, 1, 5.0, 10.0),
        (0.0, False, 3, 5.0, 40.0),
        (0.0, False, 50, 5.0, 600.0),
    ],
)
def test_intervals(
    quiet_s: float, watched: bool, failures: int, floor_s: float, expected_s: float
) -> None:
    for dice in (0.0, 0.5, 1.0):
        found = interval_s(quiet_s, watched=watched, failures=failures, floor_s=floor_s, dice=dice)
        assert found >= floor_s
        assert found == pytest.approx(expected_s, rel=0.1 + 1e-9)


def test_lost_jobs_are_looked_for_ever_more_rarely() -> None:
    assert lost_look_s(0.0) == 3600.0
    assert lost_look_s(4 * DAY_S) == DAY_S
    assert lost_look_s(31 * DAY_S) is None


def test_the_reserve_is_for_users() -> None:
    bucket = TokenBucket(30, 10, reserve=8)
    assert sum(bucket.take(0.0) for _ in range(100)) == 22
    assert sum(bucket.take(0.0, by_user=True) for _ in range(100)) == 8
    assert not bucket.take(6.0), "what comes back fills the reserve first"
    assert bucket.wait_s(6.0) == pytest.approx(48.0)
    assert bucket.take(54.1)
    assert sum(bucket.take(1e6) for _ in range(100)) == 22


def test_some_can_be_left_and_fewer_taken_than_asked_for() -> None:
    bucket = TokenBucket(30, 10, reserve=8)
    assert bucket.take_up_to(0.0, 15) == 15
    assert not bucket.take(0.0, n=4, spare=4)
    assert bucket.take(0.0, n=3, spare=4)
    assert bucket.take_up_to(0.0, 15) == 4
    assert bucket.take_up_to(0.0, 15) == 0
    assert bucket.take_up_to(0.0, 15, by_user=True) == 8
