"""What the science costs: ``scripts/bench science``; one part each in a file of this folder."""

from __future__ import annotations

from bench.measure import Ledger, Target
from bench.science import answering, decks, outputs, search

__all__ = ["run"]


def run(ledger: Ledger, rounds: int) -> list[Target]:
    """Measure every part; returns the targets."""
    parts = (decks, outputs, answering, search)
    return [target for part in parts for target in part.run(ledger, rounds)]
