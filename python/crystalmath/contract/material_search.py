"""Params and results of ``materials.search``, ``materials.get`` and ``materials.providers``."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints, model_validator

from crystalmath.contract.materials import CellParameters, GroupName
from crystalmath.contract.rpc import Model, Params, Timestamp

Element = Annotated[str, StringConstraints(min_length=1, max_length=3), Field(examples=["O"])]
Elements = Annotated[list[Element], Field(max_length=20)]
ProviderName = Annotated[str, StringConstraints(min_length=1, max_length=64)]
MaterialKey = Annotated[str, StringConstraints(min_length=1, max_length=1024)]
TimeoutSeconds = Annotated[
    float,
    Field(
        strict=False,
        ge=0.1,
        le=60.0,
        allow_inf_nan=False,
        description="How long each provider on the network may take, s.",
    ),
]
_WORDS = (
    "query",
    "formula",
    "chemsys",
    "elements_all",
    "elements_any",
    "elements_none",
    "spacegroup",
    "prototype",
    "text",
    "n_atoms_max",
)

ProviderStatus = Literal[
    "ok",
    "unreachable",
    "timeout",
    "http_error",
    "bad_json",
    "not_supported",
    "no_key",
    "offline",
    "failed",
]


class SearchParams(Params):
    """What is looked for: all that is given must hold."""

    query: str | None = Field(
        default=None,
        max_length=200,
        description="TiO2, Ti-O, mp-2657, embedded:ID, rutile: a formula, a chemical system, an "
        "id, or the name of a mineral or prototype.",
    )
    formula: str | None = Field(
        default=None, max_length=200, description="A formula; it is reduced: Ti2O4 is TiO2."
    )
    chemsys: str | None = Field(
        default=None, max_length=200, description="Exactly these elements: Ti-O."
    )
    elements_all: Elements | None = Field(default=None, description="All of these elements.")
    elements_any: Elements | None = Field(
        default=None, description="At least one of these elements."
    )
    elements_none: Elements | None = Field(default=None, description="None of these elements.")
    spacegroup: int | None = Field(default=None, ge=1, le=230, description="Number of the group.")
    prototype: str | None = Field(
        default=None,
        max_length=200,
        description="AFLOW label, Strukturbericht or Pearson symbol, or name of a prototype.",
    )
    text: str | None = Field(
        default=None, max_length=200, description="Part of the name of a mineral or prototype."
    )
    n_atoms_max: int | None = Field(
        default=None, ge=1, le=100_000, description="Atoms of the cell, at most."
    )
    providers: Annotated[list[ProviderName], Field(max_length=50)] | None = Field(
        default=None,
        description="Whom to ask: see `materials.providers`; `optimade` is all of that kind. All "
        "that can be used, if absent.",
    )
    limit: int = Field(default=50, ge=1, le=1000, description="Structures at most.")
    timeout_s: TimeoutSeconds = 10.0
    refresh: bool = Field(
        default=False, description="Ask the network also for what it answered less than a day ago."
    )

    @model_validator(mode="after")
    def _something(self) -> SearchParams:
        if all(getattr(self, name) is None for name in _WORDS):
            raise ValueError("give what to look for: `query`, `formula`, `chemsys`, `elements_all`")
        return self


class FoundGroup(GroupName):
    """The space group that was found in the structure."""

    symprec_angstrom: float = Field(description="The tolerance, Å.")


class MaterialFound(Model):
    """A structure that was found. What its provider does not tell is absent."""

    provider: str = Field(description="Who has it.")
    id: str = Field(description="What the provider calls it.")
    material: str = Field(description="Give it as `structure.material`.")
    ids: list[str] = Field(
        description="`provider:id` of all that are this structure; the first is this one."
    )
    name: str | None = Field(default=None, description="Of the mineral, prototype, file or job.")
    formula: str = Field(description="Reduced, in Hill order; of the cell where sites are shared.")
    formula_anonymous: str | None = Field(
        default=None, description="The amounts alone, A2B of TiO2; null where they are not whole."
    )
    elements: list[str] = Field(description="In alphabetical order.")
    n_atoms: int = Field(description="Atoms of the cell that the provider gives.")
    space_group: FoundGroup | None = Field(
        default=None, description="Null where the structure has none or it was not looked for."
    )
    lattice: CellParameters | None = Field(default=None, description="The cell as given.")
    volume_angstrom3: float | None = Field(default=None, description="Of the cell as given, Å³.")
    prototype: bool = Field(
        default=False,
        description="The lattice constants are those of the example of a structure type.",
    )
    properties: dict[str, Any] = Field(
        description="What the provider says of it, by its own names; ours carry their units."
    )
    generatable: bool = Field(description="Whether a deck can be written for it.")
    reason: str | None = Field(default=None, description="Why not.")
    retrieved_at: Timestamp = Field(description="When the provider gave it.")


class ProviderAnswer(Model):
    """How one provider answered."""

    name: str = Field(description="The provider.")
    status: ProviderStatus = Field(description="`ok`, or why there is no answer of today.")
    error: str | None = Field(default=None, description="One sentence.")
    hint: str | None = Field(default=None, description="What can be done.")
    elapsed_ms: float = Field(description="How long it took, ms.")
    n_found: int = Field(description="Structures of it, before equal ones were joined.")
    more: bool = Field(default=False, description="It has more than were asked for.")
    cached_at: Timestamp | None = Field(
        default=None, description="When it gave the answer, where that was kept from then."
    )


class QueryRead(Model):
    """How the query was understood."""

    kind: Literal["formula", "chemsys", "id", "name", "conditions"] = Field(
        description="What `query` is; `conditions` without one."
    )
    formula: str | None = Field(default=None, description="Reduced, in Hill order.")
    elements: list[str] | None = Field(default=None, description="Of a chemical system.")
    id: str | None = Field(default=None, description="Of one structure.")
    text: str | None = Field(default=None, description="A name.")
    notices: list[str] = Field(default_factory=list, description="What was read otherwise.")


class SearchMeta(Model):
    """What belongs to the search itself."""

    providers: list[ProviderAnswer] = Field(description="In the order of preference.")
    query: QueryRead = Field(description="How the query was understood.")
    notices: list[str] = Field(
        default_factory=list, description="What to know of the list as a whole."
    )


class GetMaterialParams(Params):
    """Which structure."""

    provider: ProviderName = Field(description="Who has it.")
    id: MaterialKey = Field(description="What the provider calls it.")
    timeout_s: TimeoutSeconds = 10.0
    refresh: bool = Field(default=False, description="Ask the provider even if it is kept here.")


class StructureDocument(Model):
    """A structure, atom by atom."""

    lattice_angstrom: list[list[float]] | None = Field(
        default=None, description="Three vectors, Å; null for a molecule."
    )
    periodic: list[bool] = Field(description="Along the three vectors.")
    symbols: list[str] = Field(description="Element of each atom.")
    positions_angstrom: list[list[float]] = Field(description="Cartesian, Å.")
    source: dict[str, str] = Field(description="Where it came from.")
    warnings: list[str] = Field(default_factory=list, description="From reading it.")


class MaterialDetail(Model):
    """A structure with its atoms."""

    material: MaterialFound = Field(description="As the search shows it.")
    structure: StructureDocument | None = Field(
        default=None, description="Null where its atoms cannot be told one by one."
    )
    cached: bool = Field(description="Whether it was kept here from an earlier answer.")


class ProviderRow(Model):
    """One provider of structures."""

    name: str = Field(description="Give it as one of `providers`.")
    title: str = Field(description="For people.")
    kind: Literal["embedded", "project", "files", "optimade", "materials_project"] = Field(
        description="Of which kind it is."
    )
    network: bool = Field(description="Whether it needs a network.")
    usable: bool = Field(description="Whether it would be asked now.")
    reason: str | None = Field(default=None, description="Why not.")
    hint: str | None = Field(default=None, description="What can be done.")


class ProvidersMeta(Model):
    total: int = Field(description="Number of providers.")
