"""Chemical formulas of lists of atoms. Pure; called by the readers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from crystalmath.domain.composition import hill, reduced


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
    return hill(reduced(Counter(symbols)))


def cell_formula(symbols: Iterable[str]) -> str:
    """Return the formula of all atoms: ``Mg4O4`` for the conventional cell of MgO."""
    return hill(Counter(symbols))
