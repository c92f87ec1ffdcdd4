"""How groups of tests are run: at their limit they end, and what ran then is told."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from suite import journal
from suite.groups import ALL_S, LANES, Group, why_left_out, within
from suite.process import Processes
from suite.running import run_group

FOREVER = "import time\nprint('begun', flush=True)\ntime.sleep(600)\n"
DEAF = f"import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\n{FOREVER}"


@pytest.fixture
def output(tmp_path: Path) -> Path:
    return tmp_path / "output"


def test_a_command_that_ends_gives_its_status_and_both_streams(output: Path) -> None:
    program = "import os, sys; print('out', flush=True); os.write(2, b'err'); sys.exit(3)"
    assert Processes().run([sys.executable, "-c", program], 60, output) == 3
    assert output.read_text() == "out\nerr"


@pytest.mark.parametrize("program", [FOREVER, DEAF], ids=["interrupted", "killed"])
def test_at_its_limit_a_command_is_ended(output: Path, program: str) -> None:
    assert Processes(grace_s=0.2).run([sys.executable, "-c", program], 0.5, output) is None


def test_a_stop_interrupts_what_runs_and_starts_no_more(output: Path) -> None:
    processes = Processes()
    stopping = threading.Timer(0.3, processes.stop)
    stopping.start()
    sleeping = [sys.executable, "-S", "-c", "import time; time.sleep(600)"]
    assert processes.run(sleeping, 120, output) != 0
    assert processes.run(sleeping, 120, output) == -signal.SIGINT


def test_the_tests_that_run_are_those_that_have_not_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "journal"
    assert journal.unfinished(path) == []
    monkeypatch.setenv(journal.JOURNAL, str(path))
    monkeypatch.delenv("PYTEST_XDIST_WORKER", raising=False)
    journal.note("start", "a.py::test_a")
    journal.note("start", "b.py::test_b[1 2]")
    journal.note("end", "a.py::test_a")
    monkeypatch.setenv("PYTEST_XDIST_WORKER", "gw0")
    journal.note("end", "b.py::test_b[1 2]")
    assert journal.unfinished(path) == ["b.py::test_b[1 2]"]


class _AtTheLimit(Processes):
    """Ends every command at its limit, in the middle of a test."""

    def run(
        self,
        command: Sequence[str],
        limit_s: float,
        output: Path,
        environment: Mapping[str, str] | None = None,
    ) -> int | None:
        assert environment is not None
        Path(environment[journal.JOURNAL]).write_text("start a.py::test_a\n")
        output.write_text("test wire::reads has been running for over 60 seconds\n")


@pytest.mark.parametrize(
    ("group", "test"),
    [(Group("unit", 600), "a.py::test_a"), (Group("rust", 600, marks=None), "test wire::reads")],
)
def test_a_group_at_its_limit_has_failed_in_the_test_that_ran(
    output: Path, group: Group, test: str
) -> None:
    outcome = run_group(group, _AtTheLimit(), output)
    assert outcome.failures == [f"{group.name}: ended at its limit of 600 s in {test}"]


def test_no_group_has_more_time_than_is_left() -> None:
    group = Group("unit", 600)
    assert [within(group, left).limit_s for left in (2000, 600, 5, -3)] == [600, 600, 5, 1]
    assert all(group.limit_s <= ALL_S for lane in LANES for group in lane)


def test_what_is_left_out_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CI", raising=False)
    groups = {group.name: group for lane in LANES for group in lane}
    assert why_left_out(groups["unit"], fast=True, testbed=False) is None
    assert why_left_out(groups["torch"], fast=False, testbed=False) is None
    assert "torch" in str(why_left_out(groups["torch"], fast=True, testbed=True))
    assert "--testbed" in str(why_left_out(groups["testbed"], fast=False, testbed=False))
    assert why_left_out(groups["testbed"], fast=False, testbed=True) is None
    assert "--fast" in str(why_left_out(groups["testbed"], fast=True, testbed=True))
