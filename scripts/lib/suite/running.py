"""Runs one group of tests, or counts those of a group that is left out.

What is run stands in ``groups.py``, what a run said is read in ``outcomes.py``; called by
``cli.py``.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from suite.groups import PYTEST, RUN_TESTBED, Group
from suite.journal import JOURNAL, unfinished
from suite.outcomes import PYTEST_NOTHING_COLLECTED, Outcome, from_cargo, from_junit
from suite.process import Processes


def run_group(group: Group, processes: Processes, output: Path) -> Outcome:
    """Run a group to its end or its limit; what it prints goes to ``output``."""
    with tempfile.TemporaryDirectory(prefix="crystalmath-test-") as scratch:
        report, journal = Path(scratch) / "report.xml", Path(scratch) / "journal"
        environment = {JOURNAL: str(journal)}
        if group.marks == "testbed":
            environment[RUN_TESTBED] = "1"
        code = processes.run(group.command(report), group.limit_s, output, environment)
        outcome = _read(group, code, report, output)
        if code is None:
            left = unfinished(journal) if group.marks is not None else _still_running(output)
            outcome.failures.append(
                f"{group.name}: ended at its limit of {group.limit_s:g} s"
                f" in {', '.join(left) or 'none of its tests'}"
            )
        return outcome


def count_skipped(group: Group, reason: str) -> Outcome:
    """Count the tests of a group without running them."""
    command = [*PYTEST, "--collect-only", "-m", str(group.marks), group.folder]
    ended = subprocess.run(command, check=False, stdout=subprocess.PIPE, text=True)
    if ended.returncode not in (0, PYTEST_NOTHING_COLLECTED):
        print(ended.stdout, file=sys.stderr)
        return Outcome(failures=[f"collecting ended with code {ended.returncode}"])
    outcome = Outcome()
    if count := sum("::" in line for line in ended.stdout.splitlines()):
        outcome.skips[reason] = count
    return outcome


def _read(group: Group, code: int | None, report: Path, output: Path) -> Outcome:
    if group.marks is None:
        return from_cargo(_lines(output), code)
    return from_junit(report, code)


def _still_running(output: Path) -> list[str]:
    """What cargo's test programs say of a test that takes longer than a minute."""
    slow = " has been running for over 60 seconds"
    lines = _lines(output)
    tests = [line.removesuffix(slow) for line in lines if line.endswith(slow)]
    return [test for test in tests if not any(line.startswith(f"{test} ...") for line in lines)]


def _lines(output: Path) -> list[str]:
    return output.read_text(encoding="utf-8", errors="replace").splitlines()
