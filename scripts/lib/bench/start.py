"""How quickly the daemon is there, what its imports cost, and how much memory it needs at rest."""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

from bench.fleet import filled_database
from bench.measure import US_PER_S, Ledger, Target, timed
from rig import processes
from rig.place import Place, RigError
from rig.wire import Wire

BARE = "bare interpreter"
LEAN = "import crystalmath.server.daemon"
WHOLE = "import crystalmath.server.daemon, crystalmath.api"
HELLO, READY = "start, spawn to hello", "start, spawn to ready"
FIRST_HELLO, FIRST_READY = "first start, spawn to hello", "first start, spawn to ready"
STARTS_PER_ROUND = 2
MB = 1e6


def run(ledger: Ledger, rounds: int) -> list[Target]:
    """Measure; returns the targets."""
    resident: list[float] = []
    with filled_database() as database:
        for _ in range(rounds):
            base_us = ledger.add(BARE, _interpreter("pass", 5))
            ledger.add(LEAN, _interpreter(LEAN, 2), base_us)
            ledger.add(WHOLE, _interpreter(WHOLE, 2), base_us)
            _starts(ledger, base_us, None, FIRST_HELLO, FIRST_READY)
            resident += _starts(ledger, base_us, database, HELLO, READY)
    return _targets(ledger, resident)


def _interpreter(code: str, count: int) -> list[float]:
    command = [sys.executable, "-c", code]
    return timed(lambda: subprocess.run(command, check=True, stdin=subprocess.DEVNULL), count)


def _starts(
    ledger: Ledger, base_us: float, database: Path | None, hello: str, ready: str
) -> list[float]:
    """Start the daemon a few times; returns its resident bytes at rest after having listed all."""
    hellos, readies, resident = [], [], []
    for _ in range(STARTS_PER_ROUND):
        with Place() as place:
            if database is not None:
                shutil.copyfile(database, place.database)
            hello_us, ready_us = _start(place)
            hellos.append(hello_us)
            readies.append(ready_us)
            resident.append(_resident_after_lists(place))
            place.stop()
    ledger.add(hello, hellos, base_us)
    ledger.add(ready, readies, base_us)
    return resident


def _start(place: Place) -> tuple[float, float]:
    """Time from the spawn of ``crystalmath-server start`` to hello and to its end, in µs."""
    begin = time.perf_counter()
    starter = subprocess.Popen(
        [place.env["CRYSTALMATH_SERVER"], "start"], env=place.env, stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        while place.hello() is None:
            if time.perf_counter() - begin > place.patience_s:
                raise RigError(f"no daemon answers{place.log_tail()}")
            time.sleep(0.001)
        hello_s = time.perf_counter() - begin
        code = starter.wait(place.patience_s)
        ready_s = time.perf_counter() - begin
    finally:
        with suppress(ProcessLookupError):
            starter.kill()
        starter.wait()
    if code != 0:
        raise RigError(f"start ended with {code}{place.log_tail()}")
    return hello_s * US_PER_S, ready_s * US_PER_S


def _resident_after_lists(place: Place) -> float:
    """Resident bytes when nobody is connected any more, after a client has read every page."""
    with Wire(place.socket) as wire:
        pid = int(wire.call("system.hello")["data"]["pid"])
        after = None
        while True:
            page = wire.call("jobs.list", {"limit": 1000, "after": after})
            after = page["meta"]["next"]
            if after is None:
                break
    return processes.resident_bytes(pid)


def _targets(ledger: Ledger, resident: list[float]) -> list[Target]:
    whole, ready, first = ledger.row(WHOLE), ledger.row(READY), ledger.row(FIRST_READY)
    assert whole.ratio_p50 is not None
    assert ready.ratio_p50 is not None
    slowest_hello_us = max(ledger.row(name).p50_us for name in (HELLO, FIRST_HELLO))
    slowest_ready_us = max(ready.p99_us, first.p99_us)
    return [
        Target("spawn to hello, p50, s", 0.5, slowest_hello_us / US_PER_S),
        Target("spawn to ready, slowest, s", 5, slowest_ready_us / US_PER_S),
        Target("spawn to ready / bare interpreter", 100, ready.ratio_p50, provisional=True),
        Target("imports of the daemon / bare interpreter", 35, whole.ratio_p50, provisional=True),
        Target("resident at rest with 10,000 jobs, MB", 90, max(resident) / MB),
    ]
