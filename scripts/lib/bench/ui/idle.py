"""What the UI costs when nothing happens, and how much memory it needs."""

from __future__ import annotations

from typing import Final

from bench.measure import Target
from bench.ui.session import opened
from rig import processes
from rig.place import Place

MB: Final = 1e6
LIMIT_PERCENT: Final = 0.1
LIMIT_MB: Final = 64.0
LONGEST_S: Final = 20.0


def measure(place: Place, jobs: int, seconds: float) -> list[Target]:
    """Look at a UI that nobody touches, beside a daemon that has nothing to tell."""
    with opened(place, jobs) as terminal:
        before_s = processes.cpu_s(terminal.pid)
        draws = terminal.watch(seconds)
        percent = (processes.cpu_s(terminal.pid) - before_s) / seconds * 100
        resident = processes.resident_bytes(terminal.pid)
        peak = processes.peak_bytes(terminal.pid)
        terminal.leave()
    return [
        Target(f"ui: idle {seconds:g} s, draws", 0, draws),
        Target(f"ui: idle {seconds:g} s, % of a core", LIMIT_PERCENT, percent),
        Target(f"ui: resident with {jobs:,} jobs, MB", LIMIT_MB, resident / MB, provisional=True),
        Target(f"ui: resident with {jobs:,} jobs, at most, MB", None, peak / MB),
    ]
