from __future__ import annotations

import pytest

from bench.measure import Ledger, Target, quantile


@pytest.mark.parametrize(
    ("q", "expected"), [(0.5, 50), (0.95, 95), (0.99, 99), (1.0, 100), (0.001, 1)]
)
def test_quantile_is_a_sample_by_nearest_rank(q: float, expected: int) -> None:
    assert quantile(range(100, 0, -1), q) == expected


def test_quantile_of_one_sample() -> None:
    assert quantile([7.0], 0.99) == 7.0


def test_ratios_are_taken_within_a_round_and_the_median_is_reported() -> None:
    ledger = Ledger()
    # the machine is twice as slow in the second round, and something else happens in the third
    for base_us, ping_us in ((10.0, 30.0), (20.0, 60.0), (10.0, 90.0)):
        ledger.add("raw", [base_us])
        ledger.add("ping", [ping_us], base_us)
    row = ledger.row("ping")
    assert row.ratio_p50 == 3.0
    assert row.n == 3
    assert ledger.ratio("ping", "raw") == 3.0


def test_a_target_is_kept_up_to_its_limit() -> None:
    assert Target("t", 5, 5.0).ok
    assert not Target("t", 5, 5.001).ok


def test_a_limit_from_below_is_kept_down_to_it() -> None:
    assert Target("t", 5, 5.0, least=True).ok
    assert not Target("t", 5, 4.999, least=True).ok
