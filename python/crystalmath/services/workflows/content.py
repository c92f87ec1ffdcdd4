"""Documents by their content: the one text of a value, its hash, and parts of it.

What a step gives is stored under its hash, and what a step needs is looked up by it. Used by the
other modules here, by ``analysis.procedures`` and by ``storage.workflows``.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from crystalmath.domain.moments import starting_moments

_ENCODER: Final = json.JSONEncoder(
    ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False
)


def text_of(value: Any) -> str:
    """JSON with one form for each value.

    Raises
    ------
    ValueError
        A number is not finite.
    """
    return _ENCODER.encode(value)


def hash_of(text: str) -> str:
    """SHA-256 of a canonical text."""
    return hashlib.sha256(text.encode()).hexdigest()


def bare_structure(document: Mapping[str, Any]) -> dict[str, Any]:
    """A structure without its history: the same atoms in the same cell have the same hash.

    Magnetic moments are part of it where there are any.
    """
    keys = ("lattice", "pbc", "symbols", "positions", "formula")
    bare = {key: document[key] for key in keys}
    moments = starting_moments((document.get("sites") or {}).get("moments"))
    return bare if moments is None else {**bare, "sites": {"moments": list(moments)}}


def part_of(document: Any, path: Sequence[str | int]) -> Any:
    """Follow keys and indices into a document.

    Raises
    ------
    KeyError, IndexError, TypeError
        There is no such part.
    """
    for key in path:
        document = document[key]
    return document
