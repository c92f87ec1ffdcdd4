"""The command: ``bench [NAME…] [--pyo3] [--json FILE] [--rounds N]``.

Called by ``scripts/bench``. Everything runs on temporary directories; the exit code is 0 when every
firm target is kept, 1 when one is missed, 2 for a name that does not exist.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from bench import ipc, listing, pyo3, science, ssh, start, workflows
from bench.fleet import codecs
from bench.forces import run as forces
from bench.measure import Ledger, Target
from bench.report import print_rows, print_targets, write_json
from bench.scale import run as scale
from bench.scale import submitting
from bench.ui import run as ui
from rig.place import RigError

BENCHMARKS: Final[dict[str, Callable[[Ledger, int], list[Target]]]] = {
    "ipc": ipc.run,
    "list": listing.run,
    "start": start.run,
    "ui": ui.run,
    "forces": forces.run,
    "science": science.run,
    "workflows": workflows.run,
}
ON_REQUEST: Final[dict[str, Callable[[Ledger, int], list[Target]]]] = {
    "ssh": ssh.run,
    "scale": scale.run,
    "slurm": submitting.run,
}
"""Those that need servers or take minutes; they run only when named."""
ROUNDS: Final = 11


def main(arguments: Sequence[str]) -> int:
    """Run the command; returns the exit code."""
    given = _parse(arguments)
    known = BENCHMARKS | ON_REQUEST
    missing = [name for name in given.names if name not in known]
    for name in missing:
        print(f"bench {name}: no such benchmark; there are {', '.join(known)}", file=sys.stderr)
    if missing:
        return 2
    load = os.getloadavg()[0]
    print(
        f"Python {platform.python_version()}, {os.cpu_count()} cores, load {load:.1f} before, "
        f"JSON by {' and '.join(codecs())}, {given.rounds} rounds\n"
    )
    ledger = Ledger()
    targets: list[Target] = []
    wanted = {name: known[name] for name in given.names or BENCHMARKS}
    if given.pyo3:
        wanted["ipc --pyo3"] = pyo3.run
    failed = False
    for name, measure in wanted.items():
        try:
            targets += measure(ledger, given.rounds)
        except RigError as error:
            failed = True  # the others are worth having
            print(f"bench {name}: {error}", file=sys.stderr)
    if targets:
        rows = ledger.rows()
        print_rows(rows)
        print_targets(targets)
        if given.json is not None:
            write_json(given.json, rows, targets, codecs(), given.rounds)
    return 1 if failed or not all(t.ok or t.provisional for t in targets) else 0


def _parse(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="bench", description="Measure the daemon from outside and compare with the targets."
    )
    parser.add_argument(
        "names",
        nargs="*",
        metavar="NAME",
        help=f"{' | '.join(BENCHMARKS)}; all of these when left out; {' | '.join(ON_REQUEST)}",
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the figures here")
    parser.add_argument("--rounds", type=int, default=ROUNDS, metavar="N", help=f"default {ROUNDS}")
    parser.add_argument(
        "--pyo3", action="store_true",
        help="with ipc: the same calls by an interpreter in the client's own process",
    )  # fmt: skip
    given = parser.parse_args(arguments)
    if given.pyo3 and "ipc" not in (given.names or BENCHMARKS):
        parser.error("--pyo3 belongs to ipc")
    return given
