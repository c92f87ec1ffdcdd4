"""From the start of the program to rows of a running daemon."""

from __future__ import annotations

from typing import Final

from bench.measure import US_PER_S, Ledger, Target
from bench.ui.session import SIZE, is_live
from rig.place import Place
from rig.terminal import Terminal, client_command

STARTS_PER_ROUND: Final = 4
LIMIT_MS: Final = 50.0


def measure(ledger: Ledger, place: Place, jobs: int, base_us: float) -> None:
    """Start the UI a few times and leave it; ratios are over the start of a program."""
    firsts, rows = [], []
    for _ in range(STARTS_PER_ROUND):
        with Terminal(client_command(), place.env, SIZE) as terminal:
            firsts.append((terminal.wait_frame(0).at - terminal.spawned_at) * US_PER_S)
            at = terminal.wait_for("live rows", is_live)
            rows.append((at - terminal.spawned_at) * US_PER_S)
            terminal.leave()
    ledger.add(f"ui: exec to first frame, {jobs:,} jobs", firsts, base_us)
    ledger.add(_rows(jobs), rows, base_us)


def targets(ledger: Ledger, jobs: int) -> list[Target]:
    """The limits."""
    row = ledger.row(_rows(jobs))
    return [
        Target(f"ui: exec to live rows, {jobs:,} jobs, p95, ms", LIMIT_MS, row.p95_us / 1000),
    ]


def _rows(jobs: int) -> str:
    return f"ui: exec to live rows, {jobs:,} jobs"
