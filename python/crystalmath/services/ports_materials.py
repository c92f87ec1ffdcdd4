"""What the services need of the place where structures are kept; implemented by ``storage``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Protocol

LOCAL: Final = "local"
"""Provider of the structures that the user has taken in: ``local:3``."""


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
