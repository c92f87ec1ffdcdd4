"""How long the calls took: the last ones of each method. Called by ``router`` and ``state``."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Final

KEPT: Final = 1000
MAX_METHODS: Final = 1000


@dataclass(frozen=True, slots=True)
class Latency:
    """Latency of one method in seconds, from receipt to reply."""

    method: str
    n: int
    p50_s: float
    p99_s: float


class Latencies:
    """The last :data:`KEPT` durations per method; recording takes no lock."""

    def __init__(self) -> None:
        self._durations: dict[str, deque[float]] = {}

    def record(self, method: str, seconds: float) -> None:
        """Note one call of a known method."""
        durations = self._durations.get(method)
        if durations is None:
            durations = self._durations.setdefault(method, deque(maxlen=KEPT))
        durations.append(seconds)

    def summary(self) -> list[Latency]:
        """Return one row per method, sorted by name."""
        rows = []
        for method, durations in sorted(self._durations.copy().items()):
            values = sorted(durations.copy())
            if values:
                last = len(values) - 1
                rows.append(
                    Latency(method, len(values), values[last // 2], values[round(last * 0.99)])
                )
        return rows
