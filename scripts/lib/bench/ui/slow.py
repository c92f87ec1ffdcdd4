"""The UI at the end of a slow link: what a key takes to be seen, and whether anything piles up.

The link carries 5 kB a second. Once it keeps nothing but what the system's pseudo-terminal does,
and once 256 kB more, as an SSH connection may: then the program does not notice that the link is
slow, unless it asks the terminal.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Final

from bench.measure import US_PER_S, Ledger, Target, quantile
from bench.ui.events import newest, relabelling, report_of, show_labels
from bench.ui.session import SIZE, cursor, is_live, list_rows, opened, the_cursor
from rig import processes
from rig.place import Place
from rig.terminal import Link, Terminal, client_command

BYTES_PER_S: Final = 5_000
SHORT: Final = {"5 kB/s": Link(BYTES_PER_S)}
LINKS: Final = SHORT | {"5 kB/s behind 256 kB": Link(BYTES_PER_S, 256 * 1024)}
SEEN: Final = 50
"""All rows of the window, and some more: each is another one many times a second."""
MOVES: Final = 6
TYPED: Final = 40
TYPED_PER_S: Final = 20
LONGEST_S: Final = 15.0
PRESS_EVERY_S: Final = 1.0
PATIENCE_S: Final = 120.0


def measure(
    ledger: Ledger, place: Place, jobs: int, seconds: float, links: Mapping[str, Link]
) -> list[Target]:
    """Type over each of the links, with nothing else happening and under events."""
    found: list[Target] = []
    show_labels(place)
    for name, link in links.items():
        found.append(_start(place, name, link))
        with opened(place, jobs) as terminal:
            terminal.use(link)
            found += _moves(ledger, terminal, name)
            found += _burst(terminal, name)
            found += _events(ledger, place, terminal, jobs, (name, seconds))
            terminal.use(None)
            terminal.leave()
    found += _unread(place, jobs, seconds)
    return found


def _start(place: Place, name: str, link: Link) -> Target:
    """The UI started over the link."""
    with Terminal(client_command(), place.env, SIZE) as terminal:
        terminal.use(link)
        at = terminal.wait_for("live rows", is_live, PATIENCE_S)
        started_s = at - terminal.spawned_at
        terminal.use(None)
        terminal.leave()
    return Target(f"ui: {name}, exec to live rows, s", 4, started_s, provisional=True)


def _moves(ledger: Ledger, terminal: Terminal, name: str) -> list[Target]:
    """Single keys, each when the link has become quiet."""
    times, sizes = [], []
    for _ in range(MOVES):
        before, wanted = terminal.n_bytes, the_cursor(terminal.screen) - 1
        at = terminal.send(b"j")
        times.append((_wait_cursor(terminal, wanted) - at) * US_PER_S)
        terminal.settle(patience_s=PATIENCE_S)
        sizes.append(terminal.n_bytes - before)
    row = f"ui: {name}, key to screen, single moves"
    ledger.add(row, times)
    return [
        Target(f"{row}, p95, ms", 1000, quantile(times, 0.95) / 1000, provisional=True),
        Target(f"ui: {name}, bytes of a move with its detail", None, quantile(sizes, 0.5)),
    ]


def _burst(terminal: Terminal, name: str) -> list[Target]:
    """Keys faster than the link carries their frames: all count, few are drawn."""
    frames, n_bytes = len(terminal.frames), terminal.n_bytes
    wanted = the_cursor(terminal.screen) - TYPED
    begin, most = time.perf_counter(), 0
    for n in range(TYPED):
        while time.perf_counter() < begin + n / TYPED_PER_S:
            terminal.read(begin + n / TYPED_PER_S)
        last_at = terminal.send(b"j")
        most = max(most, terminal.under_way)
    seen_at = _wait_cursor(terminal, wanted)
    terminal.settle(patience_s=PATIENCE_S)
    words = f"ui: {name}, {TYPED} moves at {TYPED_PER_S} a second"
    return [
        Target(f"{words}, last key to screen, s", 2, seen_at - last_at, provisional=True),
        Target(f"{words}, frames", TYPED, len(terminal.frames) - frames, provisional=True),
        Target(f"{words}, kB in all", None, (terminal.n_bytes - n_bytes) / 1000),
        Target(f"{words}, kB under way at most", None, most / 1000),
    ]


def _events(
    ledger: Ledger, place: Place, terminal: Terminal, jobs: int, how: tuple[str, float]
) -> list[Target]:
    """Keys while the list changes all the time."""
    name, seconds = how
    frames, n_bytes = len(terminal.frames), terminal.n_bytes
    times, most = [], 0
    begin = time.perf_counter()
    with relabelling(place, newest(jobs, SEEN), seconds) as child:
        while child.poll() is None:
            wanted = the_cursor(terminal.screen) - 1
            at = terminal.send(b"j")
            times.append((_wait_cursor(terminal, wanted) - at) * US_PER_S)
            most = max(most, terminal.under_way)
            terminal.watch(PRESS_EVERY_S)
        report = report_of(child)
    labels = report.labels
    seen_at = terminal.wait_for(
        "the last changes",
        lambda screen: all(labels[j] in row for j, row in list_rows(screen).items() if j in labels),
        PATIENCE_S,
    )
    took_s = seen_at - begin
    drawn = len(terminal.frames) - frames
    sent = terminal.n_bytes - n_bytes
    terminal.settle(patience_s=PATIENCE_S)
    row = f"ui: {name}, key to screen, under 1,000 events a second"
    ledger.add(row, times)
    words = f"ui: {name}, 1,000 events a second"
    return [
        Target(f"{row}, p50, s", 2, quantile(times, 0.5) / US_PER_S, provisional=True),
        Target(
            f"{words}, last change to screen, s", 2, seen_at - report.ended_at, provisional=True
        ),
        Target(f"{words}, frames a second", None, drawn / took_s),
        Target(f"{words}, bytes of a frame", None, sent / max(drawn, 1)),
        Target(f"{words}, kB under way at most", None, most / 1000),
    ]


def _unread(place: Place, jobs: int, seconds: float) -> list[Target]:
    """A terminal that reads nothing for a while, as after Ctrl-S; then it reads again."""
    with opened(place, jobs) as terminal:
        before = processes.resident_bytes(terminal.pid)
        with relabelling(place, newest(jobs, SEEN), seconds) as child:
            child.wait(seconds + PATIENCE_S)
            report = report_of(child)
        after = processes.resident_bytes(terminal.pid)
        frames, begin = len(terminal.frames), time.perf_counter()
        labels = report.labels
        seen_at = terminal.wait_for(
            "the last changes",
            lambda screen: all(labels[j] in r for j, r in list_rows(screen).items() if j in labels),
        )
        drawn = len(terminal.frames) - frames
        terminal.leave()
    words = f"ui: terminal not read for {seconds:g} s, {report.events:,} events"
    return [
        Target(f"{words}, growth, MB", 16, (after - before) / 1e6, provisional=True),
        Target(f"{words}, then up to date after, ms", None, (seen_at - begin) * 1000),
        Target(f"{words}, frames until then", None, drawn),
    ]


def _wait_cursor(terminal: Terminal, job: int) -> float:
    return terminal.wait_for(f"job {job}", lambda screen: cursor(screen) == job, PATIENCE_S)
