"""From the params of a search to its conditions; what cannot be understood is refused by field."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace
from typing import TypeVar

from crystalmath.contract.material_search import QueryRead, SearchParams
from crystalmath.domain.material_query import (
    Query,
    QueryError,
    Words,
    classify,
    read_elements,
    read_formula,
    read_system,
)
from crystalmath.errors import InvalidParams

T = TypeVar("T")
_FROM_WORDS = ("formula", "elements_exactly", "prototype", "text")


def read_params(params: SearchParams, providers: Collection[str]) -> tuple[Query, QueryRead]:
    """Read what is looked for.

    Parameters
    ----------
    providers
        Names that may stand before the colon of an id.

    Raises
    ------
    InvalidParams
    """
    words = Words("conditions", Query())
    if params.query is not None:
        text = params.query
        words = _of("query", lambda: classify(text, providers))
    given, notices = _conditions(params)
    for name in _FROM_WORDS:
        if getattr(words.query, name) is not None and getattr(given, name) is not None:
            field = "chemsys" if name == "elements_exactly" else name
            raise InvalidParams(
                f"`query` says {field} already", hint="give one of the two", field=field
            )
    merged = {name: getattr(words.query, name) or getattr(given, name) for name in Query.__slots__}
    query = Query(**merged)
    if query.id is not None and query != Query(id=query.id, id_provider=query.id_provider):
        raise InvalidParams(
            "an id names one structure", hint="leave out the other conditions", field="query"
        )
    read = QueryRead(
        kind=words.kind,
        formula=query.formula,
        elements=None if query.elements_exactly is None else sorted(query.elements_exactly),
        id=query.id,
        text=query.text or query.prototype,
        notices=[*words.notices, *notices],
    )
    return query, read


def _conditions(params: SearchParams) -> tuple[Query, tuple[str, ...]]:
    query, notices = Query(), ()
    if params.formula is not None:
        text = params.formula
        query = replace(query, formula=_of("formula", lambda: read_formula(text)))
    if params.chemsys is not None:
        system = params.chemsys
        elements, notices = _of("chemsys", lambda: read_system(system))
        query = replace(query, elements_exactly=elements)
    for name in ("elements_all", "elements_any", "elements_none"):
        symbols = getattr(params, name)
        if symbols is not None:
            found = _of(name, lambda symbols=symbols: read_elements(symbols))
            query = replace(query, **{name: found})
    query = replace(
        query,
        space_group=params.spacegroup,
        n_atoms_max=params.n_atoms_max,
        prototype=_word("prototype", params.prototype),
        text=_word("text", params.text),
    )
    return query, notices


def _word(field: str, given: str | None) -> str | None:
    if given is None:
        return None
    if not given.strip():
        raise InvalidParams("must not be blank", field=field)
    return given.strip()


def _of(field: str, read: Callable[[], T]) -> T:
    try:
        return read()
    except QueryError as error:
        raise InvalidParams(str(error), hint=error.hint, field=field) from None
