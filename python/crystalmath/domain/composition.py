"""What a crystal is made of: formulas as people write them, read and written again. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from math import gcd
from typing import Final

from crystalmath.domain.elements import NUMBERS

ELEMENTS: Final = frozenset(NUMBERS) - {"X"}
"""Symbols of the elements."""

_TOKEN = re.compile(r"([A-Z][a-z]?)([\d.]*)|(\()|\)([\d.]*)")
_MOST_ATOMS: Final = 1_000_000


class FormulaError(ValueError):
    """A text is no formula; the message says why."""


def parse_formula(text: str) -> Counter[str]:
    """Read a formula with whole amounts: ``TiO2``, ``Ca(OH)2``.

    Case tells elements apart: ``CO`` is carbon and oxygen, ``Co`` is cobalt.

    Returns
    -------
    Counter
        Element → amount, as written.

    Raises
    ------
    FormulaError
    """
    if not text:
        raise FormulaError("a formula is needed")
    groups: list[Counter[str]] = [Counter()]
    at = 0
    while at < len(text):
        token = _TOKEN.match(text, at)
        if token is None:
            raise FormulaError(f"{text!r} is not a formula: {_complaint(text, at)}")
        at = token.end()
        symbol, amount, opens, times = token.groups()
        if symbol is not None:
            if symbol not in ELEMENTS:
                where = "" if symbol == text else f" in {text!r}"
                raise FormulaError(f"{symbol!r}{where} is no element")
            groups[-1][symbol] += _amount(amount, text)
        elif opens is not None:
            groups.append(Counter())
        else:
            _close(groups, _amount(times, text), text)
    if len(groups) > 1:
        raise FormulaError(f"{text!r} is not a formula: a parenthesis is not closed")
    if sum(groups[0].values()) > _MOST_ATOMS:
        raise FormulaError(f"{text!r} has more than {_MOST_ATOMS} atoms")
    return groups[0]


def _close(groups: list[Counter[str]], times: int, text: str) -> None:
    if len(groups) == 1:
        raise FormulaError(f"{text!r} is not a formula: a parenthesis was not opened")
    inner = groups.pop()
    if not inner:
        raise FormulaError(f"{text!r} is not a formula: nothing stands in the parentheses")
    for symbol, amount in inner.items():
        groups[-1][symbol] += amount * times


def _amount(digits: str, text: str) -> int:
    if not digits:
        return 1
    if "." in digits:
        raise FormulaError(f"{text!r} is not a formula here: amounts must be whole numbers")
    if len(digits) > 7 or int(digits) == 0:
        raise FormulaError(f"{text!r} is not a formula: an amount is 0 or too large")
    return int(digits)


def _complaint(text: str, at: int) -> str:
    found = text[at]
    if found == ",":
        return "alternatives like (Mg,Fe) have no fixed amounts"
    return f"{found!r} is not expected there"


def reduced(counts: Mapping[str, int]) -> Counter[str]:
    """Divide the amounts by what they have in common."""
    divisor = gcd(*counts.values()) if counts else 1
    return Counter({symbol: amount // divisor for symbol, amount in counts.items()})


def hill(counts: Mapping[str, int]) -> str:
    """Write a formula in Hill order: carbon, then hydrogen, then the alphabet.

    Without carbon, hydrogen takes its place in the alphabet.
    """
    first = [symbol for symbol in ("C", "H") if symbol in counts] if "C" in counts else []
    order = [*first, *sorted(symbol for symbol in counts if symbol not in first)]
    return _written((symbol, counts[symbol]) for symbol in order)


def alphabetical(counts: Mapping[str, int]) -> str:
    """Write a formula in the order of the alphabet, as OPTIMADE does: ``O2Ti``."""
    return _written(sorted(counts.items()))


def anonymous(counts: Mapping[str, int]) -> str:
    """Write the amounts alone, the largest first: ``A2B`` of TiO2."""
    amounts = sorted(counts.values(), reverse=True)
    return _written((_letter(place), amount) for place, amount in enumerate(amounts))


def _letter(place: int) -> str:
    """A to Z, then Aa, Ba … Za, Ab: the names of OPTIMADE."""
    first = chr(ord("A") + place % 26)
    return first if place < 26 else first + chr(ord("a") + place // 26 - 1)


def _written(parts: Iterable[tuple[str, int]]) -> str:
    return "".join(f"{name}{'' if amount == 1 else amount}" for name, amount in parts)
