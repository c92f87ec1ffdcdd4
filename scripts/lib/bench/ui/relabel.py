"""A client that has jobs relabelled: ``python relabel.py PATH FIRST LAST PER_S SECONDS``.

A process of its own; PATH is that of ``rig.telling``. Takes the jobs in turn, a twentieth of a
second's share at once, each time with a label that no job had before, and keeps to its rate as well
as the daemon lets it. At the end it writes one line of JSON: how many changes there were, when the
last was told (on the clock of ``time.perf_counter``), and the label that each job has now.
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path

sys.path[0] = str(Path(__file__).resolve().parents[2])

from rig.telling import Teller  # noqa: E402 - the path comes first

TURNS_PER_S = 20


def main(path: str, first: int, last: int, per_s: int, seconds: float) -> None:
    """Relabel until the time is over and the last job has had its turn."""
    labels: dict[int, str] = {}
    share = max(1, per_s // TURNS_PER_S)
    ranges = [range(n, min(n + share, last + 1)) for n in range(first, last + 1, share)]
    events = turns = 0
    with Teller(Path(path)) as teller:
        begin = time.perf_counter()
        while time.perf_counter() - begin < seconds or turns % len(ranges):
            time.sleep(max(0.0, begin + events / per_s - time.perf_counter()))
            jobs = ranges[turns % len(ranges)]
            label = f"{os.getpid()}.{turns}"
            teller.relabel(jobs, label)
            labels |= dict.fromkeys(jobs, label)
            events += len(jobs)
            turns += 1
        ended_at = time.perf_counter()
    report = {"events": events, "began_at": begin, "ended_at": ended_at, "labels": labels}
    print(json.dumps(report))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]), float(sys.argv[5]))
