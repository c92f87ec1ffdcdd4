"""The axis of plots along a path."""

from __future__ import annotations

from crystalmath.analysis.bands.path import SampledPath, shown
from crystalmath.analysis.results.document import X_DECIMALS


def axis_of(points: SampledPath) -> tuple[tuple[tuple[float, str], ...], tuple[float, ...]]:
    """Labels and breaks of the axis of a path: two labels at a break become one."""
    ticks: list[tuple[float, str]] = []
    breaks: list[float] = []
    for index, label in points.ticks:
        at = round(float(points.distances[index]), X_DECIMALS)
        if ticks and abs(ticks[-1][0] - at) < 1e-9:
            ticks[-1] = (at, f"{ticks[-1][1]}|{shown(label)}")
            breaks.append(at)
        else:
            ticks.append((at, shown(label)))
    return tuple(ticks), tuple(breaks)
