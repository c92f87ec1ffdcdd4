"""How the daemon answers others while it reads an output of CRYSTAL of 100 MB.

The output is read by itself, taken in and judged as a job, and followed while a stand-in for the
program writes it.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from bench.measure import Ledger, Target, exchange
from bench.science.outputs import write_large
from rig.place import Place, RigError
from rig.wire import Wire, request_line

PING: Final = request_line("system.ping")
LIMIT_MS: Final = 10
LONG_S: Final = 300.0
PAUSE_S: Final = 0.002
LOOK_S: Final = 0.1
"""Between two looks at a job: what is measured are other calls."""
ALONE: Final = "system.ping, nothing else"
READ: Final = "system.ping, an output is read"
JUDGED: Final = "system.ping, an output is taken in and judged"
FOLLOWED: Final = "system.ping, an output is written and followed"
ALONE_S: Final = 2.0
DECK: Final = "MgO\nCRYSTAL\n0 0 0\n225\n4.21\n2\n12 0 0 0\n8 .5 .5 .5\nEND\n12 1\n99 0\nEND\nEND\n"


def run(ledger: Ledger, rounds: int) -> list[Target]:
    """Measure; returns the targets."""
    with Place({"CRYSTALMATH_START_TIMEOUT": "120"}) as place:
        output = place.root / "large.out"
        write_large(output)
        program = place.root / "crystalOMP"
        program.write_text(f"#!/bin/sh\ncat {output}\nsleep 3\n", encoding="ascii")
        program.chmod(0o755)
        place.start()
        until = time.monotonic() + ALONE_S
        ledger.add(ALONE, _pings(place, lambda: time.monotonic() < until))
        given = {"path": str(output)}
        for _ in range(min(rounds, 3)):
            ledger.add(READ, _beside(place, lambda: _call(place, "codes.read_output", given)))
            ledger.add(JUDGED, _beside(place, lambda: _take_in(place, output)))
            ledger.add(FOLLOWED, _beside(place, lambda: _run(place, program)))
    return [
        Target(f"{name}, p99, ms", LIMIT_MS, ledger.row(name).p99_us / 1000)
        for name in (READ, JUDGED, FOLLOWED)
    ]


def _beside(place: Place, work: Callable[[], None]) -> list[float]:
    """Ping until the work is done; in µs."""
    failed: list[BaseException] = []

    def guarded() -> None:
        try:
            work()
        except BaseException as error:  # noqa: BLE001 - told by the thread that measures
            failed.append(error)

    thread = threading.Thread(target=guarded, daemon=True)
    thread.start()
    samples = _pings(place, thread.is_alive)
    if failed:
        raise RigError(f"what was to be measured did not work: {failed[0]}")
    return samples


def _pings(place: Place, goes_on: Callable[[], bool]) -> list[float]:
    samples = []
    with Wire(place.socket) as wire:
        while goes_on():
            begin = time.perf_counter_ns()
            exchange(wire.sock, PING)
            samples.append((time.perf_counter_ns() - begin) / 1000.0)
            time.sleep(PAUSE_S)
    return samples


def _call(place: Place, method: str, params: dict[str, Any]) -> Any:
    with Wire(place.socket, LONG_S) as wire:
        return wire.call(method, params)["data"]


def _take_in(place: Place, output: Path) -> None:
    _ends(place, _call(place, "jobs.import_results", {"path": str(output)})["job"]["id"])


def _run(place: Place, program: Path) -> None:
    submitted = {
        "name": "large",
        "code": "crystal",
        "files": [{"path": "large.d12", "content": DECK}],
        "inputs": {"executable": str(program)},
        "context": {"CRY_SCRATCH_BASE": str(place.root)},
    }
    _ends(place, _call(place, "jobs.submit", submitted)["job"]["id"])


def _ends(place: Place, job: int) -> None:
    until = time.monotonic() + LONG_S
    while (state := _call(place, "jobs.get", {"id": job})["state"]) != "COMPLETED":
        if state == "FAILED" or time.monotonic() > until:
            raise RigError(f"job {job} is {state}")
        time.sleep(LOOK_S)
