"""Clients that come and go: connect and close, connect, send and close without reading.

The daemon stays alive, answers meanwhile, and has as many descriptors and threads afterwards as it
had before.
"""

from __future__ import annotations

import random

from rig import processes
from rig.place import Place, RigError, wait_until
from rig.wire import Wire, request_line
from soak.outcome import Outcome, Progress, Say

REQUESTS = (
    request_line("system.ping"),
    request_line("jobs.list", {"limit": 10}),
    request_line("rpc.discover"),
    request_line("system.ping")[:-1],  # an unfinished line
    b"",
)
CALM_S = 30.0
LOOK_EVERY = 50


def run(count: int, seed: int, say: Say) -> Outcome:
    """Connect and close ``count`` times, every second time after sending something."""
    rng = random.Random(seed)
    progress = Progress(count, say)
    with Place() as place:
        pid = place.start()
        before = _held(place, pid)
        for n in range(count):
            with Wire(place.socket) as wire:
                if n % 2:
                    wire.sock.sendall(rng.choice(REQUESTS))
            if n % LOOK_EVERY == 0 and place.pid() != pid:
                return Outcome(f"{n} connections", ["another daemon answers"])
            progress.at(n)
        outcome = Outcome(f"{count} connections, {before[0]} descriptors before and after")
        try:
            wait_until("descriptors and threads as before", lambda: _calm(pid, before), CALM_S)
        except RigError:
            now = (processes.descriptors(pid), processes.threads(pid))
            outcome.problems.append(f"descriptors and threads were {before}, are {now}")
        if place.pid() != pid:
            outcome.problems.append("another daemon answers")
        return outcome


def _held(place: Place, pid: int) -> tuple[int, int]:
    """Descriptors and threads once every lane and pool has been used and is at rest again."""
    for _ in range(2):
        wires = [Wire(place.socket) for _ in range(8)]
        for wire in wires:
            wire.sock.sendall(REQUESTS[1] * 8)
        for wire in wires:
            for _ in range(8):
                wire.read_line()
            wire.sock.close()
    wait_until("one client less", lambda: _clients(place) == 1, CALM_S)
    wait_until("the end of the last client", lambda: not _sockets_of_clients(pid), CALM_S)
    return processes.descriptors(pid), processes.threads(pid)


def _clients(place: Place) -> int:
    with Wire(place.socket) as wire:
        return int(wire.call("system.status")["data"]["clients"])


def _sockets_of_clients(pid: int) -> bool:
    return processes.sockets(pid) > 1


def _calm(pid: int, before: tuple[int, int]) -> bool:
    return processes.descriptors(pid) <= before[0] and processes.threads(pid) <= before[1]
