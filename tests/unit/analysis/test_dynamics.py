from __future__ import annotations

import numpy as np
import pytest

from crystalmath.analysis.dynamics.statistics import average, drift, equilibration
from crystalmath.errors import InputRejected, TooFewPoints
from crystalmath.structures.structure import Floats


def _correlated(count: int, memory: float, seed: int) -> Floats:
    """Values of mean 0 and variance 1, each remembering a part of the one before."""
    random = np.random.default_rng(seed)
    kicks = random.normal(size=count) * np.sqrt(1 - memory**2)
    values = np.empty(count)
    values[0] = random.normal()
    for i in range(1, count):
        values[i] = memory * values[i - 1] + kicks[i]
    return values


def test_the_error_of_independent_values() -> None:
    values = np.random.default_rng(7).normal(300.0, 5.0, 4096)
    found = average(values, discard=0)
    assert found.mean == pytest.approx(300.0, abs=0.4)
    assert found.error == pytest.approx(5 / 64, rel=0.5)
    assert found.samples == 4096


def test_the_error_of_correlated_values_is_larger() -> None:
    memory = 0.9
    means = [average(_correlated(4096, memory, seed), discard=0) for seed in range(30)]
    scatter = np.std([found.mean for found in means])
    assert np.mean([found.error for found in means]) == pytest.approx(scatter, rel=0.5)
    # (1 + m)/(1 − m) values are worth one
    assert np.median([found.correlation for found in means]) == pytest.approx(19, rel=0.6)


def test_the_start_is_discarded() -> None:
    values = np.random.default_rng(3).normal(300.0, 5.0, 2000)
    values[:300] += 200 * np.exp(-np.arange(300) / 80)
    found = average(values)
    assert 200 <= found.discarded <= 600
    assert found.mean == pytest.approx(300.0, abs=1.0)
    assert average(values, discard=0).mean > 303
    assert equilibration(np.random.default_rng(3).normal(size=2000)) < 1000


def test_a_run_that_never_came_to_rest_is_said() -> None:
    found = average(np.linspace(0, 100, 400))
    assert {"not_equilibrated", "correlated"} & {flag.code for flag in found.flags}


def test_the_drift_of_a_conserved_quantity() -> None:
    times = np.arange(0.0, 2000.0, 2.0)
    noise = 1e-3 * np.random.default_rng(5).normal(size=times.size)
    found = drift(times, -100 + 0.08 * times / 1000 + noise, 8)
    assert found.per_atom_ev_per_ps == pytest.approx(0.01, abs=4 * found.error_ev_per_ps)
    assert 0 < found.error_ev_per_ps < 1e-4
    assert found.fluctuation_per_atom_ev == pytest.approx(1e-3 / 8, rel=0.1)


def test_short_or_broken_series_are_refused() -> None:
    with pytest.raises(TooFewPoints, match="too few"):
        average([1.0] * 10)
    with pytest.raises(InputRejected):
        average([1.0] * 30 + [float("nan")])
    with pytest.raises(TooFewPoints):
        average([1.0] * 30, discard=20)
    with pytest.raises(InputRejected):
        average([1.0] * 30, discard=-1)
    with pytest.raises(InputRejected):
        drift([0.0] * 30, [1.0] * 30, 4)
