"""What a search for structures asks for: the words of the search box and the conditions. Pure.

Used by ``services.material_search``; the providers turn a :class:`Query` into what they understand.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Final, Literal

from crystalmath.domain.composition import (
    ELEMENTS,
    FormulaError,
    hill,
    parse_formula,
    reduced,
)

Kind = Literal["formula", "chemsys", "id", "name", "conditions"]

MATERIALS_PROJECT: Final = "materials_project"
PROJECT: Final = "project"
"""Provider of the structures of this daemon; their ids say where they came from:"""
LOCAL: Final = "local"
"""taken in by the user, ``local:3``;"""
JOB: Final = "job"
"""what a job ended with, ``job:12``."""
OWN_ORIGINS: Final = (LOCAL, JOB)
_MP_ID = re.compile(r"(mp|mvc)-[A-Za-z0-9]{1,32}")
_CHEMSYS = re.compile(r"[A-Za-z]{1,2}(?:-[A-Za-z]{1,2})+")
_FORMULA_SHAPE = re.compile(r"(?:[A-Z][a-z]?[\d.]*|[()]|\)[\d.]*)+")
_LABEL = re.compile(r"[A-Z][A-Za-z0-9]*_[a-z][A-Z]\d+_\d+.*")
_NAME = re.compile(r"[^\W\d_][\w .,'()/*+-]*")


class QueryError(ValueError):
    """A query cannot be understood; the message says why.

    Parameters
    ----------
    hint
        What may have been meant.
    """

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.hint = hint


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """Conditions that must all hold; None and empty ask for nothing.

    Attributes
    ----------
    formula
        Reduced, in Hill order.
    elements_exactly
        Of a chemical system.
    prototype
        A label or name of a structure type, whole.
    text
        Part of a name.
    id_provider, id
        One structure of one provider.
    """

    formula: str | None = None
    elements_exactly: frozenset[str] | None = None
    elements_all: frozenset[str] = frozenset()
    elements_any: frozenset[str] = frozenset()
    elements_none: frozenset[str] = frozenset()
    space_group: int | None = None
    prototype: str | None = None
    text: str | None = None
    n_atoms_max: int | None = None
    id_provider: str | None = None
    id: str | None = None

    @property
    def asks_for_chemistry(self) -> bool:
        """Whether anything is said of formula or elements that must be there."""
        return bool(self.formula or self.elements_exactly or self.elements_all or self.elements_any)

    @property
    def asks_for_names(self) -> bool:
        """Whether a name or a structure type is asked for, which only some providers know."""
        return self.prototype is not None or self.text is not None

    def allows(self, formula: str, elements: Collection[str], n_atoms: int) -> bool:
        """Whether a composition fits: all but the space group and names."""
        found = frozenset(elements)
        return (
            (self.formula is None or self.formula == formula)
            and (self.elements_exactly is None or self.elements_exactly == found)
            and self.elements_all <= found
            and (not self.elements_any or bool(self.elements_any & found))
            and not self.elements_none & found
            and (self.n_atoms_max is None or n_atoms <= self.n_atoms_max)
        )

    def allows_formula(self, formula: str) -> bool:
        """The same of a reduced formula, without a look at the size of the cell."""
        try:
            counts = parse_formula(formula)
        except FormulaError:
            return False
        return self.allows(hill(reduced(counts)), counts, 0)

    def document(self) -> dict[str, object]:
        """JSON form, the same for the same conditions."""
        found: dict[str, object] = {}
        for name in self.__slots__:
            value = getattr(self, name)
            if value:
                found[name] = sorted(value) if isinstance(value, frozenset) else value
        return found


@dataclass(frozen=True, slots=True)
class Words:
    """What a text in the search box means."""

    kind: Kind
    query: Query
    notices: tuple[str, ...] = field(default=())


def query_of(document: dict[str, object]) -> Query:
    """Make a query of its JSON form: see :meth:`Query.document`."""
    lists = {name: frozenset(value) for name, value in document.items() if isinstance(value, list)}
    return Query(**{**document, **lists})  # type: ignore[arg-type]


def classify(text: str, providers: Collection[str] = ()) -> Words:
    """Tell what a text means: a formula, a chemical system, an id, or a name.

    Parameters
    ----------
    providers
        Names before the colon of an id.

    Raises
    ------
    QueryError
        It is nothing of that, with the reason.
    """
    said = text.strip()
    if not said:
        raise QueryError("the query is empty", "a formula like TiO2, a system like Ti-O, a name")
    provider, colon, key = said.partition(":")
    if colon and key and provider in (*providers, *OWN_ORIGINS):
        return Words("id", Query(id_provider=provider, id=key))
    if _MP_ID.fullmatch(said):
        return Words("id", Query(id_provider=MATERIALS_PROJECT, id=said))
    if _CHEMSYS.fullmatch(said):
        return _system(said)
    if _LABEL.fullmatch(said):
        return Words("name", Query(prototype=said))
    if _FORMULA_SHAPE.fullmatch(said) or "," in said or said[0] == "(":
        return Words("formula", Query(formula=read_formula(said)))
    if not _NAME.fullmatch(said) or (said.islower() and any(c.isdigit() for c in said)):
        raise _not_understood(said)
    return Words("name", Query(text=said), _maybe_formula(said))


def read_formula(text: str) -> str:
    """Reduce a formula; raises :class:`QueryError`."""
    try:
        return hill(reduced(parse_formula(text.strip())))
    except FormulaError as error:
        raise QueryError(str(error), _case_hint(text.strip())) from None


def read_system(text: str) -> tuple[frozenset[str], tuple[str, ...]]:
    """Read a chemical system like ``Ti-O``, with what was read otherwise than it stands there.

    Raises
    ------
    QueryError
    """
    said = text.strip()
    if not said:
        raise QueryError("the chemical system is empty", "elements like Ti-O")
    parts = [part.strip() for part in said.split("-")]
    elements = read_elements([part.capitalize() for part in parts])
    proper = "-".join(part.capitalize() for part in parts)
    return elements, () if proper == said else (f"{said} is read as {proper}",)


def read_elements(symbols: Collection[str]) -> frozenset[str]:
    """Check symbols; raises :class:`QueryError` that names the first that is no element."""
    for symbol in symbols:
        if symbol not in ELEMENTS:
            hint = f"{symbol.capitalize()}?" if symbol.capitalize() in ELEMENTS else None
            raise QueryError(f"{symbol!r} is no element", hint)
    return frozenset(symbols)


def _system(said: str) -> Words:
    elements, notices = read_system(said)
    return Words("chemsys", Query(elements_exactly=elements), notices)


def _not_understood(said: str) -> QueryError:
    return QueryError(
        f"{said!r} is neither a formula nor a chemical system, an id or a name",
        _case_hint(said) or "write a formula like TiO2, a system like Ti-O, an id like mp-2657",
    )


def _maybe_formula(said: str) -> tuple[str, ...]:
    """For a short word in small letters: it may be a formula that lacks its capitals."""
    hint = _case_hint(said) if said.islower() and len(said) <= 6 else None
    return () if hint is None else (f"{said} is read as a name; {hint}",)


def _case_hint(said: str) -> str | None:
    """How a text in small letters may be written as a formula; None when in no way."""
    if not re.fullmatch(r"[a-z][a-z0-9]*", said):
        return None
    spelt = list(_spellings(said))[:3]
    return f"elements begin with a capital: {' or '.join(spelt)}?" if spelt else None


def _spellings(rest: str) -> list[str]:
    if not rest:
        return [""]
    found = []
    for length in (1, 2):
        symbol = rest[:length].capitalize()
        if len(symbol) == length and symbol in ELEMENTS:
            digits = re.match(r"\d*", rest[length:])
            amount = digits[0] if digits else ""
            found += [symbol + amount + tail for tail in _spellings(rest[length + len(amount) :])]
    return found
