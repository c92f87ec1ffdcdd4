"""Many clients at the same moment: ``python crowd.py COUNT``.

Forks, after everything is imported, into COUNT processes that wait for the same signal; each then
does what every client does, connecting and starting the daemon if none runs, and makes a call.
Every second one becomes the Rust client, where that is installed. One JSON line per client goes to
standard output: pid and instance of the daemon, or the error, and the seconds it took. A process
of its own, because it forks.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

from crystalmath.client import Client
from crystalmath.errors import CrystalMathError


def main(count: int) -> None:
    """Let them loose and wait for all."""
    gate, opener = os.pipe()
    children = []
    rust = Path(sys.executable).parent / "crystalmath"
    for n in range(count):
        child = os.fork()
        if child == 0:
            os.close(opener)
            os.read(gate, 1)  # its end is the signal
            os.close(gate)
            visit(rust if n % 2 and rust.exists() else None)
            os._exit(0)
        children.append(child)
    os.close(gate)
    os.close(opener)
    for child in children:
        os.waitpid(child, 0)


def visit(program: Path | None) -> None:
    """Connect, call, report; through ``program`` when one is given."""
    begin = time.monotonic()
    try:
        report = _by_library() if program is None else _by_program(program)
    except (CrystalMathError, OSError, ValueError) as error:
        report = {"error": f"{type(error).__name__}: {error}"}
    report["took_s"] = time.monotonic() - begin
    os.write(1, json.dumps(report).encode() + b"\n")


def _by_library() -> dict[str, object]:
    with Client() as client:
        client.call("jobs.list", limit=1)
        return {"pid": client.server["pid"], "instance": client.server["instance"]}


def _by_program(program: Path) -> dict[str, object]:
    ended = subprocess.run(
        [program, "call", "system.status", "--json"],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if ended.returncode != 0:
        return {"error": f"{program.name} ended with {ended.returncode}: {ended.stderr}"}
    status = json.loads(ended.stdout)["data"]
    return {"pid": status["pid"], "instance": status["instance"]}


if __name__ == "__main__":
    main(int(sys.argv[1]))
