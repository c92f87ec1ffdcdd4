"""Structures that providers on the network gave, kept for when there is no network.

Uses the connections and the writer's lock of ``JobStore``. Bounded: the oldest leave first.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final

from sqlalchemy import Connection, RowMapping, Table, delete, func, select
from sqlalchemy.dialects.sqlite import insert

from crystalmath.services.ports_materials import Answer, Entry, KeptAnswer, KeptEntry
from crystalmath.storage.moves import encode
from crystalmath.storage.store import JobStore
from crystalmath.storage.tables import found_materials, search_answers

MOST_ANSWERS: Final = 2_000
MOST_STRUCTURES: Final = 20_000
_KEYS_AT_ONCE: Final = 500


class SqliteSearchCache:
    """Implements ``services.ports_materials.SearchCache``."""

    def __init__(self, store: JobStore) -> None:
        self._store = store

    def keep(self, provider: str, question: str, answer: Answer, now: float) -> None:
        """See ``SearchCache.keep``."""
        values = {
            "provider": provider,
            "question": question,
            "keys_json": encode([entry["id"] for entry in answer.entries]),
            "more": int(answer.more),
            "retrieved_at": now,
        }
        with self._store.writing() as (connection, _):
            _keep_entries(connection, provider, answer.entries, now)
            statement = insert(search_answers).values(values)
            connection.execute(
                statement.on_conflict_do_update(
                    index_elements=["provider", "question"], set_=values
                )
            )
            _bound(connection, search_answers, MOST_ANSWERS)
            _bound(connection, found_materials, MOST_STRUCTURES)

    def answer(self, provider: str, question: str) -> KeptAnswer | None:
        """See ``SearchCache.answer``."""
        wanted = select(search_answers).where(
            search_answers.c.provider == provider, search_answers.c.question == question
        )
        with self._store.reading() as connection:
            row = connection.execute(wanted).mappings().first()
            if row is None:
                return None
            keys: list[str] = json.loads(row["keys_json"])
            known = _entries(connection, provider, keys)
        if not all(key in known for key in keys):
            return None  # one was dropped to bound the cache: the answer is no longer whole
        return KeptAnswer(tuple(known[key] for key in keys), bool(row["more"]), row["retrieved_at"])

    def keep_entry(self, provider: str, entry: Entry, now: float) -> None:
        """See ``SearchCache.keep_entry``."""
        with self._store.writing() as (connection, _):
            _keep_entries(connection, provider, [entry], now)

    def entry(self, provider: str, key: str) -> KeptEntry | None:
        """See ``SearchCache.entry``."""
        with self._store.reading() as connection:
            return _entries(connection, provider, [key]).get(key)


def _keep_entries(
    connection: Connection, provider: str, entries: Sequence[Entry], now: float
) -> None:
    rows: list[dict[str, Any]] = [
        {
            "provider": provider,
            "key": entry["id"],
            "entry_json": encode(entry),
            "retrieved_at": now,
        }
        for entry in entries
    ]
    if rows:
        statement = insert(found_materials)
        connection.execute(
            statement.on_conflict_do_update(
                index_elements=["provider", "key"],
                set_={
                    "entry_json": statement.excluded.entry_json,
                    "retrieved_at": statement.excluded.retrieved_at,
                },
            ),
            rows,
        )


def _entries(connection: Connection, provider: str, keys: Sequence[str]) -> dict[str, KeptEntry]:
    found: dict[str, KeptEntry] = {}
    for start in range(0, len(keys), _KEYS_AT_ONCE):
        wanted = select(found_materials).where(
            found_materials.c.provider == provider,
            found_materials.c.key.in_(keys[start : start + _KEYS_AT_ONCE]),
        )
        rows = connection.execute(wanted).mappings()
        found.update({row["key"]: _kept(row) for row in rows})
    return found


def _kept(row: RowMapping) -> KeptEntry:
    return KeptEntry(json.loads(row["entry_json"]), row["retrieved_at"])


def _bound(connection: Connection, table: Table, most: int) -> None:
    count = connection.execute(select(func.count()).select_from(table)).scalar_one()
    if count > most:
        oldest = (
            select(table.c.retrieved_at)
            .order_by(table.c.retrieved_at)
            .offset(count - most)
            .limit(1)
            .scalar_subquery()
        )
        connection.execute(delete(table).where(table.c.retrieved_at < oldest))
