"""Numbers as CRYSTAL prints them: Fortran exponents, columns that touch. Pure."""

from __future__ import annotations

import re
from typing import Final

_NUMBER: Final = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[EeDd][-+]?\d+)?")


def numbers(text: str) -> list[float]:
    """All numbers of a text, also those without a blank between them."""
    return [number(found) for found in _NUMBER.findall(text)]


def number(text: str) -> float:
    """One Fortran number.

    Raises
    ------
    ValueError
        It is none.
    """
    return float(text.replace("D", "E").replace("d", "e"))


def first(text: str) -> float | None:
    """The first number of a text."""
    found = _NUMBER.search(text)
    return None if found is None else number(found[0])


def behind(text: str, label: str) -> float | None:
    """The first number behind a label."""
    _, found, rest = text.partition(label)
    return first(rest) if found else None
