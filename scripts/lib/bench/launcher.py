"""Starts the real daemon with one thing changed: ``python launcher.py [OPTION…] --foreground``.

``--without-orjson`` hides orjson, so that the daemon uses the JSON of the standard library.
``--spin FILE`` adds a thread that computes as long as FILE exists: work in Python beside the
requests, which competes for the interpreter's lock. What remains of the arguments is the daemon's.
"""

from __future__ import annotations

import sys
import threading
import time
from pathlib import Path

LOOK_S = 0.05
STEPS = 100_000


def spin(flag: Path) -> None:
    """Compute while the flag is there; look rarely while it is not."""
    number = 1
    while True:
        if not flag.exists():
            time.sleep(LOOK_S)
            continue
        for _ in range(STEPS):
            number = (number * 1_103_515_245 + 12_345) % 2_147_483_648


def main() -> None:
    """Apply the options and become the daemon."""
    if "--without-orjson" in sys.argv:
        sys.argv.remove("--without-orjson")
        sys.modules["orjson"] = None  # type: ignore[assignment]  # makes the import fail
    if "--spin" in sys.argv:
        at = sys.argv.index("--spin")
        flag = Path(sys.argv[at + 1])
        del sys.argv[at : at + 2]
        threading.Thread(target=spin, args=(flag,), name="spinner", daemon=True).start()

    from crystalmath.server.cli import main as server_main

    server_main()


if __name__ == "__main__":
    main()
