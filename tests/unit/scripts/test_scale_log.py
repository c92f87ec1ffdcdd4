"""What ``bench scale`` reads out of who was asked when."""

from __future__ import annotations

import pytest

from bench.scale.log import counts, lateness_s, over_budget


def test_commands_beyond_the_budget_are_counted() -> None:
    at_once = [100.0 + 0.01 * n for n in range(12)]
    assert over_budget(at_once, 10, 10) == 2
    assert over_budget([*at_once[:10], 106.5], 10, 10) == 0
    assert over_budget([*at_once[:10], 103.0], 10, 10) == 1
    assert over_budget(reversed(at_once), 10, 10) == 2
    assert over_budget([], 10, 10) == 0


def test_lateness_is_what_an_interval_has_more_than_planned() -> None:
    asked = [0.0, 30.5, 61.0, 95.0]
    assert lateness_s(asked, 30.0, 0.0, 70.0) == pytest.approx([0.5, 0.5])
    assert lateness_s(asked, 30.0, 70.0, 100.0) == pytest.approx([4.0])
    assert lateness_s([5.0], 30.0, 0.0, 100.0) == []
    assert counts([asked, [1.0]], 0.0, 61.0) == [2, 1]
