"""Latency of single calls over the socket, alone and under load, against a bare echo.

Client, daemon and echo share one core. On two, every row pays at random for waking a sleeping core
(some 60 µs here, five times a bare echo), and a ratio says which core slept, not what a call costs.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from bench.fleet import WITH_FILES, codecs, daemon, echo, filled_database, listing, loaded
from bench.measure import Ledger, Target, round_trips
from rig.place import Place
from rig.wire import Wire, request_line

ECHO = b"x" * 63 + b"\n"
PING = request_line("system.ping")
GET = request_line("jobs.get", {"id": WITH_FILES})
ECHOES, PINGS, GETS, PINGS_UNDER_LOAD = 3_000, 2_000, 200, 400
SETTLE_S = 0.3


def run(ledger: Ledger, rounds: int) -> list[Target]:
    """Measure; returns the targets."""
    with ExitStack() as stack:
        stack.enter_context(one_core())
        database = stack.enter_context(filled_database())
        raw = stack.enter_context(echo())
        quiet = {c: stack.enter_context(daemon(c, database)) for c in codecs()}
        busy = {c: stack.enter_context(daemon(c, database, load="computes")) for c in codecs()}
        for _ in range(rounds):
            base_us = ledger.add("raw 64-byte echo", round_trips(raw, ECHO, ECHOES))
            for codec in codecs():
                _quiet_round(ledger, codec, quiet[codec], base_us)
                _busy_round(ledger, codec, busy[codec], base_us)
    return [target for codec in codecs() for target in _targets(ledger, codec)]


@contextmanager
def one_core() -> Iterator[None]:
    """Keep this process, and what it starts, on one core, where the system allows that."""
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(before)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def _quiet_round(ledger: Ledger, codec: str, place: Place, base_us: float) -> None:
    with Wire(place.socket) as wire:
        ledger.add(f"system.ping [{codec}]", round_trips(wire.sock, PING, PINGS), base_us)
        ledger.add(f"jobs.get [{codec}]", round_trips(wire.sock, GET, GETS), base_us)
        with Wire(place.socket) as idle:
            idle.call("system.hello")
            samples = round_trips(wire.sock, PING, PINGS)
            ledger.add(f"system.ping, idle second client [{codec}]", samples, base_us)


def _busy_round(ledger: Ledger, codec: str, place: Place, base_us: float) -> None:
    with Wire(place.socket) as wire, loaded(place), listing(place):
        _let_settle(wire)
        samples = round_trips(wire.sock, PING, PINGS_UNDER_LOAD)
        ledger.add(f"system.ping under load [{codec}]", samples, base_us)


def _let_settle(wire: Wire) -> None:
    """Ping, without measuring, until the load has certainly begun."""
    until = time.monotonic() + SETTLE_S
    while time.monotonic() < until:
        wire.call("system.ping")


def _targets(ledger: Ledger, codec: str) -> list[Target]:
    fast = codec == "orjson"
    ping = ledger.row(f"system.ping [{codec}]")
    assert ping.ratio_p50 is not None
    assert ping.ratio_p99 is not None
    beside = f"system.ping, idle second client [{codec}]"
    get = ledger.row(f"jobs.get [{codec}]")
    assert get.ratio_p50 is not None
    loaded_ms = ledger.row(f"system.ping under load [{codec}]").p99_us / 1000
    return [
        Target(f"system.ping p50 / raw p50 [{codec}]", 3.5 if fast else 5, ping.ratio_p50),
        Target(f"system.ping p99 / raw p50 [{codec}]", 40, ping.ratio_p99),
        Target(
            f"system.ping with an idle second client / alone [{codec}]",
            2,
            ledger.ratio(beside, f"system.ping [{codec}]"),
        ),
        Target(f"system.ping p99 under load, ms [{codec}]", 5 if fast else 10, loaded_ms),
        # Four questions to the database and a look at the directory; 30 would be one question.
        Target(f"jobs.get p50 / raw p50 [{codec}]", 120, get.ratio_p50, provisional=True),
    ]
