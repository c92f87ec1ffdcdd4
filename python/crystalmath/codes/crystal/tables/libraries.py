"""The basis set libraries that ``BASISSET`` knows, and the elements that each covers.

A library that stands here with None has a coverage that is not known; a deck that uses it says so.
Pure data.
"""

from __future__ import annotations

from typing import Final


def _span(*parts: int | tuple[int, int], without: tuple[int, ...] = ()) -> frozenset[int]:
    numbers: set[int] = set()
    for part in parts:
        low, high = (part, part) if isinstance(part, int) else part
        numbers.update(range(low, high + 1))
    return frozenset(numbers.difference(without))


_POB_REV2_BSE: Final = _span(1, (3, 9), (11, 17), (19, 35))
_DEF2: Final = _span((1, 86), without=(82,))
LIBRARIES: Final[dict[str, frozenset[int] | None]] = {
    "STO-3G": _span((1, 53)),
    "STO-6G": None,
    "POB-TZVP-REV2": _span(
        (1, 35), (37, 53), 55, 56, (72, 84), without=(2, 10, 18, 36, 43)
    ),
    "POB-TZVP": None,
    "POB-DZVP": None,
    "POB-DZVPP": None,
    "POB-DZVP-REV2": None,
    "MINIS": None,
    "MINIX": None,
    "SOLMINIX": None,
    "6-31G*": None,
    "def2-SV(P)": None,
    "def2-SVP": None,
    "def2-TZVP": None,
    "def2-TZVPP": None,
    "mTZVP": None,
    "def2-mSVP": _DEF2,
    "SOLDEF2MSVP": _DEF2,
}  # fmt: skip
"""Name as CRYSTAL spells it → the elements it covers, or None where that is not known.

def2-mSVP and SOLDEF2MSVP: that they lack Pb is known; that they reach Rn is their family's."""

EXCHANGE_SETS: Final[dict[str, frozenset[int]]] = {
    "POB-TZVP-REV2": _POB_REV2_BSE,
    "POB-DZVP-REV2": _POB_REV2_BSE,
    "POB-TZVP": _POB_REV2_BSE | _span((37, 53), without=(43,)),
}
"""The sets of this family that basis_set_exchange holds, and what they cover there."""


def library_name(name: str) -> str | None:
    """CRYSTAL's spelling of a library; None for an unknown one."""
    return next((known for known in LIBRARIES if known.upper() == name.upper()), None)


def missing(name: str, numbers: frozenset[int]) -> list[int]:
    """The elements that a library lacks; empty where its coverage is not known."""
    covered = LIBRARIES.get(library_name(name) or "")
    return [] if covered is None else sorted(numbers - covered)
