"""Which of the structures that several providers gave are the same. Run in worker processes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from crystalmath.structures.identity import content_hash, is_same
from crystalmath.structures.structure import Structure, of_document


def same_as(structures: Sequence[Mapping[str, Any]]) -> list[int]:
    """Say for each structure which earlier one it is; its own place where it is new.

    Parameters
    ----------
    structures
        In their JSON form; candidates for one another, the preferred first.
    """
    kept: list[tuple[int, Structure, str]] = []
    places: list[int] = []
    for place, document in enumerate(structures):
        structure = of_document(document)
        digest = content_hash(structure)
        known = next((at for at, _, other in kept if other == digest), None)
        if known is None and structure.is_crystal:
            known = next(
                (at for at, other, _ in kept if other.is_crystal and is_same(structure, other)),
                None,
            )
        if known is None:
            kept.append((place, structure, digest))
        places.append(place if known is None else known)
    return places
