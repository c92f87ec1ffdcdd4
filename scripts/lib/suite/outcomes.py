"""What a test run said: the counts, the failures and the reasons of skips of one group.

Reads the two languages' reports (JUnit XML of pytest, the lines of ``cargo test``) into one shape.
Runs nothing and prints nothing; called by ``running.py`` and ``cli.py``.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

# test result: FAILED. 3 passed; 1 failed; 2 ignored; 0 measured; 0 filtered out; finished in 0.00s
_CARGO_RESULT = re.compile(r"^test result: \w+\. (\d+) passed; (\d+) failed; (\d+) ignored;")
# test codec::splits ... ignored, needs a terminal
_CARGO_TEST = re.compile(r"^test (.+) \.\.\. (FAILED|ignored)(?:, (.*))?$")

PYTEST_FAILED = 1
PYTEST_NOTHING_COLLECTED = 5


@dataclass(slots=True)
class Outcome:
    """The result of one group of tests.

    Attributes
    ----------
    times_s
        Test → seconds, with its fixtures; cargo does not tell them.
    """

    passed: int = 0
    failures: list[str] = field(default_factory=list)
    skips: Counter[str] = field(default_factory=Counter)
    times_s: dict[str, float] = field(default_factory=dict)

    @property
    def failed(self) -> int:
        """How many failed; a run that did not come to its end is one failure."""
        return len(self.failures)

    @property
    def skipped(self) -> int:
        """How many were skipped, for whatever reason."""
        return self.skips.total()

    def add(self, other: Outcome) -> None:
        """Count the tests of another outcome as well."""
        self.passed += other.passed
        self.failures += other.failures
        self.skips += other.skips
        self.times_s |= other.times_s

    def slowest(self, count: int) -> list[tuple[float, str]]:
        """The tests that took longest, with their seconds, the slowest first."""
        return sorted(((s, name) for name, s in self.times_s.items()), reverse=True)[:count]

    def closing_line(self) -> str:
        """Render the line every run ends with."""
        return f"{self.passed} passed, {self.failed} failed, {self.skipped} skipped"


def from_junit(report: Path, exit_code: int | None) -> Outcome:
    """Read the report of a pytest run.

    Parameters
    ----------
    report
        The file given to ``--junit-xml``; it is absent when pytest did not start its tests.
    exit_code
        What pytest ended with. A code that says more than "some failed" is a failure of its own,
        so that an internal error or an interrupt never counts as success. None: it was ended at
        its limit, and whoever ended it counts that.
    """
    outcome = Outcome()
    if report.exists():
        for case in ET.parse(report).iter("testcase"):
            _add_case(outcome, case)
    explained = exit_code in (None, 0, PYTEST_NOTHING_COLLECTED) or (
        exit_code == PYTEST_FAILED and outcome.failed
    )
    if not explained:
        outcome.failures.append(f"pytest ended with code {exit_code}")
    return outcome


def _add_case(outcome: Outcome, case: ET.Element) -> None:
    name = f"{case.get('classname')}::{case.get('name')}"
    skip = case.find("skipped")
    if case.find("failure") is not None or case.find("error") is not None:
        outcome.failures.append(name)
    elif skip is not None:
        outcome.skips[skip.get("message") or "no reason given"] += 1
    else:
        outcome.passed += 1
    outcome.times_s[name] = float(case.get("time", 0))


def from_cargo(lines: Iterable[str], exit_code: int | None) -> Outcome:
    """Read the output of ``cargo test``; a build that fails is one failure.

    Parameters
    ----------
    lines
        Everything cargo and the test programs printed to their output.
    exit_code
        What cargo ended with; None: it was ended at its limit, and whoever ended it counts that.
    """
    outcome = Outcome()
    ignored = 0
    for line in lines:
        if counts := _CARGO_RESULT.match(line):
            outcome.passed += int(counts[1])
            ignored += int(counts[3])
        elif test := _CARGO_TEST.match(line):
            if test[2] == "FAILED":
                outcome.failures.append(test[1])
            else:
                outcome.skips[test[3] or "ignored without a reason"] += 1
    if missing := ignored - outcome.skipped:
        outcome.skips["ignored without a reason"] += missing
    if exit_code not in (None, 0) and not outcome.failures:
        outcome.failures.append(f"cargo test ended with code {exit_code}")
    return outcome
