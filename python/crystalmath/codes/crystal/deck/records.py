"""The parts of a ``.d12`` deck: records, items, blocks and the three sections.

Every line of the text belongs to exactly one part, so that :func:`render_deck` gives back the text
that was read. Pure text; ``deck.parse`` makes these, ``lint`` and ``cell.declared`` read them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, Literal

Severity = Literal["error", "warning"]

_NUMBER: Final = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([EeDd][+-]?\d+)?")
_INTEGER: Final = re.compile(r"[+-]?\d+")


@dataclass(frozen=True, slots=True)
class Record:
    """One line.

    Attributes
    ----------
    text
        As it stands in the file, with its line end.
    line
        Counted from 1.
    """

    text: str
    line: int

    @property
    def words(self) -> list[str]:
        """What stands between blanks."""
        return self.text.split()

    @property
    def keyword(self) -> str:
        """The first word in capitals; empty for a blank line."""
        words = self.words
        return words[0].upper() if words else ""

    @property
    def is_blank(self) -> bool:
        """Whether there is nothing on it."""
        return not self.text.strip()

    @property
    def starts_with_letter(self) -> bool:
        """Whether it can be a keyword; a data record starts with a number."""
        stripped = self.text.lstrip()
        return stripped[:1].isalpha()

    @property
    def is_end(self) -> bool:
        """Whether it closes a block, in any spelling (``END``, ``ENDSCF``, ``ENDG`` …)."""
        return self.keyword.startswith("END")

    def column(self, index: int) -> int:
        """Column, from 1, of the word with this index; behind the last one if there are fewer."""
        starts = [match.start() for match in re.finditer(r"\S+", self.text)]
        return (starts[index] if index < len(starts) else len(self.text.rstrip())) + 1

    def numbers(self) -> list[float | None]:
        """Every word as a number; None for what is none, or not finite."""
        return [number(word) for word in self.words]

    def integers(self) -> list[int | None]:
        """Every word as a whole number; None for what is none."""
        return [integer(word) for word in self.words]


def number(word: str) -> float | None:
    """Return what Fortran reads as a finite real number, else None."""
    if not _NUMBER.fullmatch(word):
        return None
    value = float(word.upper().replace("D", "E"))
    return value if abs(value) < 1e300 else None


def integer(word: str) -> int | None:
    """Return what Fortran reads as a default integer, else None."""
    value = int(word) if _INTEGER.fullmatch(word) and len(word) < 12 else None
    return value if value is not None and abs(value) < 2**31 else None


@dataclass(frozen=True, slots=True)
class Finding:
    """Something to say about a deck.

    Attributes
    ----------
    line, column
        From 1.
    code
        A short name of the rule.
    fix
        What to write instead, as a sentence; empty when there is no telling.
    """

    line: int
    column: int
    severity: Severity
    code: str
    message: str
    fix: str = ""


@dataclass(frozen=True, slots=True)
class Item:
    """A keyword with its data records, or a block with what stands inside and its END."""

    record: Record
    data: tuple[Record, ...] = ()
    children: tuple[Item, ...] = ()
    is_block: bool = False
    end: Record | None = None

    @property
    def keyword(self) -> str:
        """In capitals."""
        return self.record.keyword

    def records(self) -> Iterator[Record]:
        """All lines, in their order."""
        yield self.record
        yield from self.data
        for child in self.children:
            yield from child.records()
        if self.end is not None:
            yield self.end

    def find(self, keyword: str) -> Item | None:
        """The first child of this name."""
        return find(self.children, keyword)


def find(items: tuple[Item, ...], keyword: str) -> Item | None:
    """The first of these items with this keyword."""
    return next((item for item in items if item.keyword == keyword), None)


@dataclass(frozen=True, slots=True)
class Geometry:
    """The first section, without its title.

    Attributes
    ----------
    dimension
        ``CRYSTAL``, ``SLAB``, ``POLYMER``, ``MOLECULE``, ``EXTERNAL`` or what stands there.
    end
        None where ``BASISSET`` closes the section, or nothing does.
    """

    dimension: Record | None = None
    flags: Record | None = None
    group: Record | None = None
    shift: Record | None = None
    lattice: Record | None = None
    count: Record | None = None
    sites: tuple[Record, ...] = ()
    items: tuple[Item, ...] = ()
    end: Record | None = None

    def records(self) -> Iterator[Record]:
        """All lines, in their order."""
        heads = (self.dimension, self.flags, self.group, self.shift, self.lattice, self.count)
        for record in heads:
            if record is not None:
                yield record
        yield from self.sites
        for item in self.items:
            yield from item.records()
        if self.end is not None:
            yield self.end

    @property
    def kind(self) -> str:
        """The dimension keyword; empty when there is none."""
        return "" if self.dimension is None else self.dimension.keyword


@dataclass(frozen=True, slots=True)
class BasisSection:
    """The second section: a library by name, or the shells of every species.

    Attributes
    ----------
    library
        The item ``BASISSET``, which closes the geometry too.
    shells
        The records up to ``99 0``, this one included.
    """

    library: Item | None = None
    shells: tuple[Record, ...] = ()
    items: tuple[Item, ...] = ()
    end: Record | None = None

    def records(self) -> Iterator[Record]:
        """All lines, in their order."""
        if self.library is not None:
            yield from self.library.records()
        yield from self.shells
        for item in self.items:
            yield from item.records()
        if self.end is not None:
            yield self.end

    @property
    def name(self) -> str | None:
        """Name of the library, if one is used."""
        if self.library is None or not self.library.data:
            return None
        return self.library.data[0].text.strip()


@dataclass(frozen=True, slots=True)
class Deck:
    """A whole deck.

    Attributes
    ----------
    blanks
        Blank lines, which stand anywhere and mean nothing.
    rest
        What follows the last END.
    findings
        What the parser met: blocks that do not close, records that are missing.
    """

    title: Record | None
    geometry: Geometry
    basis: BasisSection
    scf: tuple[Item, ...] = ()
    end: Record | None = None
    rest: tuple[Record, ...] = ()
    blanks: tuple[Record, ...] = ()
    findings: tuple[Finding, ...] = field(default=())

    def records(self) -> list[Record]:
        """All lines, in the order of the file."""
        parts = [self.title, *self.geometry.records(), *self.basis.records()]
        for item in self.scf:
            parts.extend(item.records())
        parts += [self.end, *self.rest, *self.blanks]
        return sorted((part for part in parts if part is not None), key=lambda part: part.line)

    def scf_item(self, keyword: str) -> Item | None:
        """The first keyword of this name in the third section."""
        return find(self.scf, keyword)

    @property
    def lines(self) -> int:
        """Number of lines."""
        return max((record.line for record in self.records()), default=0)


def render_deck(deck: Deck) -> str:
    """The text that was read, or made of the parts."""
    return "".join(record.text for record in deck.records())
