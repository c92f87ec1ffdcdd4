"""A pw.x deck: its namelists and cards as the rest of this folder reads and changes them.

It knows the shape of a deck, not what is allowed in it; ``checks`` does. Pure text, no files.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from crystalmath.codes.espresso.elements import element_of_label
from crystalmath.codes.espresso.namelist import (
    Namelist,
    Value,
    parse_namelists,
    remove_value,
    set_value,
)

CARDS: Final = frozenset(
    {
        "ATOMIC_SPECIES",
        "ATOMIC_POSITIONS",
        "K_POINTS",
        "ADDITIONAL_K_POINTS",
        "CELL_PARAMETERS",
        "CONSTRAINTS",
        "OCCUPATIONS",
        "ATOMIC_VELOCITIES",
        "ATOMIC_FORCES",
        "SOLVENTS",
        "HUBBARD",
    }
)


@dataclass(frozen=True, slots=True)
class Card:
    """A card: its option (``alat``, ``automatic`` …; empty when none is given) and its lines.

    Attributes
    ----------
    lines
        Without blank lines and comments.
    start, end
        Offsets of the whole card in the text.
    """

    option: str
    lines: tuple[str, ...]
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Species:
    """One line of ATOMIC_SPECIES."""

    label: str
    element: str | None
    file: str


@dataclass(frozen=True, slots=True)
class Deck:
    """A deck and what was found in it."""

    text: str
    namelists: Mapping[str, Namelist]
    cards: Mapping[str, Card]

    def value(self, namelist: str, key: str, default: Value | None = None) -> Value | None:
        """A value of a namelist; the default when it is not set."""
        found = self.namelists.get(namelist)
        entry = None if found is None else found.entries.get(key)
        return default if entry is None else entry.value

    def word(self, namelist: str, key: str, default: str) -> str:
        """A value that is a string."""
        return str(self.value(namelist, key, default)).strip()

    def count(self, namelist: str, key: str) -> int | None:
        """A value that is a number of things; None when it is missing or no integer."""
        value = self.value(namelist, key)
        return value if isinstance(value, int) and not isinstance(value, bool) else None

    @property
    def calculation(self) -> str:
        """What pw.x is asked to do."""
        return self.word("control", "calculation", "scf").lower()

    @property
    def prefix(self) -> str:
        """The name that begins every file in ``outdir``."""
        return self.word("control", "prefix", "pwscf")

    @property
    def species(self) -> tuple[Species, ...]:
        """The species, as far as their lines have three words."""
        return tuple(
            Species(words[0], element_of_label(words[0]), words[2])
            for words in self._words("ATOMIC_SPECIES", self.count("system", "ntyp"))
            if len(words) >= 3
        )

    @property
    def labels(self) -> tuple[str, ...]:
        """The species label of every atom that is listed."""
        return tuple(
            words[0] for words in self._words("ATOMIC_POSITIONS", self.count("system", "nat"))
        )

    @property
    def lists_every_atom(self) -> bool:
        """False where only the atoms of the asymmetric unit are listed."""
        card = self.cards.get("ATOMIC_POSITIONS")
        return card is not None and not card.option.endswith("_sg")

    def _words(self, card: str, most: int | None) -> Sequence[list[str]]:
        found = self.cards.get(card)
        return [] if found is None else [line.split() for line in found.lines[:most]]

    def with_value(self, namelist: str, key: str, value: Value) -> Deck:
        """The deck with one value set; the namelist must be there."""
        return parse_deck(set_value(self.text, self.namelists[namelist], key, value))

    def without(self, namelist: str, key: str) -> Deck:
        """The deck with one value taken out."""
        found = self.namelists.get(namelist)
        return self if found is None else parse_deck(remove_value(self.text, found, key))

    def with_card(self, name: str, option: str, lines: Sequence[str]) -> Deck:
        """The deck with a card replaced, or added at its end."""
        header = f"{name} {option}".rstrip()
        block = "\n".join([header, *lines]) + "\n"
        card = self.cards.get(name)
        if card is None:
            gap = "" if self.text.endswith("\n") else "\n"
            return parse_deck(f"{self.text}{gap}{block}")
        return parse_deck(self.text[: card.start] + block + self.text[card.end :])


def parse_deck(text: str) -> Deck:
    """Read a deck; what is not there is missing in the result."""
    namelists = parse_namelists(text)
    begin = max((found.end for found in namelists.values()), default=0)
    return Deck(text, namelists, _cards(text, begin))


def _cards(text: str, begin: int) -> dict[str, Card]:
    found: dict[str, Card] = {}
    name, option, start, lines = "", "", begin, list[str]()
    position = begin

    def close(end: int) -> None:
        if name and name not in found:
            found[name] = Card(option, tuple(lines), start, end)

    for line in text[begin:].splitlines(keepends=True):
        words = line.split()
        if words and words[0].upper() in CARDS:
            close(position)
            name, start, lines = words[0].upper(), position, []
            option = re.sub(r"[(){}]", " ", " ".join(words[1:])).strip().lower()
        elif words and words[0][0] not in "!#":
            lines.append(line.partition("!")[0].rstrip())
        position += len(line)
    close(len(text))
    return found
