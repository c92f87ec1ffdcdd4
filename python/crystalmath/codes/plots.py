"""Curves for plots: what every code's ``series`` hands out. Pure; shared by the adapters."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

MAX_POINTS: Final = 10_000
"""Points of one plot; of more, the last ones are given."""

Points = list[tuple[float, float]]


def counted(values: Iterable[float], start: int = 1) -> Points:
    """Values over their number."""
    return [(float(index), value) for index, value in enumerate(values, start=start)]


def plot(
    points: Sequence[tuple[float, float | None]], x_label: str, y_label: str, unit: str
) -> dict[str, Any]:
    """One curve; None is a gap in it."""
    kept = points[-MAX_POINTS:]
    return {
        "x": [x for x, _ in kept],
        "y": [y for _, y in kept],
        "x_label": x_label,
        "y_label": y_label,
        "unit": unit,
    }
