"""Paging through a log of a gigabyte: how long a page takes, and how much memory is needed."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Final

from bench.measure import US_PER_S, Ledger, Target
from bench.ui.idle import LIMIT_MB, MB
from bench.ui.keys import LIMIT_MS, PAGE_DOWN, PAGE_UP
from bench.ui.session import cursor, opened
from rig import processes
from rig.filled import make_directory
from rig.place import Place
from rig.screen import Screen
from rig.terminal import Terminal

LOG_BYTES: Final = 1_000_000_000
LINE_BYTES: Final = 2_000
LINES_AT_ONCE: Final = 500
MOST_PAGES: Final = 300
PAGE: Final = "ui: key to frame, a page of a log"
PAUSE_S: Final = 0.04
"""Between two pages: no more frames than may be drawn over a longer time."""
_LINE: Final = re.compile(r"\bline (\d{7}) ")


def write(path: Path, lines: int) -> None:
    """Write the log: long lines that begin with their number."""
    rest = "·".join(["scf step energy force stress"] * 80).encode()
    tail = rest[: LINE_BYTES - len("line 0000000 \n")].decode(errors="ignore").encode()
    tail += b"." * (LINE_BYTES - len("line 0000000 \n") - len(tail)) + b"\n"
    with path.open("wb") as file:
        for first in range(0, lines, LINES_AT_ONCE):
            numbers = range(first, min(lines, first + LINES_AT_ONCE))
            file.write(b"".join(b"line %07d %b" % (number, tail) for number in numbers))


def measure(ledger: Ledger, place: Place, jobs: int, share: float) -> list[Target]:
    """Page back from the end of the log and on from its start.

    Parameters
    ----------
    share
        How much of a gigabyte the log has, and of the pages.
    """
    lines, pages = int(share * LOG_BYTES) // LINE_BYTES, max(20, int(share * MOST_PAGES))
    directory = make_directory(place.data_dir, jobs)
    write(directory / "stdout.log", lines)
    with opened(place, jobs) as terminal:
        terminal.wait_for("the cursor", lambda screen: cursor(screen) == jobs)
        go(terminal, b"L", "the end of the log", lambda seen: lines - 1 in seen)
        samples = page(terminal, PAGE_UP, pages, -1)
        go(terminal, b"g", "the start of the log", lambda seen: 0 in seen)
        samples += page(terminal, PAGE_DOWN, pages, 1)
        go(terminal, b"G", "the end of the log", lambda seen: lines - 1 in seen)
        ledger.add(PAGE, [s * US_PER_S for s in samples])
        resident = processes.resident_bytes(terminal.pid)
        peak = processes.peak_bytes(terminal.pid)
        terminal.leave()
    (directory / "stdout.log").unlink()
    words = f"ui: {2 * pages} pages of a log of {lines * LINE_BYTES / MB:,.0f} MB"
    return [
        Target(f"{PAGE}, p95, ms", LIMIT_MS, ledger.row(PAGE).p95_us / 1000, provisional=True),
        Target(f"{words}, resident, MB", LIMIT_MB, resident / MB, provisional=True),
        Target(f"{words}, resident at most, MB", LIMIT_MB, peak / MB, provisional=True),
    ]


def go(terminal: Terminal, key: bytes, what: str, shown: Callable[[list[int]], bool]) -> None:
    """Type a key and wait for what is to be seen then."""
    terminal.send(key)
    terminal.wait_for(what, lambda screen: shown(lines_of(screen)))
    terminal.settle()


def page(terminal: Terminal, key: bytes, pages: int, way: int) -> list[float]:
    """Type a key again and again; returns the seconds until each next page was seen.

    The next page begins no further than a page away: no line is passed over. A frame that has
    arrived in part, the one page above and the other below, is no page.
    """
    samples = []
    for _ in range(pages):
        terminal.watch(PAUSE_S)
        before = lines_of(terminal.screen)
        at = terminal.send(key)

        def is_next(screen: Screen, before: list[int] = before) -> bool:
            return is_next_page(before, lines_of(screen), way)

        samples.append(terminal.wait_for("the next page", is_next) - at)
    return samples


def is_next_page(before: list[int], lines: list[int], way: int) -> bool:
    """Whether all of a page is seen, further on than what was seen before, with no gap to it."""
    whole = len(lines) == len(before) and lines == list(range(lines[0], lines[0] + len(lines)))
    if not whole or (lines[0] - before[0]) * way <= 0:
        return False
    wanted = before[-1] if way > 0 else before[0]
    return lines[0] <= wanted + 1 and lines[-1] >= wanted - 1


def lines_of(screen: Screen) -> list[int]:
    """Numbers of the lines that are seen."""
    return [
        int(found[1]) for row in range(screen.rows) if (found := _LINE.search(screen.line(row)))
    ]
