"""What a deck sets that its numbers depend on: mesh, tolerances, basis set. Pure text."""

from __future__ import annotations

from typing import Final

from crystalmath.codes.crystal.deck.records import Deck
from crystalmath.codes.crystal.deck.shrink import read_shrink

_IN_WORDS: Final = ("TOLINTEG", "TOLDEE")


def settings_of(deck: Deck, axes: int | None) -> dict[str, str]:
    """The settings, in words; those that the deck leaves to the program are left out.

    ``k_points`` are the factors of a mesh that contains Γ, and its shifts, which are none.

    Parameters
    ----------
    axes
        Along which the crystal repeats, as the output says; None where it does not.
    """
    found: dict[str, str] = {}
    item = deck.scf_item("SHRINK")
    mesh = read_shrink(item.data, axes) if item is not None and axes else None
    if mesh is not None:
        found["k_points"] = " ".join(map(str, (*mesh.factors, 0, 0, 0)))
        found["isp"] = str(mesh.isp)
    for keyword in _IN_WORDS:
        item = deck.scf_item(keyword)
        if item is not None and item.data:
            found[keyword.lower()] = " ".join(item.data[0].words)
    if deck.basis.name is not None:
        found["basis"] = deck.basis.name
    elif deck.basis.shells:
        found["basis"] = "in the deck"
    return found
