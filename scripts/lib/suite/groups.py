"""The groups of tests: how each is started, beside which others it runs, and how long it may take.

Starts nothing itself; called by ``cli.py`` and ``running.py``. The tests of the testbed read here
how it is asked for.
"""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

RUN_TESTBED: Final = "CRYSTALMATH_RUN_TESTBED"
"""Tells the tests that they may set the testbed up; a plain pytest skips them."""
NO_TESTBED: Final = "needs the testbed: run with --testbed or CI=true"
FAST: Final = "needs the testbed: left out by --fast"
FAST_TORCH: Final = "needs torch, a large download: left out by --fast"

PYTEST: Final = (sys.executable, "-m", "pytest", "--quiet")
CARGO: Final = ("cargo", "test", "--locked", "--no-fail-fast")
_HERE: Final = "not testbed and not torch"


ALL_S: Final = 2900.0
"""All groups end within this time, so that CI, which has an hour, prints what was found."""


@dataclass(frozen=True, slots=True)
class Group:
    """One group of tests.

    Attributes
    ----------
    limit_s
        After so many seconds it is ended and counts as failed, so that CI tells of a hang.
    marks
        What pytest selects by; None for the tests of Rust.
    workers
        How many processes share the tests, for each processor; 0: they run one after the other.
    """

    name: str
    limit_s: float
    folder: str = "tests"
    marks: str | None = _HERE
    workers: int = 0

    def command(self, report: Path) -> list[str]:
        """What is run; pytest leaves ``report``."""
        if self.marks is None:
            return list(CARGO)
        words = [*PYTEST, f"--junit-xml={report}", "-m", self.marks, self.folder]
        if self.workers:
            words += ["-n", str(self.workers * processors()), "--dist", "worksteal"]
        return words


# One lane is one after the other, the lanes run at the same time. What waits for a scheduler has a
# lane of its own; torch comes last, when nothing else is left: beside others its threads wait for
# each other, and its tests take five times as long.
LANES: Final = (
    (
        Group("rust", 900, marks=None),
        Group("unit", 900, "tests/unit", workers=1),
        Group("property", 400, "tests/property", workers=1),
        Group("contract", 400, "tests/contract", workers=1),
        Group("integration", 1800, "tests/integration", workers=2),
        Group("e2e", 900, "tests/e2e", workers=2),
        Group("torch", 1500, marks="torch"),
    ),
    (Group("testbed", 2400, marks="testbed"),),
)
GROUPS: Final = tuple(group.name for lane in LANES for group in lane)


def within(group: Group, left_s: float) -> Group:
    """The group with no more time than there is left."""
    return replace(group, limit_s=max(1.0, min(group.limit_s, left_s)))


def processors() -> int:
    """How many processors the machine has."""
    return os.cpu_count() or 1


def why_left_out(group: Group, *, fast: bool, testbed: bool) -> str | None:
    """Say why a group is left out, or None when it runs."""
    if group.marks == "torch":
        return FAST_TORCH if fast else None
    if group.marks != "testbed":
        return None
    if fast:
        return FAST
    return None if testbed or os.environ.get("CI") == "true" else NO_TESTBED
