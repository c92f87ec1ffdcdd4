"""The list path: filters, order and keyset pages. Core expressions only; no row objects.

Keyset paging (``WHERE (key, id) > (…)``) costs the same for the last page as for the first, and
no row is skipped or shown twice when jobs appear in between.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, Float, and_, bindparam, func, or_, select, text

from crystalmath.services.ports_store import SUMMARY_COLUMNS, Page, Query
from crystalmath.storage.tables import jobs

REV = "SELECT value FROM counters WHERE name = 'rev'"
_REV = text(REV)
_NOW = bindparam("now", type_=Float)


def _shown(name: str) -> ColumnElement[Any]:
    """Times as RFC 3339 text: made here, in C, they cost a third of what Python needs."""
    if name == "elapsed_s":
        run = func.coalesce(jobs.c.finished_at, _NOW) - jobs.c.started_at
        return func.round(func.max(0.0, run), 3)
    if name.endswith("_at"):
        return func.strftime("%Y-%m-%dT%H:%M:%fZ", jobs.c[name], "unixepoch")
    return jobs.c[name]


_COLUMNS = [_shown(name) for name in SUMMARY_COLUMNS]
_BRIEF = [jobs.c[name] for name in ("id", "rev", "started_at", "finished_at")]
_AT_ONCE = 500
"""Ids in one question: SQLite takes a limited number of variables."""


def revision(connection: Connection) -> int:
    """Revision of the job table."""
    return int(connection.execute(_REV).scalar_one())


def page(
    connection: Connection, query: Query, is_known: Callable[[int, int], bool] | None = None
) -> Page:
    """Fetch one page and its revision from the same snapshot; see ``Store.page``."""
    columns = _COLUMNS if is_known is None else _BRIEF
    key = _key(query.sort)
    conditions = _conditions(query)
    order = [key.desc(), jobs.c.id.desc()] if query.descending else [key.asc(), jobs.c.id.asc()]
    if query.sort == "id":
        order = order[:1]
    statement = select(*columns, key).where(*conditions).order_by(*order).limit(bindparam("n"))
    values: dict[str, Any] = {"n": query.limit + 1, "now": query.now}
    if query.after is not None:
        statement = statement.where(_beyond(key, query.descending))
        values |= {"after_key": query.after[0], "after_id": query.after[1]}
    rev = revision(connection)
    total = connection.execute(
        select(func.count()).select_from(jobs).where(*conditions)
    ).scalar_one()
    rows = connection.execute(statement, values).fetchall()
    last = None
    if len(rows) > query.limit:
        rows = rows[: query.limit]
        last = (rows[-1][-1], rows[-1][0])
    found = [row[:-1] for row in rows]
    if is_known is None:
        return Page(rows=found, rev=rev, total=total, last=last)
    missing = [brief[0] for brief in found if not is_known(brief[0], brief[1])]
    return Page(_rows(connection, missing, query.now), rev, total, last, found)


def _rows(connection: Connection, ids: list[int], now: float) -> list[Sequence[Any]]:
    rows: list[Sequence[Any]] = []
    for at in range(0, len(ids), _AT_ONCE):
        wanted = select(*_COLUMNS).where(jobs.c.id.in_(ids[at : at + _AT_ONCE]))
        rows += connection.execute(wanted, {"now": now}).fetchall()
    return rows


@functools.cache
def _key(sort: str) -> ColumnElement[Any]:
    column = jobs.c[sort]
    return func.coalesce(column, 0) if column.nullable else column


def _beyond(key: ColumnElement[Any], descending: bool) -> ColumnElement[bool]:
    after_key: ColumnElement[Any] = bindparam("after_key")
    after_id: ColumnElement[int] = bindparam("after_id")
    if descending:
        return or_(key < after_key, and_(key == after_key, jobs.c.id < after_id))
    return or_(key > after_key, and_(key == after_key, jobs.c.id > after_id))


def _conditions(query: Query) -> list[ColumnElement[bool]]:
    found: list[ColumnElement[bool]] = []
    if query.states:
        found.append(jobs.c.state.in_(query.states))
    for name in ("code", "cluster", "workflow"):
        value = getattr(query, name)
        if value is not None:
            found.append(jobs.c[name] == value)
    if query.search:
        columns = (jobs.c.name, jobs.c.formula, jobs.c.tags_json)
        found.append(or_(*(column.icontains(query.search, autoescape=True) for column in columns)))
    return found
