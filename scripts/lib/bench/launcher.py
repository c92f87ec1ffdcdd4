"""Starts the real daemon with one thing changed: ``python launcher.py [OPTION…] --foreground``.

``--without-orjson`` hides orjson, so that the daemon uses the JSON of the standard library.
``--load NAME FILE`` adds a thread that works as long as FILE exists: work in Python beside the
requests, which competes for the interpreter's lock. What remains of the arguments is the daemon's.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

LOOK_S: Final = 0.05
STEPS: Final = 100_000
ROWS: Final = 10_000


def compute(wanted: Callable[[], bool]) -> None:
    """Compute in Python while it is wanted: the lock is handed over at every switch interval."""
    number = 1
    while True:
        if not wanted():
            time.sleep(LOOK_S)
            continue
        for _ in range(STEPS):
            number = (number * 1_103_515_245 + 12_345) % 2_147_483_648


def encode(wanted: Callable[[], bool]) -> None:
    """Encode many rows while it is wanted: a call into C, which keeps the lock until it is done."""
    row = {"id": 1, "name": "copper relax", "energy_ev": -0.0229, "tags": ["copper", "scan"]}
    rows = [row | {"id": number, "rev": number} for number in range(ROWS)]
    while True:
        if not wanted():
            time.sleep(LOOK_S)
            continue
        json.dumps(rows)


LOADS: Final[Mapping[str, Callable[[Callable[[], bool]], None]]] = {
    "computes": compute,
    "encodes": encode,
}
"""What a thread of the daemon may do beside answering."""


def main() -> None:
    """Apply the options and become the daemon."""
    if "--without-orjson" in sys.argv:
        sys.argv.remove("--without-orjson")
        sys.modules["orjson"] = None  # type: ignore[assignment]  # makes the import fail
    if "--load" in sys.argv:
        at = sys.argv.index("--load")
        load, flag = LOADS[sys.argv[at + 1]], Path(sys.argv[at + 2])
        del sys.argv[at : at + 3]
        threading.Thread(target=load, args=(flag.exists,), name="load", daemon=True).start()

    from crystalmath.server.cli import main as server_main

    server_main()


if __name__ == "__main__":
    main()
