"""The Materials Project, with the key of whoever runs the daemon.

The key goes into one header of requests to one host, and nowhere else.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from crystalmath.domain.material_query import MATERIALS_PROJECT, Query, query_of
from crystalmath.domain.moments import starting_moments
from crystalmath.errors import MaterialsError, NotFound
from crystalmath.materials import http
from crystalmath.materials.entries import Raw, disorder, entry_of, fitting, told
from crystalmath.services.ports import RunWorker
from crystalmath.services.ports_materials import Answer, Asked, Entry

if TYPE_CHECKING:
    from crystalmath.structures.structure import Structure

NAME: Final = MATERIALS_PROJECT
READ: Final = "crystalmath.materials.materials_project:read"
_WORK_S: Final = 40.0
_KEY_LENGTH: Final = 32
_LEGACY_LENGTH: Final = 16
_PROPERTIES: Final = {
    "energy_above_hull": "energy_above_hull_ev_per_atom",
    "formation_energy_per_atom": "formation_energy_ev_per_atom",
    "band_gap": "band_gap_ev",
    "is_stable": "is_stable",
    "theoretical": "theoretical",
}
"""Their names → ours."""
_FIELDS: Final = ",".join(("material_id", "structure", *_PROPERTIES))
_GET_A_KEY: Final = (
    "set MP_API_KEY in the daemon's environment, or `materials.mp_api_key` in config.toml, and "
    "restart the daemon; keys are given out at https://next-gen.materialsproject.org/api"
)
_REFUSALS: Final = {
    401: ("the key was refused", "get a new one: https://next-gen.materialsproject.org/api"),
    403: ("the key was refused", "get a new one: https://next-gen.materialsproject.org/api"),
    404: ("there is nothing at its address", "is `materials.mp_url` right?"),
    429: ("it was asked too often", "wait a minute"),
}


class MaterialsProjectProvider:
    """Implements ``services.ports_materials.Provider``.

    Parameters
    ----------
    key
        Empty where there is none.
    allowed
        Whether the network may be used at all.
    """

    name = NAME
    title = "Materials Project"
    kind = "materials_project"
    network = True

    def __init__(self, run: RunWorker, key: str, base_url: str, *, allowed: bool = True) -> None:
        self._run = run
        self._key = key.strip()
        self._allowed = allowed
        self.address = base_url.rstrip("/")
        self._host = urlsplit(self.address).hostname or ""

    def problem(self) -> MaterialsError | None:
        """Whether there is no usable key, or no network."""
        if (why := self._key_problem()) is not None:
            return MaterialsError(why, hint=_GET_A_KEY, provider=NAME, status="no_key")
        return http.offline_problem(NAME, self._host, allowed=self._allowed)

    def search(self, asked: Asked) -> Answer:
        """See ``Provider.search``."""
        page = self._ask({**_params(asked.query), "_limit": str(asked.limit)}, asked.deadline)
        rows, total = _rows(page)
        found = self._read(rows, asked.query, asked.limit)
        more = found["more"] or (isinstance(total, int) and total > len(rows))
        return Answer(tuple(found["entries"]), more)

    def get(self, key: str, asked: Asked) -> Entry:
        """See ``Provider.get``."""
        page = self._ask({"material_ids": key, "_limit": "1"}, asked.deadline)
        found = self._read(_rows(page)[0], Query(), 1)
        if not found["entries"]:
            raise NotFound(f"the Materials Project has no {key}")
        entry: Entry = found["entries"][0]
        return entry

    def _key_problem(self) -> str | None:
        if not self._key:
            return "the Materials Project needs a key"
        if len(self._key) == _LEGACY_LENGTH:
            return "the key is one of the legacy API (16 characters), which is not used any more"
        if len(self._key) != _KEY_LENGTH or not (self._key.isascii() and self._key.isalnum()):
            return f"a key of the Materials Project has {_KEY_LENGTH} letters and digits"
        return None

    def _ask(self, params: Mapping[str, str], deadline: float) -> dict[str, Any]:
        try:
            return http.get_json(
                NAME,
                f"{self.address}/materials/summary/",
                deadline=deadline,
                params={**params, "_fields": _FIELDS, "deprecated": "false"},
                headers={"X-API-KEY": self._key},
                redirects=False,
            )
        except MaterialsError as error:
            known = _REFUSALS.get(error.http_status)
            if known is None:
                raise
            why, hint = known
            raise MaterialsError(
                f"the Materials Project: {why} (HTTP status {error.http_status})",
                hint=hint,
                provider=NAME,
                status="http_error",
                http_status=error.http_status,
            ) from None

    def _read(self, rows: Sequence[Any], query: Query, limit: int) -> dict[str, Any]:
        arguments = {"rows": rows, "query": query.document(), "limit": limit}
        found: dict[str, Any] = self._run(READ, arguments, _WORK_S)
        return found


def _rows(page: Mapping[str, Any]) -> tuple[list[Any], Any]:
    rows = page.get("data")
    if not isinstance(rows, list):
        raise MaterialsError(
            "the Materials Project answered with no list", provider=NAME, status="bad_json"
        )
    meta = page.get("meta")
    return rows, meta.get("total_doc") if isinstance(meta, dict) else None


def _params(query: Query) -> dict[str, str]:
    """The parameters of the endpoint ``materials/summary``.

    Raises
    ------
    MaterialsError
        It cannot be asked for that.
    """
    if query.asks_for_names or query.elements_any:
        what = "names and structure types" if query.asks_for_names else "any one of some elements"
        raise MaterialsError(
            f"the Materials Project cannot be asked for {what}",
            hint="give a formula, a chemical system, or elements that must all be there",
            provider=NAME,
            status="not_supported",
        )
    given = {
        "formula": query.formula,
        "chemsys": "-".join(sorted(query.elements_exactly or ())),
        "elements": ",".join(sorted(query.elements_all)),
        "exclude_elements": ",".join(sorted(query.elements_none)),
        "spacegroup_number": query.space_group,
        "nsites_max": query.n_atoms_max,
    }
    return {name: str(value) for name, value in given.items() if value}


# -- in a worker process ---------------------------------------------------------------------------


def read(rows: Sequence[Any], query: Mapping[str, Any], limit: int) -> dict[str, Any]:
    """Read documents of the summary: see ``entries.fitting``."""
    return fitting(map(entry_of, _raws(rows)), query_of(dict(query)), limit)


def _raws(rows: Sequence[Any]) -> Iterator[Raw]:
    for row in rows:
        try:
            yield _raw(row)
        except (KeyError, TypeError, ValueError, AttributeError):
            continue


def _raw(row: Mapping[str, Any]) -> Raw:
    key, given = str(row["material_id"]), row["structure"]
    sites = [_parts(site) for site in given["sites"]]
    reason = next((why for parts in sites if (why := disorder(parts)) is not None), None)
    counts: dict[str, float] = {}
    for parts in sites:
        for symbol, amount in parts.items():
            counts[symbol] = counts.get(symbol, 0.0) + amount
    known = {name: row[name] for name in _PROPERTIES if row.get(name) is not None}
    return Raw(
        key,
        None if reason is not None else _structure(key, sites, given),
        reason=reason,
        counts=counts,
        lattice=given["lattice"]["matrix"],
        properties=told({_PROPERTIES[name]: value for name, value in known.items()}),
    )


def _parts(site: Mapping[str, Any]) -> dict[str, float]:
    parts: dict[str, float] = {}
    for kind in site["species"]:
        parts[kind["element"]] = parts.get(kind["element"], 0.0) + float(kind["occu"])
    return parts


def _structure(
    key: str, sites: Sequence[Mapping[str, float]], given: Mapping[str, Any]
) -> Structure:
    import numpy as np

    from crystalmath.structures.structure import SiteData, Structure

    lattice = np.array(given["lattice"]["matrix"], dtype=float)
    fractions = np.array([site["abc"] for site in given["sites"]], dtype=float)
    return Structure(
        lattice=lattice,
        pbc=(True, True, True),
        symbols=[next(iter(parts)) for parts in sites],
        positions=fractions @ lattice,
        sites=SiteData(
            moments=starting_moments(
                [(site.get("properties") or {}).get("magmom") for site in given["sites"]]
            )
        ),
        reader="materials project",
        source={"material": f"{NAME}:{key}", "from": "Materials Project"},
    )
