"""Magnetic moments of atoms: which of them count, and what is said where they are not used.

Pure. A structure holds what its file gives; a calculation starts from what is returned here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

_DECIMALS: Final = 2
"""Of a moment to start from, in μB. What is smaller is the noise of a calculation without spin."""


def starting_moments(moments: Sequence[float | None] | None) -> tuple[float, ...] | None:
    """Moments in μB to start a calculation from; 0 for an atom of which none is known.

    Returns
    -------
    tuple of float or None
        None where no atom has one.
    """
    if moments is None:
        return None
    found = tuple(round(float(moment or 0.0), _DECIMALS) + 0.0 for moment in moments)
    return found if any(found) else None


def moments_of_elements(
    symbols: Sequence[str], moments: Sequence[float]
) -> Mapping[str, float] | None:
    """The moment of each element in μB; None where atoms of one element differ.

    Moments of elements fit any cell of the crystal, whatever the order of its atoms.
    """
    found: dict[str, float] = {}
    for symbol, moment in zip(symbols, moments, strict=True):
        if found.setdefault(symbol, moment) != moment:
            return None
    return found


def unused_by(what: str) -> str:
    """What is said where a structure has moments and nothing takes them."""
    return f"{what} does not use magnetic moments: those of the structure change nothing"


def tag_of_moments(incar: Mapping[str, Any]) -> str | None:
    """The tag of an INCAR that says otherwise than a structure; None where none does."""
    if "MAGMOM" in incar:
        return "MAGMOM"
    return "ISPIN" if str(incar.get("ISPIN", "")).strip() in ("1", "1.0") else None


def outweighed_by(option: str) -> str:
    """What is said where an option says otherwise than the structure."""
    return f"{option} is given: the magnetic moments of the structure are not used"
