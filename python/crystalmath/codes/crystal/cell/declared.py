"""The crystal that a deck declares: cell, operators and sites, read from its records.

Says why a deck declares none. Runs in worker processes; used by the linter, by the generator's
check of its own text, and to read a deck as a structure.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crystalmath.codes.crystal.cell.expand import Expanded, expand
from crystalmath.codes.crystal.cell.lattice import NOT_PERIODIC_A, cell_from_record
from crystalmath.codes.crystal.cell.settings import Setting, layer_setting, space_setting
from crystalmath.codes.crystal.deck.records import Deck, Geometry, Record
from crystalmath.codes.crystal.tables import groups
from crystalmath.structures.species import element_of_number
from crystalmath.structures.structure import Floats, Integers
from crystalmath.structures.symmetry.settings import TWO_ORIGINS

PERIODIC = {
    "CRYSTAL": (True, True, True),
    "SLAB": (True, True, False),
    "POLYMER": (True, False, False),
    "MOLECULE": (False, False, False),
}


class NotDeclared(ValueError):
    """A deck from which no crystal can be made; ``record`` is where."""

    def __init__(self, message: str, record: Record | None) -> None:
        super().__init__(message)
        self.record = record


@dataclass(frozen=True, slots=True)
class Declared:
    """What the geometry records say.

    Attributes
    ----------
    cell
        Conventional, row vectors, Å; 500 Å stand for an axis along which nothing repeats.
    numbers
        NAT of each listed site.
    sites
        Fractions of ``cell``, shape (n_sites, 3), in the setting of ``setting``.
    """

    dimension: str
    group: int
    cell: Floats
    setting: Setting
    numbers: tuple[int, ...]
    sites: Floats

    @property
    def periodic(self) -> tuple[bool, bool, bool]:
        """Along which axes the crystal repeats."""
        return PERIODIC[self.dimension]

    def expand(self) -> Expanded:
        """All atoms of the conventional cell."""
        return expand(self.sites, self.setting, self.cell, self.periodic)

    def elements(self, expanded: Expanded) -> Integers:
        """Atomic number of each expanded atom."""
        return np.array([self.numbers[site] % 100 for site in expanded.site], dtype=np.int64)

    def symbols(self, expanded: Expanded) -> list[str]:
        """Element of each expanded atom; the labels of the sites must be those of elements."""
        symbols = []
        for site in expanded.site:
            symbol = element_of_number(self.numbers[site])
            assert symbol is not None, "the labels of the sites were looked at"
            symbols.append(symbol)
        return symbols


def declared(deck: Deck) -> Declared:
    """Read the crystal of a deck.

    Raises
    ------
    NotDeclared
        A record is missing or says nothing that can be used.
    """
    geometry = deck.geometry
    kind = geometry.kind
    if kind not in PERIODIC:
        raise NotDeclared(f"{kind or 'nothing'} has no geometry in the deck", geometry.dimension)
    group, ifhr, shift, choice_1 = _group(geometry)
    cell = _cell(geometry, group, ifhr)
    setting = _setting(kind, group, ifhr, choice_1=choice_1, record=geometry.group)
    numbers, coordinates = _sites(geometry)
    lengths = np.array([1.0 if axis else NOT_PERIODIC_A for axis in PERIODIC[kind]])
    return Declared(kind, group, cell, setting, numbers, coordinates / lengths + shift)


def _group(geometry: Geometry) -> tuple[int, int, Floats, bool]:
    record = geometry.group
    number = record.integers()[0] if record is not None and record.words else None
    ifhr = ifso = 0
    shift = np.zeros(3)
    if geometry.kind == "CRYSTAL":
        flags = geometry.flags.integers()[:3] if geometry.flags is not None else []
        if len(flags) < 3 or None in flags:
            raise NotDeclared("the record of flags is not three whole numbers", geometry.flags)
        if flags[0] != 0:
            raise NotDeclared("the group is given by its symbol (IFLAG 1)", geometry.flags)
        ifhr, ifso = flags[1] or 0, flags[2] or 0
        if ifso > 1:
            shift = _shift(geometry.shift)
    if number is None or not 1 <= number <= groups.HIGHEST[geometry.kind]:
        raise NotDeclared(f"there is no such group of {geometry.kind}", record)
    return number, ifhr, shift, ifso == 1 and number in TWO_ORIGINS


def _shift(record: Record | None) -> Floats:
    steps = record.integers()[:3] if record is not None else []
    if len(steps) < 3 or None in steps:
        raise NotDeclared("the shift of the origin is not three whole numbers", record)
    # x(International Tables) = x(deck) + shift/24
    return np.array([float(step or 0) for step in steps]) / groups.SHIFT_UNIT


def _cell(geometry: Geometry, group: int, ifhr: int) -> Floats:
    if geometry.kind == "MOLECULE":
        return np.eye(3) * NOT_PERIODIC_A
    record = geometry.lattice
    numbers = record.numbers() if record is not None else []
    wanted = len(groups.lattice_names(geometry.kind, group, ifhr))
    values = [value for value in numbers[:wanted] if value is not None]
    try:
        return cell_from_record(geometry.kind, group, values, ifhr)
    except ValueError as error:
        raise NotDeclared(str(error), record) from None


def _setting(kind: str, group: int, ifhr: int, *, choice_1: bool, record: Record | None) -> Setting:
    if kind == "CRYSTAL":
        return space_setting(group, ifhr, choice_1=choice_1)
    if kind == "SLAB":
        if group in groups.LAYER_ORIGIN_OPEN:
            raise NotDeclared(f"the origin of layer group {group} is not known here", record)
        return layer_setting(group)
    if group != 1:
        raise NotDeclared(f"the operators of {kind} group {group} are not known here", record)
    return space_setting(1)


def _sites(geometry: Geometry) -> tuple[tuple[int, ...], Floats]:
    numbers: list[int] = []
    rows: list[list[float]] = []
    for record in geometry.sites:
        nat = record.integers()[0]
        row = [value for value in record.numbers()[1:4] if value is not None]
        if nat is None or len(row) < 3:
            raise NotDeclared("a site is a whole number and three coordinates", record)
        numbers.append(nat)
        rows.append(row)
    return tuple(numbers), np.array(rows, dtype=float).reshape(-1, 3)
