"""Databases that speak OPTIMADE (https://www.optimade.org, version 1): one base URL each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote, urljoin, urlsplit

from crystalmath.domain.composition import (
    FormulaError,
    alphabetical,
    hill,
    parse_formula,
    reduced,
)
from crystalmath.domain.material_query import Query, query_of
from crystalmath.errors import MaterialsError, NotFound
from crystalmath.materials import http
from crystalmath.materials.entries import Raw, disorder, entry_of, fitting, told
from crystalmath.services.ports import RunWorker
from crystalmath.services.ports_materials import Answer, Asked, Entry

if TYPE_CHECKING:
    from crystalmath.structures.structure import Structure

READ: Final = "crystalmath.materials.optimade:read"
PAGE: Final = 50
"""Structures asked for at a time."""
MOST_PAGES: Final = 100
_WORK_S: Final = 40.0
_FIELDS: Final = (
    "chemical_formula_reduced,elements,nsites,lattice_vectors,dimension_types,"
    "cartesian_site_positions,species,species_at_sites,structure_features"
)
_FORBIDDEN: Final = 403
_NOT_FOUND: Final = 404


class OptimadeProvider:
    """Implements ``services.ports_materials.Provider``.

    Parameters
    ----------
    name
        The user's name for the database.
    base_url
        With or without the version.
    allowed
        Whether the network may be used at all.
    """

    kind = "optimade"
    network = True

    def __init__(self, run: RunWorker, name: str, base_url: str, *, allowed: bool = True) -> None:
        base = base_url.rstrip("/")
        versioned = base.rpartition("/")[2].startswith("v") and base[-1].isdigit()
        self._run = run
        self._allowed = allowed
        self._host = urlsplit(base).hostname or ""
        self.name = name
        self.address = base if versioned else f"{base}/v1"
        self.title = f"OPTIMADE at {self._host}"

    def problem(self) -> MaterialsError | None:
        """Whether there is no network."""
        return http.offline_problem(self.name, self._host, allowed=self._allowed)

    def search(self, asked: Asked) -> Answer:
        """See ``Provider.search``."""
        wanted = {"filter": self._filter(asked.query), "response_fields": _FIELDS}
        rows, more = self._pages(wanted, asked)
        found = self._read(rows, asked.query, asked.limit)
        notices = []
        if found["unfit"]:
            notices.append(f"{found['unfit']} answers of {self.name} did not fit the query")
        if found["unreadable"]:
            notices.append(f"{found['unreadable']} answers of {self.name} could not be read")
        return Answer(tuple(found["entries"]), more or found["more"], tuple(notices))

    def get(self, key: str, asked: Asked) -> Entry:
        """See ``Provider.get``."""
        url = f"{self.address}/structures/{quote(key, safe='')}"
        try:
            page = http.get_json(
                self.name, url, deadline=asked.deadline, params={"response_fields": _FIELDS}
            )
        except MaterialsError as error:
            if error.http_status == _NOT_FOUND:
                raise NotFound(f"{self._host} has no structure {key}") from None
            raise
        row = page.get("data")
        if not isinstance(row, dict):
            raise NotFound(f"{self._host} has no structure {key}")
        found = self._read([{**row, "id": key}], Query(), 1)
        if not found["entries"]:
            raise self._bad("a structure that cannot be read")
        entry: Entry = found["entries"][0]
        return entry

    def _filter(self, query: Query) -> str:
        try:
            return filter_of(query)
        except ValueError as error:
            raise MaterialsError(
                f"OPTIMADE cannot be asked {error}",
                hint="give a formula or elements as well",
                provider=self.name,
                status="not_supported",
            ) from None

    def _pages(self, wanted: Mapping[str, str], asked: Asked) -> tuple[list[Any], bool]:
        """Follow ``links.next`` until there are enough; whether there are more."""
        rows: list[Any] = []
        url: str | None = f"{self.address}/structures"
        params: dict[str, str] | None = {**wanted, "page_limit": str(min(PAGE, asked.limit))}
        seen: set[str] = set()
        while url is not None:
            page = self._page(url, params, asked.deadline)
            data = page.get("data")
            if not isinstance(data, list):
                raise self._bad("no list of structures")
            rows += data
            following = self._next(page, url)
            if following is None:
                return rows, False
            # a server may point in a circle, or to empty pages for ever
            endless = following in seen or not data or len(seen) >= MOST_PAGES
            if len(rows) >= asked.limit or endless:
                return rows, True
            seen.add(following)
            url, params = following, None
        return rows, False

    def _page(self, url: str, params: dict[str, str] | None, deadline: float) -> dict[str, Any]:
        try:
            return http.get_json(self.name, url, deadline=deadline, params=params)
        except MaterialsError as error:
            if error.http_status != _FORBIDDEN or params is None or "page_limit" not in params:
                raise
            # the specification lets a server refuse a size of pages that it does not like
            rest = {name: value for name, value in params.items() if name != "page_limit"}
            return http.get_json(self.name, url, deadline=deadline, params=rest)

    def _next(self, page: Mapping[str, Any], url: str) -> str | None:
        links = page.get("links")
        link = links.get("next") if isinstance(links, dict) else None
        if isinstance(link, dict):
            link = link.get("href")
        if not isinstance(link, str) or not link:
            return None
        following = urljoin(url, link)
        parts = urlsplit(following)
        if parts.scheme not in ("http", "https") or parts.hostname != self._host:
            raise self._bad("a next page at another host")
        return following

    def _read(self, rows: Sequence[Any], query: Query, limit: int) -> dict[str, Any]:
        found: dict[str, Any] = self._run(
            READ,
            {
                "rows": rows,
                "provider": self.name,
                "address": self.address,
                "query": query.document(),
                "limit": limit,
            },
            _WORK_S,
        )
        return found

    def _bad(self, what: str) -> MaterialsError:
        return MaterialsError(
            f"{self._host} answered with {what}",
            hint="is its address right?",
            provider=self.name,
            status="bad_json",
        )


def filter_of(query: Query) -> str:
    """Write the filter: formulas in the order of the alphabet, as the specification wants them.

    A space group cannot be asked for everywhere; it is looked at in what comes back.

    Raises
    ------
    ValueError
        Nothing in the query can be asked: "for …".
    """
    if query.asks_for_names:
        raise ValueError("for names and structure types")
    parts = []
    if query.formula is not None:
        formula = alphabetical(parse_formula(query.formula))
        parts.append(f'chemical_formula_reduced="{formula}"')
    if query.elements_exactly:
        names = _listed(query.elements_exactly)
        parts.append(f"elements HAS ALL {names} AND nelements={len(query.elements_exactly)}")
    if query.elements_all:
        parts.append(f"elements HAS ALL {_listed(query.elements_all)}")
    if query.elements_any:
        parts.append(f"elements HAS ANY {_listed(query.elements_any)}")
    if query.elements_none:
        parts.append(f"NOT (elements HAS ANY {_listed(query.elements_none)})")
    if not query.asks_for_chemistry:
        raise ValueError("for a space group or a size alone")
    if query.n_atoms_max is not None:
        parts.append(f"nsites<={query.n_atoms_max}")
    return " AND ".join(parts)


def _listed(elements: frozenset[str]) -> str:
    return ",".join(f'"{symbol}"' for symbol in sorted(elements))


# -- in a worker process ---------------------------------------------------------------------------


def read(
    rows: Sequence[Any], provider: str, address: str, query: Mapping[str, Any], limit: int
) -> dict[str, Any]:
    """Read entries of the endpoint ``structures``: see ``entries.fitting``.

    Returns
    -------
    dict
        Also ``unreadable``: how many are not what the specification says.
    """
    state = _Rows(provider, address)
    wanted = query_of(dict(query))
    found = fitting((entry_of(raw) for raw in state.raws(rows)), wanted, limit)
    return {**found, "unreadable": state.unreadable}


class _Rows:
    def __init__(self, provider: str, address: str) -> None:
        self._provider = provider
        self._address = address
        self.unreadable = 0

    def raws(self, rows: Sequence[Any]) -> Iterator[Raw]:
        seen: set[str] = set()
        for row in rows:
            try:
                raw = self._raw(row)
            except (KeyError, TypeError, ValueError, IndexError, AttributeError):
                self.unreadable += 1
                continue
            if raw.id not in seen:
                seen.add(raw.id)
                yield raw

    def _raw(self, row: Mapping[str, Any]) -> Raw:
        key, given = str(row["id"]), row["attributes"]
        if not key or len(key) > 1024:
            raise ValueError("no id")
        sites, reason = _sites(given)
        features = given.get("structure_features") or []
        if reason is None and {"implicit_atoms", "site_attachments"} & set(features):
            reason = "some atoms have no place: " + ", ".join(sorted(features))
        counts: dict[str, float] = {}
        for parts in sites:
            for symbol, amount in parts.items():
                if symbol not in ("X", "vacancy"):
                    counts[symbol] = counts.get(symbol, 0.0) + amount
        structure = None
        if reason is None:
            structure = self._structure(key, [next(iter(parts)) for parts in sites], given)
        vectors = given.get("lattice_vectors")
        whole = _is_matrix(vectors)
        foreign = {name: value for name, value in given.items() if name.startswith("_")}
        return Raw(
            key,
            structure,
            reason=reason,
            counts=counts,
            claimed=_claimed(given),
            lattice=vectors if whole else None,
            properties=told(foreign),
        )

    def _structure(self, key: str, symbols: list[str], given: Mapping[str, Any]) -> Structure:
        import numpy as np

        from crystalmath.structures.structure import Structure

        positions = np.array(given["cartesian_site_positions"], dtype=float)
        if positions.shape != (len(symbols), 3) or not symbols:
            raise ValueError("positions")
        lattice, pbc = _cell(given, positions)
        return Structure(
            lattice=lattice,
            pbc=pbc,
            symbols=symbols,
            positions=positions,
            reader="optimade",
            source={"material": f"{self._provider}:{key}", "from": self._address},
        )


def _claimed(given: Mapping[str, Any]) -> str | None:
    formula = given.get("chemical_formula_reduced")
    try:
        return hill(reduced(parse_formula(formula))) if isinstance(formula, str) else None
    except FormulaError:
        return None


def _sites(given: Mapping[str, Any]) -> tuple[list[dict[str, float]], str | None]:
    """What is on each site, and why the first of them that is not one atom is none."""
    kinds: dict[str, dict[str, float]] = {}
    for kind in given["species"]:
        parts: dict[str, float] = {}
        symbols, amounts = kind["chemical_symbols"], kind["concentration"]
        for symbol, amount in zip(symbols, amounts, strict=True):
            parts[symbol] = parts.get(symbol, 0.0) + float(amount)
        if kind.get("attached"):
            parts["X"] = 0.0
        kinds[kind["name"]] = parts
    sites = [kinds[name] for name in given["species_at_sites"]]
    if not sites:
        raise ValueError("no sites")
    return sites, next((why for parts in sites if (why := disorder(parts)) is not None), None)


def _is_matrix(vectors: Any) -> bool:
    return isinstance(vectors, list) and all(
        isinstance(row, list) and len(row) == 3 and all(isinstance(x, int | float) for x in row)
        for row in vectors
    )


def _cell(given: Mapping[str, Any], positions: Any) -> tuple[Any, tuple[bool, bool, bool]]:
    """Cell and periodicity; a vector that is null is completed where the structure ends."""
    import numpy as np

    vectors: Any = given.get("lattice_vectors")
    types = given.get("dimension_types") or ([1, 1, 1] if vectors else [0, 0, 0])
    x, y, z = (bool(kind) for kind in types)
    if not any((x, y, z)):
        return None, (False, False, False)
    rows = [None if row is None or None in row else np.array(row, float) for row in vectors]
    known = [row for row in rows if row is not None]
    if any(row is None and kind for row, kind in zip(rows, (x, y, z), strict=True)):
        raise ValueError("a vector of the lattice is missing")
    spread = float(np.ptp(positions, axis=0).max()) + 20.0
    basis = np.linalg.svd(np.array(known))[2]  # the last rows are perpendicular to what is known
    missing = iter(basis[len(known) :])
    lattice = np.array([spread * next(missing) if row is None else row for row in rows])
    return lattice, (x, y, z)
