"""Searches for structures at several providers at once."""

from __future__ import annotations

from crystalmath.contract.material_search import (
    GetMaterialParams,
    MaterialDetail,
    MaterialFound,
    ProviderRow,
    ProvidersMeta,
    SearchMeta,
    SearchParams,
)
from crystalmath.contract.rpc import Call, Listing
from crystalmath.errors import NotImplementedYet


class MaterialSearch:
    """Asks the providers."""

    def search(self, params: SearchParams, call: Call) -> Listing[MaterialFound, SearchMeta]:
        """See ``MaterialsService.search``."""
        raise NotImplementedYet("the providers come next")

    def get(self, params: GetMaterialParams, call: Call) -> MaterialDetail:
        """See ``MaterialsService.get``."""
        raise NotImplementedYet("the providers come next")

    def providers(self) -> Listing[ProviderRow, ProvidersMeta]:
        """See ``MaterialsService.providers``."""
        raise NotImplementedYet("the providers come next")
