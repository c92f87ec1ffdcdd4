"""Many clients at the same moment: ``python crowd.py COUNT``.

Forks, after everything is imported, into COUNT processes that wait for the same signal; each then
does what every client does, connecting and starting the daemon if none runs, and makes a call. One
JSON line per client goes to standard output: pid and instance of the daemon, or the error, and the
seconds it took. A process of its own, because it forks.
"""

from __future__ import annotations

import json
import os
import sys
import time

from crystalmath.client import Client
from crystalmath.errors import CrystalMathError


def main(count: int) -> None:
    """Let them loose and wait for all."""
    gate, opener = os.pipe()
    children = []
    for _ in range(count):
        child = os.fork()
        if child == 0:
            os.close(opener)
            os.read(gate, 1)  # its end is the signal
            os.close(gate)
            visit()
            os._exit(0)
        children.append(child)
    os.close(gate)
    os.close(opener)
    for child in children:
        os.waitpid(child, 0)


def visit() -> None:
    """Connect, call, report."""
    begin = time.monotonic()
    report: dict[str, object]
    try:
        with Client() as client:
            client.call("jobs.list", limit=1)
            report = {"pid": client.server["pid"], "instance": client.server["instance"]}
    except CrystalMathError as error:
        report = {"error": f"{type(error).__name__}: {error}"}
    report["took_s"] = time.monotonic() - begin
    os.write(1, json.dumps(report).encode() + b"\n")


if __name__ == "__main__":
    main(int(sys.argv[1]))
