"""The list keeps its rows in JSON: what it answers is what it would answer without keeping any."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from crystalmath.services import job_view
from crystalmath.services.job_rows import EncodedRows
from crystalmath.services.ports_store import Move, Query
from support.service_fakes import Bench


class Counting:
    """An encoder that counts what it was asked for."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self, value: Mapping[str, Any]) -> bytes:
        self.count += 1
        return json.dumps(value, separators=(",", ":")).encode()


def test_only_rows_that_have_changed_are_made_again(bench: Bench) -> None:
    ids = [bench.submit() for _ in range(5)]
    encode = Counting()
    rows = EncodedRows(bench.store, encode)

    def listed(now: float) -> list[dict[str, Any]]:
        query = Query(limit=3, now=now)
        page, found = rows.page(query)
        plain = bench.store.page(query)
        expected = [job_view.summary(row) for row in plain.rows]
        assert [json.loads(row) for row in found] == expected
        assert (page.rev, page.total, page.last) == (plain.rev, plain.total, plain.last)
        return expected

    assert [row["id"] for row in listed(bench.now)] == ids[:1:-1]
    assert encode.count == 3
    listed(bench.now)
    assert encode.count == 3

    name = 'so called ,"elapsed_s":7} "'
    changes = {"started_at": bench.now, "name": name}
    bench.store.move(Move(ids[-1], ("CREATED",), None, bench.now, changes=changes))
    assert listed(bench.now + 2.5)[0]["elapsed_s"] == 2.5
    assert listed(bench.now + 7.25)[0]["elapsed_s"] == 7.25
    assert encode.count == 4


def test_it_forgets_everything_before_it_keeps_too_much(bench: Bench) -> None:
    for _ in range(4):
        bench.submit()
    encode = Counting()
    rows = EncodedRows(bench.store, encode, most=3)
    for _ in range(3):
        _page, found = rows.page(Query(limit=4, now=bench.now))
        assert [json.loads(row)["id"] for row in found] == [4, 3, 2, 1]
    assert len(rows._rows) <= 4, "a page may be more than that"
    assert encode.count >= 4
