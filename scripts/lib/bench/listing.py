"""``jobs.list`` out of 10,000 jobs: pages, the unchanged answer, everything."""

from __future__ import annotations

import json
import re
import sqlite3
from contextlib import ExitStack, closing
from pathlib import Path

from bench.fleet import JOBS, codecs, daemon, echo, filled_database
from bench.measure import Ledger, Target, exchange, round_trips, timed
from rig.place import Place
from rig.wire import Wire, request_line

ECHO = b"x" * 63 + b"\n"
BIG_PAGE = 1_000
COLUMNS = (
    "id, uuid, name, code, task, state, reason, scheduler_id, scheduler_state, scheduler_reason, "
    "science_status, energy_ev, energy_per_atom_ev, converged, formula, n_atoms, runner, cluster, "
    "progress_fraction, progress_text, attention, created_at, started_at, finished_at, walltime_s, "
    "tags_json, rev"
)
_PAGE = b'{"jsonrpc":"2.0","id":1,"method":"jobs.list","params":{"limit":1000,"after":%s}}\n'
_NEXT = re.compile(rb'"next": ?("[^"]+")')
META_BYTES = 300
"""The end of a reply, where its ``meta`` is."""
ECHOES, PAGES, BIG_PAGES, UNCHANGED, WHOLES = 2_000, 60, 15, 200, 2
IN_PROCESS = "sqlite3 fetch + json.dumps, 1,000 rows, in process"


def run(ledger: Ledger, rounds: int) -> list[Target]:
    """Measure; returns the targets."""
    with ExitStack() as stack:
        database = stack.enter_context(filled_database())
        raw = stack.enter_context(echo())
        quiet = {c: stack.enter_context(daemon(c, database)) for c in codecs()}
        for _ in range(rounds):
            base_us = ledger.add("raw 64-byte echo", round_trips(raw, ECHO, ECHOES))
            ledger.add(IN_PROCESS, _in_process(database), base_us)
            for codec in codecs():
                _round(ledger, codec, quiet[codec], base_us)
    return [target for codec in codecs() for target in _targets(ledger, codec)]


def _in_process(database: Path) -> list[float]:
    """What the same rows cost without a daemon: query, rows as objects, JSON text."""
    query = f"SELECT {COLUMNS} FROM jobs ORDER BY id DESC LIMIT {BIG_PAGE}"

    with closing(sqlite3.connect(database)) as connection:
        connection.row_factory = sqlite3.Row

        def fetch() -> str:
            return json.dumps([dict(row) for row in connection.execute(query)])

        fetch()
        return timed(fetch, BIG_PAGES)


def _round(ledger: Ledger, codec: str, place: Place, base_us: float) -> None:
    with Wire(place.socket) as wire:
        rev = wire.call("jobs.list", {"limit": 1})["meta"]["rev"]
        for name, params, count in (
            ("200", {}, PAGES),
            ("1,000", {"limit": BIG_PAGE}, BIG_PAGES),
            ("unchanged", {"if_rev": rev}, UNCHANGED),
        ):
            samples = round_trips(wire.sock, request_line("jobs.list", params), count)
            ledger.add(f"jobs.list, {name} [{codec}]", samples, base_us)
        ledger.add(f"jobs.list, 10,000 in pages [{codec}]", _wholes(wire), base_us)


def _wholes(wire: Wire) -> list[float]:
    """Time listing everything; the pages are searched for their cursor and not read otherwise."""

    def whole() -> None:
        pages.clear()
        after: bytes | None = b"null"
        while after is not None:
            request = _PAGE % after
            pages.append(exchange(wire.sock, request))
            found = _NEXT.findall(pages[-1][-META_BYTES:])
            after = found[0] if found else None

    pages: list[bytes] = []
    samples = timed(whole, WHOLES)
    rows = sum(len(json.loads(page)["result"]["data"]) for page in pages)
    if rows != JOBS:
        raise RuntimeError(f"{rows} rows came in pages instead of {JOBS}")
    return samples


def _targets(ledger: Ledger, codec: str) -> list[Target]:
    big, whole = f"jobs.list, 1,000 [{codec}]", f"jobs.list, 10,000 in pages [{codec}]"
    return [
        Target(
            f"jobs.list of 200, p95, ms [{codec}]",
            10,
            ledger.row(f"jobs.list, 200 [{codec}]").p95_us / 1000,
        ),
        Target(
            f"jobs.list unchanged, p95, ms [{codec}]",
            1,
            ledger.row(f"jobs.list, unchanged [{codec}]").p95_us / 1000,
        ),
        Target(f"jobs.list of 10,000 in pages, p50, ms [{codec}]", 150,
               ledger.row(whole).p50_us / 1000),
        Target(f"10,000 in pages / one page of 1,000 [{codec}]", 12,
               ledger.ratio(whole, big), provisional=True),
        Target(f"jobs.list of 1,000 / sqlite3 + json.dumps in process [{codec}]", 2.5,
               ledger.ratio(big, IN_PROCESS), provisional=True),
    ]  # fmt: skip
