"""``materials.search``, ``get`` and ``providers``: who is asked, and what is shown of the answers.

Used by ``services.materials``, and by ``services.structure_in`` for ``structure.material``.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from crystalmath.contract.material_search import (
    GetMaterialParams,
    MaterialDetail,
    MaterialFound,
    ProviderRow,
    ProvidersMeta,
    SearchMeta,
    SearchParams,
    StructureDocument,
)
from crystalmath.contract.rpc import Call, Listing
from crystalmath.domain.material_query import MATERIALS_PROJECT, OWN_ORIGINS, PROJECT, Query
from crystalmath.errors import CrystalMathError, InvalidParams, NotFound
from crystalmath.services.material_asking import Federation, Told
from crystalmath.services.material_join import Found, joined
from crystalmath.services.material_words import read_params
from crystalmath.services.ports import RunWorker
from crystalmath.services.ports_materials import Asked, Entry, Provider, SearchCache


class MaterialSearch:
    """Asks the providers.

    Parameters
    ----------
    providers
        In the order in which they are preferred.
    clock
        Seconds since 1970.
    """

    def __init__(
        self,
        providers: Sequence[Provider],
        cache: SearchCache,
        run: RunWorker,
        clock: Callable[[], float],
    ) -> None:
        self._providers = {provider.name: provider for provider in providers}
        self._asking = Federation(cache, clock)
        self._run = run

    def providers(self) -> Listing[ProviderRow, ProvidersMeta]:
        """See ``MaterialsService.providers``."""
        rows = []
        for provider in self._providers.values():
            problem = provider.problem()
            rows.append(
                ProviderRow(
                    name=provider.name,
                    title=provider.title,
                    kind=provider.kind,
                    network=provider.network,
                    usable=problem is None,
                    reason=None if problem is None else problem.message,
                    hint=None if problem is None else problem.hint,
                )
            )
        return Listing(rows, ProvidersMeta(total=len(rows)))

    def search(self, params: SearchParams, call: Call) -> Listing[MaterialFound, SearchMeta]:
        """See ``MaterialsService.search``."""
        query, read = read_params(params, tuple(self._providers))
        chosen = self._chosen(params.providers, query)
        asked = Asked(query, params.limit, time.monotonic() + params.timeout_s)
        told = self._asking.ask(chosen, asked, params.refresh, call)
        call.check()
        every = [found for one in told for found in one.found]
        notices = [notice for one in told for notice in one.notices]
        try:
            rows = joined(every, self._run)
        except CrystalMathError as error:
            rows = every
            notices.append(f"structures that are the same could not be joined: {error.message}")
        if len(rows) > params.limit:
            notices.append(f"{len(rows) - params.limit} more were found than asked for")
        meta = SearchMeta(
            providers=[one.answer for one in told],
            query=read,
            notices=[*notices, *_nothing(rows, told)],
        )
        return Listing([self._shown(row) for row in rows[: params.limit]], meta)

    def get(self, params: GetMaterialParams, call: Call) -> MaterialDetail:
        """See ``MaterialsService.get``."""
        provider = self._named(params.provider, "provider")
        deadline = time.monotonic() + params.timeout_s
        found, cached = self._asking.one(provider, params.id, deadline, refresh=params.refresh)
        structure = found.entry["structure"]
        return MaterialDetail(
            material=self._shown(found),
            structure=None if structure is None else _document(structure),
            cached=cached,
        )

    def document(self, material: str, timeout_s: float = 10.0) -> Mapping[str, Any]:
        """The structure that ``provider:id`` names, in its JSON form.

        Raises
        ------
        InvalidParams
            There is none, or its atoms cannot be told one by one.
        MaterialsError
            Its provider has to be asked and does not answer.
        """
        name, colon, key = material.partition(":")
        if not colon and material.startswith(("mp-", "mvc-")):
            name, key = MATERIALS_PROJECT, material
        elif name in OWN_ORIGINS:
            name, key = PROJECT, material
        provider = self._named(name, "structure.material")
        try:
            found, _ = self._asking.one(provider, key, time.monotonic() + timeout_s)
        except NotFound as error:
            raise InvalidParams(
                error.message, hint=error.hint, field="structure.material"
            ) from error
        structure: Mapping[str, Any] | None = found.entry["structure"]
        if structure is None:
            raise InvalidParams(
                f"{material} cannot be used: {found.entry['reason']}",
                hint="choose an ordered structure",
                field="structure.material",
            )
        return structure

    # -- who is asked ------------------------------------------------------------------------------

    def _named(self, name: str, field: str) -> Provider:
        provider = self._providers.get(name)
        if provider is None:
            known = ", ".join(self._providers)
            raise InvalidParams(
                f"there is no provider {name!r}",
                hint=f"known here: {known}; databases are named in `materials.optimade` of "
                "config.toml",
                field=field,
            )
        return provider

    def _chosen(self, names: Sequence[str] | None, query: Query) -> list[Provider]:
        if query.id_provider is not None:
            name = PROJECT if query.id_provider in OWN_ORIGINS else query.id_provider
            return [self._named(name, "query")]
        if names is None:
            return list(self._providers.values())
        chosen = dict.fromkeys(names)
        if "optimade" in chosen:  # all of that kind
            of_kind = [p.name for p in self._providers.values() if p.kind == "optimade"]
            if not of_kind:
                raise InvalidParams(
                    "no OPTIMADE database is named here",
                    hint="name some in `materials.optimade` of config.toml",
                    field="providers",
                )
            chosen = dict.fromkeys([n for n in chosen if n != "optimade"] + of_kind)
        for name in chosen:
            self._named(name, "providers")
        return [provider for name, provider in self._providers.items() if name in chosen]

    # -- what is shown -----------------------------------------------------------------------------

    @staticmethod
    def _shown(found: Found) -> MaterialFound:
        fields = {
            name: value
            for name, value in found.entry.items()
            if name in MaterialFound.model_fields and value is not None
        }
        return MaterialFound.model_validate(
            {
                **fields,
                "provider": found.provider,
                "material": found.material,
                "ids": [found.material, *found.others],
                "retrieved_at": datetime.fromtimestamp(found.retrieved_at, UTC),
            }
        )


def _nothing(rows: Sequence[Found], told: Sequence[Told]) -> list[str]:
    """What to say when there is nothing, so that it is not taken for an answer of everybody."""
    if rows:
        return []
    silent = [one.answer.name for one in told if one.answer.status != "ok"]
    if not silent:
        return []
    return [f"nothing was found, but {', '.join(silent)} did not answer"]


def _document(structure: Entry) -> StructureDocument:
    return StructureDocument(
        lattice_angstrom=structure["lattice"],
        periodic=structure["pbc"],
        symbols=structure["symbols"],
        positions_angstrom=structure["positions"],
        source=structure["source"],
        warnings=structure["warnings"],
    )
