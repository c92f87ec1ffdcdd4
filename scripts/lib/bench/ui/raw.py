"""What the machine itself takes at the moment: the measure of the times of the UI.

A key through a pseudo-terminal to ``cat`` and back, with the pauses that the UI gets, and the start
of a program that writes one line. On a busy machine these grow as much as those of the UI do.
"""

from __future__ import annotations

import time
from typing import Final

from bench.measure import US_PER_S, Ledger, undisturbed
from rig.place import Place
from rig.terminal import Terminal, client_command

ECHOES: Final = 20
PAUSE_S: Final = 0.06
STARTS: Final = 4
ECHO: Final = "raw echo of cat, in a pseudo-terminal"
START: Final = "exec to output, crystalmath --version"
_CAT: Final = ["/bin/sh", "-c", "stty raw -echo && echo ready && exec cat"]


def measure(ledger: Ledger, place: Place) -> tuple[float, float]:
    """One round; returns the medians of echo and start, in µs."""
    return ledger.add(ECHO, _echoes(place)), ledger.add(START, _starts(place))


def _echoes(place: Place) -> list[float]:
    found = []
    with Terminal(_CAT, place.env) as terminal:
        terminal.wait_for("cat", lambda screen: "ready" in screen.line(0))
        terminal.settle(PAUSE_S)
        for _ in range(ECHOES):
            time.sleep(PAUSE_S)
            with undisturbed():
                at = terminal.send(b"j\r")
                terminal.read(at + 10.0)
                found.append((terminal.last_at - at) * US_PER_S)
    return found


def _starts(place: Place) -> list[float]:
    found = []
    for _ in range(STARTS):
        with Terminal([*client_command(), "--version"], place.env) as terminal:
            terminal.read(terminal.spawned_at + 10.0)
            found.append((terminal.last_at - terminal.spawned_at) * US_PER_S)
    return found
