"""From the params of a search to its conditions; what cannot be understood is refused by field."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
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
    formula, system = params.formula, params.chemsys
    elements: frozenset[str] | None = None
    notices: tuple[str, ...] = ()
    if system is not None:
        elements, notices = _of("chemsys", lambda: read_system(system))
    query = Query(
        formula=None if formula is None else _of("formula", lambda: read_formula(formula)),
        elements_exactly=elements,
        elements_all=_elements("elements_all", params.elements_all),
        elements_any=_elements("elements_any", params.elements_any),
        elements_none=_elements("elements_none", params.elements_none),
        space_group=params.spacegroup,
        n_atoms_max=params.n_atoms_max,
        prototype=_word("prototype", params.prototype),
        text=_word("text", params.text),
    )
    return query, notices


def _elements(field: str, symbols: Sequence[str] | None) -> frozenset[str]:
    return frozenset() if symbols is None else _of(field, lambda: read_elements(symbols))


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
