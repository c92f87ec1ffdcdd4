"""From a key to the frame that shows what it did, in a list of 10,000 jobs.

Single keys come more than a tenth of a second apart, as from fingers; a key that is held comes as
often as terminals repeat it. Each effect is looked for on the screen: the frame that counts is the
one that shows it, whatever else was drawn before. The processor time of a key is that of everything
it causes, and hardly depends on what else the machine does.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

from bench.measure import US_PER_S, Ledger, Target, undisturbed
from bench.ui.session import FIRST_ROW, cursor, is_live, job_of, opened, the_cursor
from rig import processes
from rig.place import Place
from rig.screen import Screen
from rig.terminal import Terminal

BETWEEN_S: Final = 0.08
AFTER_S: Final = 0.05
"""Until what a key asked of the daemon has come and is drawn."""
HELD_PER_S: Final = 30.0
HELD_KEYS: Final = 45
LIMIT_MS: Final = 8.0
HELD_LIMIT_MS: Final = 1000 / 26 + LIMIT_MS
"""At most 30 frames a second are drawn, over any longer time 26."""
PAGE_DOWN, PAGE_UP, ENTER, ESCAPE = b"\x1b[6~", b"\x1b[5~", b"\r", b"\x1b"
KINDS: Final = (
    "move (j, k)", "page (PgDn, PgUp)", "ends (G, g)", "sort (s, S)",
    "filter, a letter", "open a job (Enter)", "back (Esc)",
)  # fmt: skip
HELD: Final = f"ui: key to frame, j held, {HELD_PER_S:g} a second"
Shown = Callable[[Screen], bool]


def measure(ledger: Ledger, place: Place, jobs: int, base_us: float) -> None:
    """Type every kind of key a few times, in a UI of its own; ratios are over a bare echo."""
    with opened(place, jobs) as terminal:
        found: dict[str, list[float]] = {kind: [] for kind in KINDS}
        spent: dict[str, list[float]] = {kind: [] for kind in KINDS}
        for kind, key, shown in _script(terminal, jobs):
            terminal.watch(BETWEEN_S)
            before_s = processes.cpu_s(terminal.pid)
            found[kind].append(press(terminal, key, f"{kind} {key!r}", shown) * US_PER_S)
            terminal.watch(AFTER_S)
            spent[kind].append((processes.cpu_s(terminal.pid) - before_s) * US_PER_S)
        for kind in KINDS:
            ledger.add(_row(kind), found[kind], base_us)
            ledger.add(f"ui: processor time of a key, {kind}", spent[kind])
        ledger.add(HELD, [latency * US_PER_S for latency in hold(terminal)], base_us)
        terminal.leave()


def _row(kind: str) -> str:
    return f"ui: key to frame, {kind}"


def press(terminal: Terminal, key: bytes, what: str, shown: Shown) -> float:
    """Type a key; returns the seconds until its effect was seen."""
    with undisturbed():
        at = terminal.send(key)
        return terminal.wait_for(what, shown) - at


def hold(terminal: Terminal) -> list[float]:
    """Hold ``j``; returns for each the seconds until the cursor was at least as far."""
    start = the_cursor(terminal.screen)
    sent: list[float] = []
    latencies: list[float] = []
    begin = time.perf_counter()
    with undisturbed():
        while len(latencies) < HELD_KEYS:
            next_at = begin + len(sent) / HELD_PER_S
            if len(sent) < HELD_KEYS and time.perf_counter() >= next_at:
                sent.append(terminal.send(b"j"))
            until = next_at if len(sent) < HELD_KEYS else begin + 30.0
            if terminal.read(until) and (job := cursor(terminal.screen)) is not None:
                latencies += [terminal.last_at - at for at in sent[len(latencies) : start - job]]
            elif time.perf_counter() > begin + 30.0:
                raise RuntimeError(f"{HELD_KEYS - len(latencies)} keys had no effect")
    return latencies


def targets(ledger: Ledger) -> list[Target]:
    """The limits."""
    rows = {kind: ledger.row(_row(kind)) for kind in KINDS}
    held_ms = ledger.row(HELD).p95_us / 1000
    return [
        *(
            Target(f"{_row(kind)}, p95, ms", LIMIT_MS, row.p95_us / 1000)
            for kind, row in rows.items()
        ),
        Target(f"{HELD}, p95, ms", HELD_LIMIT_MS, held_ms, provisional=True),
    ]


def _script(terminal: Terminal, jobs: int) -> list[tuple[str, bytes, Shown]]:
    """Keys in order, with what the screen shows when each is done."""
    rows = terminal.screen.rows - FIRST_ROW - 2
    move, page, ends, sort, letter, go, back = KINDS
    steps: list[tuple[str, bytes, Shown]] = []
    steps += [(move, b"j", _at(jobs - n)) for n in range(1, 6)]
    steps += [(move, b"k", _at(jobs - n)) for n in (4, 3, 2, 1, 0)]
    steps += [(page, PAGE_DOWN, _at(jobs - n * rows)) for n in range(1, 5)]
    steps += [(page, PAGE_UP, _at(jobs - n * rows)) for n in (3, 2, 1, 0)]
    steps += [(ends, b"G", _at(1)), (ends, b"g", _at(jobs))] * 3
    steps += [(go, ENTER, _is_open), (back, ESCAPE, _is_list)] * 3
    steps += _filtered(letter, back, jobs)
    # The last, since the sorting stays: by the next column, and back and forth.
    steps += [(sort, b"s", _sorted("Name▲"))]
    steps += [(sort, b"S", _sorted(f"Name{mark}")) for mark in "▼▲▼▲"]
    return steps


def _filtered(letter: str, back: str, jobs: int) -> list[tuple[str, bytes, Shown]]:
    """Filters typed letter by letter; how many fit is in the title."""
    steps: list[tuple[str, bytes, Shown]] = []
    for text in ("copper", "relax 9", "777"):
        steps.append((letter, b"/", lambda screen: screen.line(2)[1:].startswith(" filter")))
        for n in range(1, len(text) + 1):
            typed = text[:n]
            steps.append((letter, typed[-1:].encode(), _titled(f"filter: {typed.rstrip()} ")))
        steps.append((back, ESCAPE, lambda screen: is_live(screen, jobs) and _is_list(screen)))
    return steps


def _at(job: int) -> Shown:
    return lambda screen: cursor(screen) == job


def _sorted(head: str) -> Shown:
    return lambda screen: head in screen.line(FIRST_ROW - 1)


def _titled(words: str) -> Shown:
    return lambda screen: words in screen.line(1).replace("─", " ")


def _is_open(screen: Screen) -> bool:
    """Whether the keys belong to the job: what opens one is no longer in the last row."""
    return "Enter open" not in screen.line(screen.rows - 1)


def _is_list(screen: Screen) -> bool:
    return not _is_open(screen) and job_of(screen, FIRST_ROW) is not None
