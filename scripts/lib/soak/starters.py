"""Many clients that all find no daemon at the same moment: one is started, and all are served.

The rounds take turns: nothing there, the socket of a killed daemon, lock files that name a foreign
process that is alive.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from pathlib import Path

from rig import processes
from rig.place import Place
from soak.outcome import Outcome, Progress, Say

CLIENTS = 32
MOST_S = 3.0
KINDS = ("clean", "stale socket", "odd lock files")
_CROWD = Path(__file__).resolve().with_name("crowd.py")


def run(
    count: int, seed: int, say: Say, *, clients: int = CLIENTS, most_s: float = MOST_S
) -> Outcome:
    """Let ``clients`` start the daemon at once, in ``count`` rounds.

    Parameters
    ----------
    most_s
        A client that waits longer is a problem.
    """
    rng = random.Random(seed)
    progress = Progress(count, say)
    problems: list[str] = []
    slowest_s = 0.0
    for n in range(count):
        kind = KINDS[n % len(KINDS)] if count >= len(KINDS) else rng.choice(KINDS)
        with Place() as place:
            _prepare(place, kind)
            took_s, found = _round(place, clients)
        slowest_s = max(slowest_s, took_s)
        problems += [f"round {n}, {kind}: {problem}" for problem in found]
        if took_s > most_s:
            problems.append(f"round {n}, {kind}: {took_s:.2f} s, more than {most_s:g} s")
        progress.at(n)
    return Outcome(f"{count} rounds of {clients} starters, slowest {slowest_s:.2f} s", problems)


def _prepare(place: Place, kind: str) -> None:
    if kind == "stale socket":
        place.kill(place.start())
    elif kind == "odd lock files":
        for name in ("s.lock", "s.start.lock"):
            (place.root / name).write_text(f"{os.getppid()}\n", encoding="ascii")
            (place.root / name).chmod(0o600)


def _round(place: Place, clients: int) -> tuple[float, list[str]]:
    """Run the crowd; returns the seconds of the slowest client, and problems."""
    crowd = subprocess.run(
        [sys.executable, _CROWD, str(clients)],
        env=place.env, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
        timeout=place.patience_s,
    )  # fmt: skip
    reports = [json.loads(line) for line in crowd.stdout.splitlines()]
    problems = [report["error"] for report in reports if "error" in report]
    if len(reports) != clients:
        problems.append(f"{len(reports)} of {clients} reported: {crowd.stderr[-2000:]}")
    instances = {report["instance"] for report in reports if "instance" in report}
    if len(instances) != 1:
        problems.append(f"{len(instances)} daemons: {sorted(instances)}")
    daemons = _daemons(place)
    if len(daemons) != 1:
        problems.append(f"{len(daemons)} processes remain: {daemons}")
    problems += place.tracebacks()
    return max((report["took_s"] for report in reports), default=0.0), problems


def _daemons(place: Place) -> dict[int, str]:
    """The processes of the place that are no worker of another one."""
    found = processes.of_place(place.root)
    return {pid: command for pid, command in found.items() if processes.parent(pid) not in found}
