"""Runs the tests of both languages, group by group, and sums up.

Started by ``scripts/test``, in the root of the checkout and with the project's own Python. What a
run said is read in ``outcomes.py``.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from outcomes import PYTEST_NOTHING_COLLECTED, Outcome, from_cargo, from_junit

PYTEST_GROUPS = ("unit", "property", "contract", "integration", "e2e")
GROUPS = ("rust", *PYTEST_GROUPS, "torch", "testbed")
PYTEST = (sys.executable, "-m", "pytest", "--quiet")

NO_TESTBED = "needs the testbed: run with --testbed or CI=true"
RUN_TESTBED = "CRYSTALMATH_RUN_TESTBED"
"""Tells the tests that they may set the testbed up; a plain pytest skips them."""
FAST = "needs the testbed: left out by --fast"
FAST_TORCH = "needs torch, a large download: left out by --fast"


def main() -> int:
    """Run the groups that the arguments ask for; 0 when none failed."""
    arguments = _parse_arguments()
    groups = [arguments.only] if arguments.only else list(GROUPS)
    why_no_testbed = _why_no_testbed(fast=arguments.fast, testbed=arguments.testbed)

    total = Outcome()
    rows: list[str] = []
    for group in groups:
        print(f"== {group}", flush=True)
        started = time.monotonic()
        outcome = _runner(group, why_no_testbed, fast=arguments.fast)()
        rows += _render(group, outcome, time.monotonic() - started)
        total.add(outcome)

    print("\ngroup         passed  failed  skipped  seconds")
    print(*rows, sep="\n")
    print(f"\n{total.closing_line()}", flush=True)
    return 1 if total.failed else 0


def _parse_arguments() -> argparse.Namespace:
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
    return parser.parse_args()


def _why_no_testbed(*, fast: bool, testbed: bool) -> str | None:
    """Say why the testbed group is left out, or None when it runs."""
    if fast:
        return FAST
    if testbed or os.environ.get("CI") == "true":
        return None
    return NO_TESTBED


def _runner(group: str, why_no_testbed: str | None, *, fast: bool) -> Callable[[], Outcome]:
    if group == "rust":
        return _run_cargo
    if group == "torch":
        if fast:
            return lambda: _count_skipped(FAST_TORCH, "torch")
        return lambda: _run_pytest("tests", "torch")
    if group != "testbed":
        return lambda: _run_pytest(f"tests/{group}", "not testbed and not torch")
    if why_no_testbed is None:
        os.environ[RUN_TESTBED] = "1"
        return lambda: _run_pytest("tests", "testbed")
    return lambda: _count_skipped(why_no_testbed, "testbed")


def _run_cargo() -> Outcome:
    """Run ``cargo test``, showing its output while it is read."""
    command = ["cargo", "test", "--locked", "--no-fail-fast"]
    lines: list[str] = []
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, errors="replace") as cargo:
        assert cargo.stdout is not None
        for line in cargo.stdout:
            print(line, end="", flush=True)
            lines.append(line.rstrip("\n"))
    return from_cargo(lines, cargo.returncode)


def _run_pytest(folder: str, marks: str) -> Outcome:
    if not Path(folder).is_dir():
        return Outcome()
    with tempfile.TemporaryDirectory(prefix="crystalmath-test-") as scratch:
        report = Path(scratch) / "report.xml"
        ended = subprocess.run([*PYTEST, f"--junit-xml={report}", "-m", marks, folder], check=False)
        return from_junit(report, ended.returncode)


def _count_skipped(reason: str, marks: str) -> Outcome:
    """Count the tests with a mark without running them."""
    ended = subprocess.run(
        [*PYTEST, "--collect-only", "-m", marks, "tests"],
        check=False,
        stdout=subprocess.PIPE,
        text=True,
    )
    if ended.returncode not in (0, PYTEST_NOTHING_COLLECTED):
        print(ended.stdout)
        return Outcome(failures=[f"collecting ended with code {ended.returncode}"])
    outcome = Outcome()
    if count := sum("::" in line for line in ended.stdout.splitlines()):
        outcome.skips[reason] = count
    return outcome


def _render(group: str, outcome: Outcome, elapsed_s: float) -> list[str]:
    counts = f"{outcome.passed:6d}  {outcome.failed:6d}  {outcome.skipped:7d}  {elapsed_s:7.1f}"
    rows = [f"{group:12s}  {counts}"]
    rows += [f"    failed: {name}" for name in outcome.failures]
    rows += [f"    skipped {count}: {reason}" for reason, count in sorted(outcome.skips.items())]
    return rows


if __name__ == "__main__":
    sys.exit(main())
