"""Several clients on one worker of a daemon, against one: structures a second.

The model computes (EMT), so that the worker is what they wait for. Each client is a process,
``client.py``.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Final

from bench.measure import Target
from rig.place import Place, RigError

CLIENTS: Final = 4
LEAST: Final = 0.97
SECONDS: Final = 3.0
ROUNDS: Final = 5
_PATIENCE_S: Final = 120.0


def targets(sizes: Sequence[int]) -> list[Target]:
    """Measure in turn, one client and four, at each size."""
    found = []
    with Place() as place:
        place.foreground()
        place.wait_ready()
        for atoms in sizes:
            ratios = []
            for _ in range(ROUNDS):
                alone = _rate(place.socket, atoms, 1)
                ratios.append(_rate(place.socket, atoms, CLIENTS) / alone)
            name = f"forces: EMT, {CLIENTS} clients on a worker / one client, {atoms} atoms"
            found.append(Target(name, LEAST, median(ratios), least=True))
    return found


def _rate(socket: str, atoms: int, clients: int) -> float:
    """Structures a second that so many clients get together."""
    script = Path(__file__).resolve().with_name("client.py")
    command = [sys.executable, str(script), socket, str(atoms), str(SECONDS)]
    children = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for _ in range(clients)
    ]
    try:
        for child in children:
            assert child.stdout is not None
            if child.stdout.readline() != "ready\n":
                raise RigError("a client of the worker did not come so far as to be measured")
        for child in children:
            assert child.stdin is not None
            child.stdin.write("go\n")
            child.stdin.flush()
        done = [child.communicate(timeout=_PATIENCE_S)[0] for child in children]
    finally:
        for child in children:
            child.kill()
            child.wait()
    if any(child.returncode for child in children):
        raise RigError("a client of the worker has failed")
    return sum(map(float, done))
