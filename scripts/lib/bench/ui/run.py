"""All figures of the UI, one part after the other, on one daemon with 10,000 jobs and one with few.

Called by ``bench.cli``. With less than the usual number of rounds the parts that take long are
shorter as well.
"""

from __future__ import annotations

import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import Final

from bench.fleet import JOBS, filled_database
from bench.measure import Ledger, Target
from bench.ui import events, first_frame, idle, keys, log, raw, slow
from bench.ui.session import daemon_of
from rig.filled import fill

FEW_JOBS: Final = 12
FULL_ROUNDS: Final = 10


def run(ledger: Ledger, rounds: int) -> list[Target]:
    """Measure; returns the targets."""
    share = min(1.0, rounds / FULL_ROUNDS)
    with ExitStack() as stack:
        database = stack.enter_context(filled_database())
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="cm-")))
        fill(folder / "few.db", FEW_JOBS)
        many = stack.enter_context(daemon_of(database))
        few = stack.enter_context(daemon_of(folder / "few.db"))
        for _ in range(rounds):
            echo_us, start_us = raw.measure(ledger, few)
            first_frame.measure(ledger, few, FEW_JOBS, start_us)
            first_frame.measure(ledger, many, JOBS, start_us)
            keys.measure(ledger, many, JOBS, echo_us)
        found = first_frame.targets(ledger, FEW_JOBS) + first_frame.targets(ledger, JOBS)
        found += keys.targets(ledger)
        found += idle.measure(many, JOBS, share * idle.LONGEST_S)
        found += log.measure(ledger, many, JOBS, share)
        found += events.measure(ledger, many, JOBS, share * events.LONGEST_S)
        links = slow.LINKS if rounds > 1 else slow.SHORT
        found += slow.measure(ledger, many, JOBS, share * slow.LONGEST_S, links)
        return found
