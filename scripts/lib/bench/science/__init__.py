"""What the science costs: ``scripts/bench science``; one part each in a file of this folder."""

from __future__ import annotations

from bench.measure import Ledger, Target
from bench.science import decks, outputs

__all__ = ["run"]


def run(ledger: Ledger, rounds: int) -> list[Target]:
    """Measure every part; returns the targets."""
    return [*decks.run(ledger, rounds), *outputs.run(ledger, rounds)]
