"""Times, quantiles, and the ledger that keeps them by round.

A ratio is only taken between figures of the same round, and what is reported is the median over the
rounds; absolute figures are quantiles over all samples. No I/O of its own except the one exchange
over a socket that everything is made of.
"""

from __future__ import annotations

import gc
import socket
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from statistics import median

READ_BYTES = 1 << 18
US_PER_S = 1e6


def quantile(samples: Sequence[float], q: float) -> float:
    """The smallest sample that at least the share ``q`` of all samples does not exceed."""
    ordered = sorted(samples)
    return ordered[max(0, -(-int(q * 1000) * len(ordered) // 1000) - 1)]


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table; ratios are over the p50 of the round's own base."""

    name: str
    n: int
    p50_us: float
    p95_us: float
    p99_us: float
    ratio_p50: float | None
    ratio_p99: float | None


@dataclass(frozen=True, slots=True)
class Target:
    """A limit and what was found; a provisional one is shown but does not fail the run.

    Without a limit it is a figure to know; ``least`` is a limit from below.
    """

    name: str
    limit: float | None
    value: float
    provisional: bool = False
    least: bool = False

    @property
    def ok(self) -> bool:
        """Whether the limit is kept."""
        if self.limit is None:
            return True
        return self.value >= self.limit if self.least else self.value <= self.limit


@dataclass(slots=True)
class _Series:
    samples: list[float] = field(default_factory=list)
    rounds: list[tuple[float, float]] = field(default_factory=list)
    ratios: list[tuple[float, float]] = field(default_factory=list)


class Ledger:
    """Every sample of the run, by name, in µs."""

    def __init__(self) -> None:
        self._series: dict[str, _Series] = {}

    def add(self, name: str, samples_us: Sequence[float], base_us: float | None = None) -> float:
        """Note the samples of one round; returns their median.

        Parameters
        ----------
        base_us
            What the ratios of this round are taken over.
        """
        series = self._series.setdefault(name, _Series())
        p50, p99 = quantile(samples_us, 0.5), quantile(samples_us, 0.99)
        series.samples += samples_us
        series.rounds.append((p50, p99))
        if base_us is not None:
            series.ratios.append((p50 / base_us, p99 / base_us))
        return p50

    def row(self, name: str) -> Row:
        """The figures of one name."""
        series = self._series[name]
        ratio_p50 = median(r[0] for r in series.ratios) if series.ratios else None
        ratio_p99 = median(r[1] for r in series.ratios) if series.ratios else None
        p50, p95, p99 = (quantile(series.samples, q) for q in (0.5, 0.95, 0.99))
        return Row(name, len(series.samples), p50, p95, p99, ratio_p50, ratio_p99)

    def rows(self) -> list[Row]:
        """The figures of every name, in the order of their first sample."""
        return [self.row(name) for name in self._series]

    def ratio(self, name: str, over: str) -> float:
        """Median over the rounds of the quotient of two medians of the same round."""
        pairs = zip(self._series[name].rounds, self._series[over].rounds, strict=True)
        return median(a[0] / b[0] for a, b in pairs)


@contextmanager
def undisturbed() -> Iterator[None]:
    """No garbage collection of our own while we measure."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def exchange(connection: socket.socket, request: bytes) -> bytes:
    """Send a line and read until the end of a line; the same code for every measurement."""
    connection.sendall(request)
    data = connection.recv(READ_BYTES)
    if data.endswith(b"\n"):
        return data
    parts = [data]
    while not data.endswith(b"\n"):
        data = connection.recv(READ_BYTES)
        if not data:
            raise ConnectionError("the connection was closed")
        parts.append(data)
    return b"".join(parts)


def round_trips(connection: socket.socket, request: bytes, count: int) -> list[float]:
    """Time ``count`` exchanges, in µs.

    Raises
    ------
    RuntimeError
        The first reply is an error: nothing is measured with a call that does not work.
    """
    first = exchange(connection, request)
    if b'"error":' in first:
        raise RuntimeError(f"the daemon refuses what is to be measured: {first[:500]!r}")
    return timed(lambda: exchange(connection, request), count)


def timed(action: Callable[[], object], count: int) -> list[float]:
    """Time ``count`` calls, in µs."""
    clock = time.perf_counter_ns
    samples = []
    with undisturbed():
        for _ in range(count):
            begin = clock()
            action()
            samples.append((clock() - begin) / 1000.0)
    return samples
