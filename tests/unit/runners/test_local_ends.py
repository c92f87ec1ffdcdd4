"""The end of a process that is not our child is told at once, against real processes."""

from __future__ import annotations

import os
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from crystalmath.runners.local import procfs
from crystalmath.runners.local.ends import Ends

HANG_S = 60.0
pytestmark = pytest.mark.skipif(
    not hasattr(os, "pidfd_open") or not procfs.available(), reason="needs pidfd_open of Linux"
)


class Told:
    def __init__(self) -> None:
        self.count = 0
        self.changed = threading.Condition()

    def __call__(self) -> None:
        with self.changed:
            self.count += 1
            self.changed.notify_all()

    def times(self, count: int) -> bool:
        with self.changed:
            return self.changed.wait_for(lambda: self.count >= count, HANG_S)


@pytest.fixture
def told() -> Told:
    return Told()


@pytest.fixture
def ends(told: Told) -> Iterator[Ends]:
    made = Ends(told)
    yield made
    made.close()
    assert not [thread for thread in threading.enumerate() if thread.name == "ends"]


@pytest.fixture
def sleeper() -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen(["sleep", "600"]) as process:
        yield process
        process.kill()


def open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def start_of(process: subprocess.Popen[bytes]) -> int:
    start = procfs.start_ticks(process.pid)
    assert start is not None
    return start


def test_an_end_is_told_once_however_often_it_was_asked_for(
    ends: Ends, told: Told, sleeper: subprocess.Popen[bytes]
) -> None:
    start = start_of(sleeper)
    for _ in range(3):
        ends.watch(sleeper.pid, start)
    assert told.count == 0
    sleeper.kill()
    assert told.times(1)
    sleeper.wait()
    ends.watch(sleeper.pid, start)  # gone: nothing to tell
    with subprocess.Popen(["sleep", "600"]) as other:
        ends.watch(other.pid, start_of(other))
        other.kill()
    assert told.times(2)
    assert told.count == 2


def test_another_process_of_that_number_is_not_watched(
    ends: Ends, told: Told, sleeper: subprocess.Popen[bytes]
) -> None:
    before = open_files()
    ends.watch(sleeper.pid, start_of(sleeper) - 1)
    assert open_files() == before
    assert told.count == 0


def test_nothing_is_left_open(told: Told, sleeper: subprocess.Popen[bytes]) -> None:
    before = open_files()
    ends = Ends(told)
    ends.watch(sleeper.pid, start_of(sleeper))
    ends.close()
    ends.close()
    assert open_files() == before
    assert told.count == 0
