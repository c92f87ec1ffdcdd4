"""Averages of correlated series, with what is discarded and an error that knows of correlation.

The error of a mean is that of blocks, made longer until neighbouring ones no longer know of each
other: H. Flyvbjerg, H. G. Petersen, J. Chem. Phys. 91, 461 (1989), doi:10.1063/1.457480.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from crystalmath.analysis.flags import Flag
from crystalmath.errors import InputRejected, TooFewPoints
from crystalmath.structures.structure import Floats

LEAST_SAMPLES: Final = 20
_LEAST_BLOCKS: Final = 8
_LONGEST_START: Final = 0.5
"""A start longer than this part of the run means that it was never in equilibrium."""


@dataclass(frozen=True, slots=True)
class Average:
    """A mean.

    Attributes
    ----------
    mean, error
        The mean and its standard error, in the unit of the series.
    standard_deviation
        Of the values.
    discarded
        Values at the beginning that do not count.
    samples
        Values that count.
    correlation
        Statistical inefficiency: so many values are worth one independent one.
    """

    mean: float
    error: float
    standard_deviation: float
    discarded: int
    samples: int
    correlation: float
    flags: tuple[Flag, ...]


@dataclass(frozen=True, slots=True)
class Drift:
    """How a conserved quantity changes.

    Attributes
    ----------
    per_atom_ev_per_ps
        Slope of a straight line.
    error_ev_per_ps
        Its standard error, per atom.
    fluctuation_per_atom_ev
        Standard deviation about the line.
    """

    per_atom_ev_per_ps: float
    error_ev_per_ps: float
    fluctuation_per_atom_ev: float


def equilibration(values: Sequence[float] | Floats) -> int:
    """How many values at the beginning to discard: as many as make the error of the mean smallest.

    The marginal standard error rule on blocks of five values: K. P. White, Simulation 69, 323
    (1997), doi:10.1177/003754979706900601.

    Raises
    ------
    TooFewPoints
    InputRejected
    """
    series = _series(values)
    blocks = series[: series.size // 5 * 5].reshape(-1, 5).mean(axis=1)
    count = blocks.size - np.arange(blocks.size)
    # variance of what is left after each start, from sums from the end
    total = np.cumsum(blocks[::-1])[::-1]
    squares = np.cumsum((blocks - blocks.mean())[::-1] ** 2)[::-1]
    shifted = total / count - blocks.mean()
    variance = np.maximum(squares / count - shifted**2, 0.0)
    allowed = max(1, int(_LONGEST_START * blocks.size) + 1)
    return int(5 * np.argmin((variance / count)[:allowed]))


def average(values: Sequence[float] | Floats, discard: int | None = None) -> Average:
    """Average a series after its start.

    Parameters
    ----------
    values
        In equal steps of time.
    discard
        Values at the beginning that do not count; None lets :func:`equilibration` decide.

    Raises
    ------
    TooFewPoints
        Fewer than 20 values are left.
    InputRejected
        A value is not finite.
    """
    series = _series(values)
    start = equilibration(series) if discard is None else discard
    if start < 0:
        raise InputRejected("the number of values to discard must not be negative", field="discard")
    left = _series(series[start:])
    flags = []
    if discard is None and start >= int(_LONGEST_START * (series.size // 5)) * 5:
        flags.append(
            Flag("not_equilibrated", "half of the run and more is its start: it is too short")
        )
    error, levelled = _block_error(left)
    spread = float(left.std(ddof=1))
    naive = spread / np.sqrt(left.size)
    correlation = max(1.0, (error / naive) ** 2) if naive > 0 else 1.0
    if not levelled:
        flags.append(
            Flag(
                "correlated",
                "the values are correlated over a large part of the run: the error is a lower "
                "bound",
            )
        )
    return Average(
        float(left.mean()), error, spread, start, int(left.size), correlation, tuple(flags)
    )


def drift(
    times_fs: Sequence[float] | Floats, conserved_ev: Sequence[float] | Floats, atoms: int
) -> Drift:
    """Measure the drift of a conserved quantity.

    Parameters
    ----------
    times_fs
        When.
    conserved_ev
        Of the whole system: the total energy, or what a thermostat conserves.
    atoms
        How many.

    Raises
    ------
    TooFewPoints
    InputRejected
    """
    times, values = np.asarray(times_fs, dtype=float) / 1000, _series(conserved_ev) / max(1, atoms)
    if times.shape != values.shape or not (np.diff(times) > 0).all() or atoms < 1:
        raise InputRejected(
            "a drift needs one value for each rising time and the number of atoms",
            field="times_fs",
        )
    centred = times - times.mean()
    slope = float(centred @ values / (centred @ centred))
    about = values - values.mean() - slope * centred
    variance = float(about @ about) / (values.size - 2)
    return Drift(slope, float(np.sqrt(variance / (centred @ centred))), float(about.std()))


def _series(values: Sequence[float] | Floats) -> Floats:
    series = np.asarray(values, dtype=float)
    if series.ndim != 1 or not np.isfinite(series).all():
        raise InputRejected("a series is a list of finite numbers", field="values")
    if series.size < LEAST_SAMPLES:
        raise TooFewPoints(
            f"{series.size} values are too few for an average with an error",
            hint=f"run longer, or write more often: at least {LEAST_SAMPLES} are needed",
        )
    return series


def _block_error(series: Floats) -> tuple[float, bool]:
    """The largest error of all block lengths, and whether the errors stop to rise."""
    errors, doubts = [], []
    blocks = series
    while blocks.size >= _LEAST_BLOCKS:
        error = float(blocks.std(ddof=1) / np.sqrt(blocks.size))
        errors.append(error)
        doubts.append(error / np.sqrt(2 * (blocks.size - 1)))
        blocks = blocks[: blocks.size // 2 * 2].reshape(-1, 2).mean(axis=1)
    # level when the longest blocks give no more than the ones before, within their own error
    levelled = len(errors) < 2 or errors[-1] <= errors[-2] + doubts[-1]
    return max(errors), levelled
