"""What the test scripts read out of the reports of pytest and cargo."""

from __future__ import annotations

from pathlib import Path

import pytest

from suite.outcomes import Outcome, from_cargo, from_junit

# Written by pytest 9.2 for one passing, one failing, one broken and one skipped test, shortened.
REPORT = """\
<testsuites><testsuite name="pytest" errors="1" failures="1" skipped="1" tests="4">
<testcase classname="tests.unit.test_a" name="test_holds" time="0.1"/>
<testcase classname="tests.unit.test_a" name="test_fails">
<failure message="assert 1 == 2"/></testcase>
<testcase classname="tests.unit.test_a" name="test_breaks">
<error message="in a fixture"/></testcase>
<testcase classname="tests.unit.test_a" name="test_waits">
<skipped type="pytest.skip" message="no scheduler here"/></testcase>
</testsuite></testsuites>
"""

# Printed by cargo 1.95 for a library and an integration test, shortened.
CARGO = """\
running 3 tests
test codec::joins ... ok
test codec::splits ... FAILED
test terminal::draws ... ignored, needs a terminal
test result: FAILED. 1 passed; 1 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s
running 2 tests
test calls ... ok
test resends ... ok
test result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s
"""


@pytest.fixture
def report(tmp_path: Path) -> Path:
    path = tmp_path / "report.xml"
    path.write_text(REPORT)
    return path


def test_junit_counts_errors_as_failures_and_keeps_reasons(report: Path) -> None:
    outcome = from_junit(report, exit_code=1)
    assert outcome.passed == 1
    assert outcome.failures == ["tests.unit.test_a::test_fails", "tests.unit.test_a::test_breaks"]
    assert outcome.skips == {"no scheduler here": 1}
    assert outcome.closing_line() == "1 passed, 2 failed, 1 skipped"


@pytest.mark.parametrize("exit_code", [2, 3, 4, 137, -9])
def test_a_run_that_did_not_end_well_is_a_failure(report: Path, exit_code: int) -> None:
    assert from_junit(report, exit_code).failures[-1] == f"pytest ended with code {exit_code}"


def test_no_report_is_a_failure_unless_nothing_was_collected(tmp_path: Path) -> None:
    absent = tmp_path / "absent.xml"
    assert from_junit(absent, exit_code=1).failed == 1
    assert from_junit(absent, exit_code=5) == Outcome()


def test_cargo_adds_up_the_programs_and_keeps_reasons() -> None:
    outcome = from_cargo(CARGO.splitlines(), exit_code=101)
    assert outcome.passed == 3
    assert outcome.failures == ["codec::splits"]
    assert outcome.skips == {"needs a terminal": 1}


def test_a_build_that_fails_is_a_failure() -> None:
    assert from_cargo([], exit_code=101).failures == ["cargo test ended with code 101"]


def test_an_ignored_test_is_counted_even_when_its_line_is_lost() -> None:
    lines = ["test result: ok. 1 passed; 0 failed; 2 ignored; 0 measured; 0 filtered out"]
    assert from_cargo(lines, exit_code=0).closing_line() == "1 passed, 0 failed, 2 skipped"


def test_what_was_ended_at_its_limit_is_counted_by_who_ended_it(tmp_path: Path) -> None:
    assert from_junit(tmp_path / "absent.xml", exit_code=None) == Outcome()
    assert from_cargo([], exit_code=None) == Outcome()


def test_the_slowest_come_first(report: Path) -> None:
    outcome = from_junit(report, exit_code=1)
    other = Outcome(times_s={"b": 3.0, "a": 0.05})
    outcome.add(other)
    assert outcome.slowest(2) == [(3.0, "b"), (0.1, "tests.unit.test_a::test_holds")]


def test_outcomes_add_up() -> None:
    total = Outcome(passed=1, failures=["a"])
    other = Outcome(passed=2)
    other.skips["no testbed"] = 3
    total.add(other)
    total.add(other)
    assert total.closing_line() == "5 passed, 1 failed, 6 skipped"
