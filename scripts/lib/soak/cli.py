"""The command: ``soak [NAME…] [--rounds N] [--seed S]``.

Called by ``scripts/soak``. Each run works in temporary directories over Unix sockets alone, prints
where it is now and then and one line at the end; the exit code is 1 when any run found a problem.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from rig.place import RigError
from soak import (
    connect,
    decks,
    events,
    fuzz,
    idle,
    kill,
    outputs,
    starters,
    stopstart,
    workflows,
)
from soak.cluster import run as cluster
from soak.outcome import Outcome, Say


@dataclass(frozen=True, slots=True)
class Run:
    """A soak run and its full count.

    Attributes
    ----------
    only_named
        It needs what is not everywhere: the testbed, or a folder of outputs.
    """

    function: Callable[[int, int, Say], Outcome]
    count: int
    of_what: str
    only_named: bool = False


RUNS: Final = {
    "kill": Run(kill.run, 200, "kill -9 of the daemon under load"),
    "fuzz": Run(fuzz.run, 100_000, "mutated lines"),
    "idle": Run(idle.run, 500, "clients around the idle exit"),
    "stopstart": Run(stopstart.run, 50, "stop && start under load"),
    "connect": Run(connect.run, 1_000, "connections that end at once"),
    "events": Run(events.run, 100_000, "changes told beside a subscriber that never reads"),
    "starters": Run(starters.run, 18, "rounds of 32 simultaneous starters"),
    "outputs": Run(outputs.run, 100_000, "lines at most of each real output to cut it at", True),
    "decks": Run(decks.run, 1220, "decks of random crystals, two for each setting and layer group"),
    "workflows": Run(workflows.run, 30, "kill -9 of the daemon during workflows of phonons"),
    "cluster": Run(cluster.run, 100, "rounds of faults on a real SLURM over SSH", True),
}
SHOWN_PROBLEMS: Final = 20


def main(arguments: Sequence[str]) -> int:
    """Run the command; returns the exit code."""
    given = _parse(arguments)
    unknown = [name for name in given.names if name not in RUNS]
    if unknown:
        print(f"soak: no such run: {', '.join(unknown)}; there are {', '.join(RUNS)}",
              file=sys.stderr)  # fmt: skip
        return 2
    names = given.names or [name for name, run in RUNS.items() if not run.only_named]
    results = [_run(name, given.count, given.seed) for name in names]
    return 0 if all(results) else 1


def _run(name: str, count: int | None, seed: int) -> bool:
    run = RUNS[name]
    number = count or run.count
    print(f"soak {name}: {number} {run.of_what}, seed {seed}", flush=True)
    begin = time.monotonic()
    try:
        outcome = run.function(number, seed, lambda text: print(f"soak {name}: {text}", flush=True))
    except RigError as error:
        outcome = Outcome("not brought to its end", [str(error)])
    for problem in outcome.problems[:SHOWN_PROBLEMS]:
        print(f"    {problem}")
    if len(outcome.problems) > SHOWN_PROBLEMS:
        print(f"    … {len(outcome.problems) - SHOWN_PROBLEMS} more")
    verdict = "ok" if outcome.ok else f"FAILED, {len(outcome.problems)} problems"
    took_s = time.monotonic() - begin
    print(f"soak {name}: {verdict}: {outcome.facts}; seed {seed}, {took_s:.0f} s", flush=True)
    return outcome.ok


def _parse(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="soak",
        description="Run the large counts of the acceptance cases against real daemons.",
        epilog="; ".join(f"{name}: {run.count:,} {run.of_what}" for name, run in RUNS.items()),
    )
    parser.add_argument(
        "names", nargs="*", metavar="NAME",
        help="all when left out, but for cluster, which needs the testbed (root, and nobody else "
        "on it), and outputs, which needs a folder of them (CRYSTALMATH_CASES)",
    )  # fmt: skip
    parser.add_argument(
        "--rounds", "--count", dest="count", type=int, metavar="N", help="instead of the full count"
    )
    parser.add_argument(
        "--seed", type=int, default=random.randrange(1_000_000), metavar="S",
        help="repeat a run; chosen and printed when left out",
    )  # fmt: skip
    return parser.parse_args(arguments)
