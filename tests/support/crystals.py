"""Small crystals for the tests of decks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from crystalmath.structures.structure import Structure

Make = Callable[..., dict[str, Any]]


def crystal(
    cell: Any, symbols: list[str], fractions: Any, pbc: tuple[bool, bool, bool] = (True,) * 3
) -> Structure:
    """A structure from a cell in Å (three lengths, or rows) and fractions."""
    lattice = np.asarray(cell, dtype=float)
    lattice = np.diag(lattice) if lattice.ndim == 1 else lattice
    return Structure(lattice, pbc, symbols, np.asarray(fractions, dtype=float) @ lattice)


def hexagonal(a: float, c: float) -> Any:
    return [[a, 0, 0], [-a / 2, a * 3**0.5 / 2, 0], [0, 0, c]]


FACES = [(0, 0, 0), (0, 0.5, 0.5), (0.5, 0, 0.5), (0.5, 0.5, 0)]


def rocksalt(a: float = 4.21, one: str = "Mg", other: str = "O") -> Structure:
    sites = np.array(FACES)
    return crystal([a] * 3, [one] * 4 + [other] * 4, np.vstack([sites, sites + 0.5]))


def rocksalt_primitive(a: float = 4.21) -> Structure:
    cell = np.array([[0, 1, 1], [1, 0, 1], [1, 1, 0]]) * a / 2
    return crystal(cell, ["Mg", "O"], [(0, 0, 0), (0.5, 0.5, 0.5)])


def water() -> Structure:
    positions = np.array([[0, 0, 0.1173], [0, 0.7572, -0.4692], [0, -0.7572, -0.4692]])
    return Structure(None, (False,) * 3, ["O", "H", "H"], positions)
