"""The cell and the atoms that a deck gives, in Å. Pure, plain floats; used by ``check``."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import Final

from crystalmath.codes.espresso.deck import Deck
from crystalmath.codes.espresso.fortran import number
from crystalmath.codes.espresso.geometry import lattice_angstrom, positions_angstrom
from crystalmath.codes.espresso.run import Cell, Matrix, Positions, Vector
from crystalmath.units import BOHR_ANGSTROM

_HALF: Final = 0.5
_HIGH: Final = sqrt(3) / 2


def lattice_of(deck: Deck) -> Matrix | None:
    """The cell vectors (Å); None for an ``ibrav`` or a unit that is not read here."""
    cell = _cell(deck)
    return None if cell is None else lattice_angstrom(cell)


def places_of(deck: Deck) -> tuple[Vector, ...] | None:
    """The atoms in Å, Cartesian; None where they cannot be told."""
    cell, card = _cell(deck), deck.cards.get("ATOMIC_POSITIONS")
    if cell is None or card is None or not deck.lists_every_atom:
        return None
    rows = _rows(card.lines[: deck.count("system", "nat")], skip=1)
    if rows is None:
        return None
    found = Positions(deck.labels, tuple(rows), card.option or "alat", card.lines)
    return positions_angstrom(found, cell)


def _cell(deck: Deck) -> Cell | None:
    alat = _alat_bohr(deck)
    if deck.value("system", "ibrav") != 0:
        vectors = None if alat is None else _bravais(deck, alat)
        return None if vectors is None else Cell(vectors, "bohr", alat)
    card = deck.cards.get("CELL_PARAMETERS")
    rows = None if card is None else _rows(card.lines[:3], skip=0)
    if card is None or rows is None or len(rows) != 3:
        return None
    unit = card.option or ("bohr" if alat is None else "alat")
    if alat is None and unit in ("bohr", "angstrom"):
        length = sqrt(sum(x * x for x in rows[0]))
        alat = length if unit == "bohr" else length / BOHR_ANGSTROM
    return Cell((rows[0], rows[1], rows[2]), unit, alat)


def _alat_bohr(deck: Deck) -> float | None:
    celldm = _number(deck, "celldm(1)")
    if celldm:
        return celldm
    a = _number(deck, "a")
    return a / BOHR_ANGSTROM if a else None


def _bravais(deck: Deck, a: float) -> Matrix | None:
    """The vectors (bohr) of the orthogonal and hexagonal lattices, as pw.x has them."""
    ibrav = deck.value("system", "ibrav")
    cubic = ibrav in (1, 2, 3, -3)
    b = a if cubic or ibrav in (4, 6, 7) else _ratio(deck, a, "celldm(2)", "b")
    c = a if cubic else _ratio(deck, a, "celldm(3)", "c")
    shapes: dict[object, Sequence[Vector]] = {
        1: ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
        2: ((-_HALF, 0, _HALF), (0, _HALF, _HALF), (-_HALF, _HALF, 0)),
        3: ((_HALF, _HALF, _HALF), (-_HALF, _HALF, _HALF), (-_HALF, -_HALF, _HALF)),
        -3: ((-_HALF, _HALF, _HALF), (_HALF, -_HALF, _HALF), (_HALF, _HALF, -_HALF)),
        4: ((1, 0, 0), (-_HALF, _HIGH, 0), (0, 0, 1)),
        6: ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
        7: ((_HALF, -_HALF, _HALF), (_HALF, _HALF, _HALF), (-_HALF, -_HALF, _HALF)),
        8: ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    }
    if ibrav not in shapes or not b or not c:
        return None
    first, second, third = ((x * a, y * b, z * c) for x, y, z in shapes[ibrav])
    return first, second, third


def _ratio(deck: Deck, a: float, celldm: str, length: str) -> float | None:
    """A side (bohr): a multiple of the first in ``celldm``, or a length in Å."""
    if _number(deck, "celldm(1)"):
        times = _number(deck, celldm)
        return None if times is None else times * a
    side = _number(deck, length)
    return None if side is None else side / BOHR_ANGSTROM


def _number(deck: Deck, key: str) -> float | None:
    value = deck.value("system", key)
    return float(value) if isinstance(value, int | float) else None


def _rows(lines: Sequence[str], *, skip: int) -> list[Vector] | None:
    """Three numbers of each line; None where one is none, like an expression."""
    rows: list[Vector] = []
    for line in lines:
        try:
            x, y, z = (number(word) for word in line.split()[skip : skip + 3])
        except ValueError:
            return None
        rows.append((x, y, z))
    return rows
