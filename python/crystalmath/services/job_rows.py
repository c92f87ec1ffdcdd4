"""Rows of the list as the wire has them, kept by revision.

A list is asked for again and again while few of its jobs change, and making a row, from its columns
to its JSON, costs ten times what looking up its revision does. Used by ``jobs.list`` alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from crystalmath.services.job_view import elapsed_s, summary
from crystalmath.services.ports_store import Page, Query, Store

MOST_ROWS: Final = 20_000
"""Of about 700 bytes each; beyond, all are forgotten."""


class EncodedRows:
    """See the module docstring.

    Parameters
    ----------
    encode
        Makes compact JSON of a mapping.
    """

    def __init__(
        self, store: Store, encode: Callable[[Mapping[str, Any]], bytes], most: int = MOST_ROWS
    ) -> None:
        self._store = store
        self._encode = encode
        self._most = most
        self._rows: dict[int, tuple[int, bytes]] = {}

    def page(self, query: Query) -> tuple[Page, list[bytes]]:
        """One page of the list, and its rows in JSON."""
        kept = self._rows
        found: dict[int, bytes] = {}

        def is_known(job_id: int, rev: int) -> bool:
            row = kept.get(job_id)
            if row is None or row[0] != rev:
                return False
            found[job_id] = row[1]  # another call may replace it meanwhile
            return True

        page = self._store.page(query, is_known)
        new = {row["id"]: (row["rev"], self._begun(row)) for row in map(summary, page.rows)}
        if len(kept) + len(new) > self._most:
            self._rows = kept = {}
        kept.update(new)
        found |= {job_id: text for job_id, (_rev, text) in new.items()}
        return page, [_ended(found[brief[0]], *brief[2:], query.now) for brief in page.briefs]

    def _begun(self, row: Mapping[str, Any]) -> bytes:
        """A row without the member that changes while the job runs, and without its brace."""
        return self._encode({name: v for name, v in row.items() if name != "elapsed_s"})[:-1]


def _ended(begun: bytes, started_at: float | None, finished_at: float | None, now: float) -> bytes:
    seconds = elapsed_s(started_at, finished_at, now)
    return b'%b,"elapsed_s":%b}' % (begun, b"null" if seconds is None else b"%r" % seconds)
