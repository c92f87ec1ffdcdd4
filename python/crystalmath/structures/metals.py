"""Which elements are metals, as far as that decides how a calculation is set up. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

NOT_METALS: Final = frozenset(
    {
        *("H", "B", "C", "Si", "Ge", "N", "P", "As", "Sb", "O", "S", "Se", "Te"),
        *("F", "Cl", "Br", "I", "At", "He", "Ne", "Ar", "Kr", "Xe", "Rn"),
    }
)
"""Metalloids included: an element of these alone, or with others, often has a gap."""


def are_metals(symbols: Iterable[str]) -> bool:
    """Whether all elements are metals, so that partly filled bands are likely."""
    found = set(symbols)
    return bool(found) and not found & NOT_METALS
