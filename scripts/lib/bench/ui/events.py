"""A UI beside a daemon that tells it of a thousand changes a second.

Every change is a real one: the newest thousand jobs are relabelled in turn, and the daemon tells
what it has committed. The labels are a column of the list, so what arrived is what the screen
shows: at the end every one of these rows is looked at, and has to be as the last change made it.
"""

from __future__ import annotations

import json
import subprocess
import sys
from bisect import bisect_left
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bench.measure import US_PER_S, Ledger, Target
from bench.ui.keys import BETWEEN_S, PAGE_DOWN, press
from bench.ui.session import cursor, list_rows, opened, the_cursor
from rig import processes, telling
from rig.place import Place, RigError
from rig.screen import Screen
from rig.terminal import Frame, Terminal

PER_S: Final = 1000
CHANGED: Final = 1000
LONGEST_S: Final = 20.0
DRAWS_LIMIT: Final = 30
EMPTY_FRAME_BYTES: Final = 48
"""What surrounds a frame is about as long."""
KEY_LIMIT_MS: Final = 46
KEY_EVERY_S: Final = 0.4
KEY: Final = f"ui: key to frame, move (j), under {PER_S:,} events a second"
COLUMNS: Final = '[jobs]\ncolumns = ["id", "state", "tags"]\n'
_RELABEL: Final = Path(__file__).with_name("relabel.py")


def show_labels(place: Place) -> None:
    """Let the UI of a place list the labels."""
    path = place.root / ".config/crystalmath/ui.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(COLUMNS, encoding="utf-8")


@dataclass(frozen=True, slots=True)
class Report:
    """What the process that relabels says at its end."""

    events: int
    began_at: float
    ended_at: float
    labels: dict[int, str]


def newest(jobs: int, count: int) -> range:
    """The numbers of so many jobs, the newest last."""
    return range(jobs - count + 1, jobs + 1)


@contextmanager
def relabelling(place: Place, jobs: range, seconds: float) -> Iterator[subprocess.Popen[str]]:
    """Let a process relabel these jobs in turn."""
    numbers = (jobs.start, jobs.stop - 1, PER_S, seconds)
    command = [sys.executable, str(_RELABEL), str(telling.path_in(place.root)), *map(str, numbers)]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        yield child
    finally:
        child.kill()
        child.wait()


def report_of(child: subprocess.Popen[str]) -> Report:
    """Wait for the process that relabels; returns what it says."""
    text = child.communicate()[0]
    if child.returncode != 0:
        raise RigError(f"the process that relabels ended with {child.returncode}")
    said = json.loads(text)
    said["labels"] = {int(job): label for job, label in said["labels"].items()}
    return Report(**said)


def measure(ledger: Ledger, place: Place, jobs: int, seconds: float) -> list[Target]:
    """Let events pour in for a while; returns what was found."""
    show_labels(place)
    daemon = place.pid()
    with opened(place, jobs) as terminal:
        pids = (terminal.pid, daemon)
        before_s = [processes.cpu_s(pid) for pid in pids]
        first, n_bytes = len(terminal.frames), terminal.n_bytes
        with relabelling(place, newest(jobs, CHANGED), seconds) as child:
            ledger.add(KEY, [s * US_PER_S for s in _keys(terminal, child)])
            report = report_of(child)
        spent_s = [processes.cpu_s(pid) - s for pid, s in zip(pids, before_s, strict=True)]
        took_s = report.ended_at - report.began_at
        bytes_per_s = (terminal.n_bytes - n_bytes) / took_s
        lag_s = _shown_after(terminal, report.labels) - report.ended_at
        frames = terminal.frames[first:]
        terminal.settle()
        wrong = wrongly_shown(terminal, report.labels)
        terminal.leave()
    empty = sum(frame.n_bytes <= EMPTY_FRAME_BYTES for frame in frames)
    words = f"ui: {PER_S:,} events a second"
    return [
        Target(f"{words}, told", None, report.events / took_s),
        Target(f"{words}, jobs not shown as last told", 0, wrong),
        Target(f"{words}, draws a second", DRAWS_LIMIT, len(frames) / took_s),
        Target(
            f"{words}, draws seen in any second",
            DRAWS_LIMIT,
            most_in_a_second(frames),
            provisional=True,
        ),
        Target(f"{words}, draws that changed nothing, %", None, empty * 100 / len(frames)),
        Target(f"{words}, last change to screen, ms", None, lag_s * 1000),
        Target(f"{words}, kB a second to the terminal", None, bytes_per_s / 1000),
        Target(f"{words}, UI, % of a core", None, spent_s[0] / took_s * 100),
        Target(f"{words}, daemon, % of a core", None, spent_s[1] / took_s * 100),
        Target(f"{KEY}, p95, ms", KEY_LIMIT_MS, ledger.row(KEY).p95_us / 1000, provisional=True),
    ]


def most_in_a_second(frames: list[Frame]) -> int:
    """The largest number of frames within any second.

    When they were seen, not when they were drawn: on a busy machine some come late, and together.
    """
    times = [frame.at for frame in frames]
    return max((bisect_left(times, at + 1.0) - i for i, at in enumerate(times)), default=0)


def wrongly_shown(terminal: Terminal, labels: dict[int, str]) -> int:
    """Page through the rows of these jobs; returns how many do not show their label."""
    press(terminal, b"g", "the first row", lambda screen: cursor(screen) == max(list_rows(screen)))
    seen = list_rows(terminal.screen)
    while min(seen) > min(labels):
        terminal.watch(BETWEEN_S)
        press(terminal, PAGE_DOWN, "the next page", _further_than(min(seen)))
        seen |= list_rows(terminal.screen)
    return sum(label not in seen.get(job, "") for job, label in labels.items())


def _further_than(job: int) -> Callable[[Screen], bool]:
    return lambda screen: the_cursor(screen) < job


def _keys(terminal: Terminal, child: subprocess.Popen[str]) -> list[float]:
    """Press ``j`` now and then until the child has ended."""
    found = []
    while child.poll() is None:
        terminal.watch(KEY_EVERY_S)
        if child.poll() is None:
            further = _further_than(the_cursor(terminal.screen))
            found.append(press(terminal, b"j", "the next row", further))
    return found


def _shown_after(terminal: Terminal, labels: dict[int, str]) -> float:
    """When the newest job, which is changed last, was shown as it is."""
    newest = max(labels)
    return terminal.wait_for(
        f"{labels[newest]} at job {newest}",
        lambda screen: labels[newest] in list_rows(screen).get(newest, labels[newest]),
    )
