"""``bench forces``: the runs, in turn."""

from __future__ import annotations

import os

from bench.forces import clients, goals, peers
from bench.measure import Ledger, Target

RUNS = 3
SIZES = (64, 1000, 10000)
SMALL = (64, 1000)
PEERS = ("direct", "rootstock", "ase", "ipi", "floor")


def run(ledger: Ledger, rounds: int) -> list[Target]:
    """Measure; of three runs the middle one counts. The figures are ratios within one run."""
    runs = []
    for number in range(min(rounds, RUNS)):
        print(f"forces: run {number + 1}, both ends on one core", flush=True)
        rows = peers.measure(
            atoms=SIZES, peers=PEERS, ours=("l1", "daemon", "l0", "adapter"), pin="0,0"
        )
        runs.append(rows)
        for size, row in rows.items():
            for name, median_us in row["median_us"].items():
                ledger.add(f"{name}, {size} atoms", [median_us])
    found = goals.targets(goals.PINNED, runs)
    emt = peers.measure(
        atoms=SMALL, peers=("direct", "rootstock"), ours=("l1",), pin="0,0", kind="emt"
    )
    found += goals.targets(goals.EMT, [emt])
    if (os.cpu_count() or 1) > 1:
        apart = peers.measure(atoms=SMALL, peers=("rootstock", "floor"), ours=("l1",), pin="0,1")
        found += goals.targets(goals.APART, [apart])
    return found + clients.targets(SIZES)
