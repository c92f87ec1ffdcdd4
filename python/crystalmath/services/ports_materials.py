"""What the services need of the places of structures: the store, and the providers of searches.

Implemented by ``storage`` and by ``materials``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from crystalmath.domain.material_query import Query
from crystalmath.errors import MaterialsError


@dataclass(frozen=True, slots=True, kw_only=True)
class NewMaterial:
    """A structure to keep.

    Attributes
    ----------
    structure
        The JSON form of ``structures.structure.Structure``.
    fingerprint
        What tells candidates for the same crystal from others; None when it was not looked for.
    """

    name: str
    formula: str
    n_atoms: int
    space_group: int | None
    content_hash: str
    fingerprint: Mapping[str, Any] | None
    structure: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Material(NewMaterial):
    """A structure that is kept."""

    id: int
    created_at: float


class MaterialStore(Protocol):
    """Keeps structures, each once."""

    def add_material(self, material: NewMaterial, now: float) -> tuple[Material, bool]:
        """Keep a structure; the one of the same content and True when it is there already."""

    def material(self, material_id: int) -> Material:
        """Return one; raises ``NotFound``."""

    def materials_of(self, allows: Callable[[str], bool], limit: int) -> Sequence[Material]:
        """Return those whose formula is allowed, the newest first."""


Entry = Mapping[str, Any]
"""A structure that a provider has: the fields of ``contract.material_search.MaterialFound`` that it
knows, and ``structure``: the JSON form of ``structures.structure.Structure``, or None."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What a provider is asked.

    Attributes
    ----------
    limit
        Structures at most.
    deadline
        On the monotonic clock.
    """

    query: Query
    limit: int
    deadline: float


@dataclass(frozen=True, slots=True)
class Answer:
    """What a provider answers.

    Attributes
    ----------
    more
        Whether it has others.
    notices
        Sentences on what is not in the answer.
    """

    entries: tuple[Entry, ...]
    more: bool = False
    notices: tuple[str, ...] = ()


class Provider(Protocol):
    """Somebody who has structures."""

    @property
    def name(self) -> str:
        """What stands before the colon of ``provider:id``."""

    @property
    def title(self) -> str:
        """For people."""

    @property
    def kind(self) -> Literal["embedded", "project", "files", "optimade", "materials_project"]:
        """Of which kind it is."""

    @property
    def network(self) -> bool:
        """Whether it needs a network; then its answers are kept."""

    @property
    def address(self) -> str:
        """What an answer belongs to: of another address it is another answer."""

    def problem(self) -> MaterialsError | None:
        """Why it cannot be asked at all; found out without asking it."""

    def search(self, asked: Asked) -> Answer:
        """Look for structures; raises ``MaterialsError`` with a status."""

    def get(self, key: str, asked: Asked) -> Entry:
        """Return one structure; raises ``NotFound`` and ``MaterialsError``."""


@dataclass(frozen=True, slots=True)
class MaterialsSettings:
    """The settings of the daemon that concern the providers.

    Attributes
    ----------
    optimade
        The user's name of each database → its base URL; an empty one is skipped.
    folders
        Absolute paths of folders with structure files.
    mp_api_key
        Of the Materials Project; empty where there is none.
    offline
        No provider on the network is asked.
    """

    optimade: Mapping[str, str]
    folders: Sequence[str]
    mp_api_key: str = field(repr=False)
    mp_url: str
    offline: bool


@dataclass(frozen=True, slots=True)
class KeptEntry:
    """A structure that a provider on the network gave."""

    entry: Entry
    retrieved_at: float


@dataclass(frozen=True, slots=True)
class KeptAnswer:
    """An answer of a provider on the network."""

    entries: tuple[KeptEntry, ...]
    more: bool
    retrieved_at: float


class SearchCache(Protocol):
    """Keeps what providers on the network gave."""

    def keep(self, provider: str, question: str, answer: Answer, now: float) -> None:
        """Keep an answer with its structures, instead of an earlier one."""

    def answer(self, provider: str, question: str) -> KeptAnswer | None:
        """Return the answer to a question."""

    def keep_entry(self, provider: str, entry: Entry, now: float) -> None:
        """Keep one structure."""

    def entry(self, provider: str, key: str) -> KeptEntry | None:
        """Return one structure."""


class JobStructures(Protocol):
    """The structures that jobs ended with."""

    def structures_of_jobs(
        self, allows: Callable[[str], bool], limit: int
    ) -> Sequence[tuple[int, str, Mapping[str, Any]]]:
        """Return number, name and structure of jobs whose formula is allowed, the newest first."""

    def structure_of_job(self, job_id: int) -> tuple[str, Mapping[str, Any]]:
        """Return name and structure of one; raises ``NotFound``."""
