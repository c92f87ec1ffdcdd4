"""The command: which groups are run, several at a time, and what is printed of them.

What is run stands in ``groups.py``, what a run said is read in ``outcomes.py``.
"""

from __future__ import annotations

import argparse
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from suite.groups import ALL_S, GROUPS, LANES, Group, why_left_out, within
from suite.outcomes import Outcome
from suite.process import Processes
from suite.running import count_skipped, run_group

SLOWEST: Final = 15
_LOOK_EVERY_S: Final = 0.1


def main(arguments: Sequence[str]) -> int:
    """Run the groups that the arguments ask for; 0 when none failed."""
    given = _parse(arguments)
    asked = [[g for g in lane if given.only in (None, g.name)] for lane in LANES]
    lanes = [lane for lane in asked if lane]
    started = time.monotonic()
    run = _Run(given, alone=sum(map(len, lanes)) == 1)
    with ThreadPoolExecutor(len(lanes)) as pool:
        running = [pool.submit(run.lane, lane) for lane in lanes]
        try:
            for lane in running:
                lane.result()
        except KeyboardInterrupt:
            run.processes.stop()
    total = Outcome()
    print("\ngroup         passed  failed  skipped  seconds")
    for name in GROUPS:
        if ended := run.ended.get(name):
            print(*_render(name, *ended), sep="\n")
            total.add(ended[0])
    print(f"in all {time.monotonic() - started:.0f} s; the slowest tests:")
    for elapsed_s, test in total.slowest(SLOWEST):
        print(f"{elapsed_s:7.1f} s  {test}")
    print(f"\n{total.closing_line()}", flush=True)
    return 1 if total.failed else 0


def _parse(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="test", description="Set up whatever is missing, then run the tests of both languages."
    )
    parser.add_argument(
        "--fast",
        action="store_true",
        help="leave out what needs the testbed in any case, and what needs torch",
    )
    parser.add_argument(
        "--testbed",
        action="store_true",
        help="run what needs the real cluster, SSH servers and programs of tests/testbed "
        "(CI=true does the same)",
    )
    parser.add_argument("--only", choices=GROUPS, metavar="GROUP", help=" | ".join(GROUPS))
    return parser.parse_args(arguments)


class _Run:
    """Runs lanes of groups and shows each group: as it goes when alone, else whole at its end.

    Attributes
    ----------
    ended
        Name of a group → what it said, and the seconds it took.
    """

    def __init__(self, given: argparse.Namespace, *, alone: bool) -> None:
        self.processes = Processes()
        self.ended: dict[str, tuple[Outcome, float]] = {}
        self._given = given
        self._alone = alone
        self._printing = threading.Lock()
        self._deadline = time.monotonic() + ALL_S

    def lane(self, groups: Sequence[Group]) -> None:
        """Run groups one after the other."""
        for group in groups:
            started = time.monotonic()
            outcome = self._group(within(group, self._deadline - started))
            self.ended[group.name] = outcome, time.monotonic() - started

    def _group(self, group: Group) -> Outcome:
        why_not = why_left_out(group, fast=self._given.fast, testbed=self._given.testbed)
        if why_not is not None:
            return count_skipped(group, why_not)
        with tempfile.TemporaryDirectory(prefix="crystalmath-test-") as scratch:
            output = Path(scratch) / "output"
            output.touch()
            with self._shown(group.name, output):
                return run_group(group, self.processes, output)

    @contextmanager
    def _shown(self, name: str, output: Path) -> Iterator[None]:
        if self._alone:
            print(f"== {name}", flush=True)
            with _followed(output):
                yield
            return
        with self._printing:
            print(f"== {name} has started", flush=True)
        started = time.monotonic()
        try:
            yield
        finally:
            with self._printing:
                print(f"\n== {name}, {time.monotonic() - started:.0f} s")
                print(output.read_text(encoding="utf-8", errors="replace"), flush=True)


@contextmanager
def _followed(output: Path) -> Iterator[None]:
    """Print what is written to a file as it comes."""
    over = threading.Event()

    def follow() -> None:
        with output.open(encoding="utf-8", errors="replace") as file:
            while not over.wait(_LOOK_EVERY_S):
                print(file.read(), end="", flush=True)
            print(file.read(), end="", flush=True)

    thread = threading.Thread(target=follow)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def _render(group: str, outcome: Outcome, elapsed_s: float) -> list[str]:
    counts = f"{outcome.passed:6d}  {outcome.failed:6d}  {outcome.skipped:7d}  {elapsed_s:7.1f}"
    rows = [f"{group:12s}  {counts}"]
    rows += [f"    failed: {name}" for name in outcome.failures]
    rows += [f"    skipped {count}: {reason}" for reason, count in sorted(outcome.skips.items())]
    return rows
