"""A client of a daemon's worker that asks as fast as it can: ``client.py SOCKET ATOMS SECONDS``.

Says ``ready`` after its first answer, waits for a line, and ends with structures a second.
"""

from __future__ import annotations

import sys
import time

from ase.build import bulk

from crystalmath.calculators.daemon import DaemonSource
from crystalmath.calculators.request import Request
from crystalmath.forces.lean import LeanCalculator


def main(socket: str, atoms: int, seconds: float) -> float:
    """Ask for energy and forces until the time is over; returns structures a second."""
    cell = bulk("Cu", "fcc", a=3.6, cubic=True) * (1, 1, max(1, atoms // 4))
    cell.rattle(0.02, seed=1)
    with LeanCalculator(DaemonSource([Request("emt")], {}, socket=socket, auto_start=False)) as c:
        cell.calc = c
        cell.get_forces()
        print("ready", flush=True)
        sys.stdin.readline()
        done, begin = 0, time.monotonic()
        while (passed := time.monotonic() - begin) < seconds:
            cell.positions[0, 0] += 1e-7
            cell.get_forces()
            done += 1
    return done / passed


if __name__ == "__main__":
    print(main(sys.argv[1], int(sys.argv[2]), float(sys.argv[3])))
