"""The searches on a fresh database, with the work of the worker processes done in this one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from crystalmath.contract.material_search import GetMaterialParams, MaterialDetail, SearchParams
from crystalmath.materials import embedded
from crystalmath.materials.registry import build_providers
from crystalmath.services.material_search import MaterialSearch
from crystalmath.services.ports_materials import MaterialsSettings, NewMaterial
from crystalmath.storage.materials import SqliteMaterialStore
from crystalmath.storage.migrate import migrate
from crystalmath.storage.search_cache import SqliteSearchCache
from crystalmath.storage.store import open_store
from crystalmath.structures.checks import check
from crystalmath.structures.structure import of_document
from support.service_fakes import FakeCall
from support.workers import run_here

KEY = "0123456789abcdefghijklmnopqrstuv"


@dataclass
class SearchBench:
    """Providers as the settings name them."""

    root: Path
    optimade: Mapping[str, str] = field(default_factory=dict)
    folders: Sequence[str] = ()
    key: str = ""
    mp_url: str = "http://127.0.0.1:9"
    offline: bool = False
    now: float = 1_000_000.0

    def __post_init__(self) -> None:
        path = self.root / "crystalmath.db"
        self.store = open_store(path)
        migrate(self.store.engine, path, lambda _: None)
        self.materials = SqliteMaterialStore(self.store)
        self.cache = SqliteSearchCache(self.store)
        settings = MaterialsSettings(
            optimade=self.optimade,
            folders=self.folders,
            mp_api_key=self.key,
            mp_url=self.mp_url,
            offline=self.offline,
        )
        self.providers = build_providers(settings, run_here, self.materials, self.materials)
        self.service = MaterialSearch(self.providers, self.cache, run_here, lambda: self.now)

    def search(self, query: str | None = None, **fields: Any) -> tuple[list[Any], Any]:
        """Rows and meta of a search."""
        fields.setdefault("timeout_s", 60.0)  # a busy machine is no slow provider
        params = SearchParams(query=query, **fields)
        found = self.service.search(params, FakeCall())  # type: ignore[arg-type]
        return list(found.data), found.meta

    def status(self, query: str | None = None, **fields: Any) -> dict[str, str]:
        """How each provider answered."""
        _, meta = self.search(query, **fields)
        return {answer.name: answer.status for answer in meta.providers}

    def get(self, provider: str, key: str, **fields: Any) -> MaterialDetail:
        """One structure."""
        params = GetMaterialParams(provider=provider, id=key, **fields)
        return self.service.get(params, FakeCall())  # type: ignore[arg-type]

    def keep(self, name: str, structure: Mapping[str, Any]) -> str:
        """Take a structure in, as ``materials.import`` does."""
        material = NewMaterial(
            name=name,
            formula=structure["formula"],
            n_atoms=len(structure["symbols"]),
            space_group=None,
            content_hash=name,
            fingerprint=None,
            structure=structure,
        )
        return f"local:{self.materials.add_material(material, self.now)[0].id}"

    def close(self) -> None:
        self.store.close()


def look_at(key: str) -> None:
    """Hold one of the shipped structures against what is said of it.

    Raises
    ------
    AssertionError, InputRejected
    """
    entry = embedded.one(key)
    assert entry["generatable"], key
    assert entry["space_group"] is not None, key
    structure = of_document(entry["structure"])
    check(structure)
    assert len(structure.symbols) == entry["n_atoms"], key
    if not entry["prototype"]:
        return
    label = entry["properties"]["aflow"]
    assert label.split("_")[1] == entry["properties"]["pearson"], key
