"""Chemical formulas. Pure; called by the readers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from math import gcd


def reduced_formula(symbols: Iterable[str]) -> str:
    """Return the reduced formula in Hill order: carbon, then hydrogen, then the alphabet.

    Without carbon, hydrogen takes its place in the alphabet.

    Examples
    --------
    >>> reduced_formula(["Mg", "O", "Mg", "O"])
    'MgO'
    >>> reduced_formula(["O", "C", "H", "H", "H", "H"])
    'CH4O'
    """
    counts = Counter(symbols)
    return _hill(counts, gcd(*counts.values()) if counts else 1)


def cell_formula(symbols: Iterable[str]) -> str:
    """Return the formula of all atoms: ``Mg4O4`` for the conventional cell of MgO."""
    return _hill(Counter(symbols), 1)


def _hill(counts: Counter[str], divisor: int) -> str:
    first = [name for name in ("C", "H") if name in counts] if "C" in counts else []
    order = first + sorted(name for name in counts if name not in first)
    return "".join(f"{name}{_amount(counts[name] // divisor)}" for name in order)


def _amount(count: int) -> str:
    return "" if count == 1 else str(count)
