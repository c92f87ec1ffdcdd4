"""Read the text of a deck into its parts; what does not fit is a finding, never an exception.

The parser knows which records follow which, and which words open a block. Whether numbers make
sense is the linter's business. Pure text.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from crystalmath.codes.crystal.deck.records import (
    BasisSection,
    Deck,
    Finding,
    Geometry,
    Item,
    Record,
    integer,
)
from crystalmath.codes.crystal.tables import keywords as known

_SECTIONS: Final = ("geometry", "basis set", "SCF")
_SCF_ONLY: Final = (known.SCF - known.GEOMETRY - known.BASIS) | {"DFT"}
_OPEN: Final = ("BASISSET", *sorted(_SCF_ONLY))


def parse_deck(text: str) -> Deck:
    """Read a deck."""
    return _Parser(text).deck()


def records_of(text: str) -> list[Record]:
    """The lines of a text, each with its line end."""
    lines = re.findall(r"[^\n]*\n|[^\n]+$", text)
    return [Record(line, index) for index, line in enumerate(lines, start=1)]


class _Parser:
    def __init__(self, text: str) -> None:
        lines = records_of(text)
        # The title may be blank; elsewhere the program skips what has nothing on it.
        self._lines = [line for index, line in enumerate(lines) if index == 0 or not line.is_blank]
        self._blanks = [line for index, line in enumerate(lines) if index and line.is_blank]
        self._at = 0
        self._findings: list[Finding] = []

    # records

    def _peek(self) -> Record | None:
        return self._lines[self._at] if self._at < len(self._lines) else None

    def _take(self) -> Record:
        record = self._lines[self._at]
        self._at += 1
        return record

    def _find(self, record: Record | None, code: str, message: str, fix: str = "") -> None:
        line = record.line if record is not None else max(1, self._last())
        self._findings.append(Finding(line, 1, "error", code, message, fix))

    def _last(self) -> int:
        return self._lines[-1].line if self._lines else 1

    def _numeric(self, what: str) -> Record | None:
        """A data record, unless a keyword or the end stands there."""
        record = self._peek()
        if record is None or (record.starts_with_letter and record.keyword not in ("T", "F")):
            where = "the deck ends" if record is None else f"{record.words[0]} stands"
            self._find(record, "record-missing", f"{where} where {what} belongs",
                       f"write {what} before it")  # fmt: skip
            return None
        return self._take()

    # sections

    def deck(self) -> Deck:
        title = self._take() if self._peek() is not None else None
        if title is None:
            self._find(None, "deck-empty", "there is nothing in the deck")
        geometry = self._geometry()
        basis = self._basis(geometry)
        stops = geometry.end is not None and any(i.keyword == "TESTGEOM" for i in geometry.items)
        scf: tuple[Item, ...] = ()
        end = None
        if self._peek() is not None or not (stops and basis.library is None and not basis.shells):
            scf, end = self._items(_is_scf_word)
            if end is None:
                self._unclosed("SCF", None)
        rest = tuple(self._lines[self._at :])
        return Deck(title, geometry, basis, scf, end, rest, tuple(self._blanks),
                    tuple(self._findings))  # fmt: skip

    def _geometry(self) -> Geometry:
        dimension = self._peek()
        if dimension is None or dimension.keyword not in known.DIMENSIONS:
            found = "the deck ends" if dimension is None else f"{dimension.text.strip()!r} stands"
            self._find(dimension, "dimension-missing",
                       f"{found} where CRYSTAL, SLAB, POLYMER, MOLECULE or EXTERNAL belongs",
                       "the first record is the title, the second the dimension")  # fmt: skip
            dimension = None
        else:
            self._take()
        kind = "" if dimension is None else dimension.keyword
        head = self._head(kind)
        items, end = self._items(lambda word: word not in _SCF_ONLY)
        if end is None and not self._is_at("BASISSET"):
            self._unclosed("geometry", self._peek())
        flags, group, shift, lattice, count = head
        sites = self._sites if count is not None else ()
        return Geometry(dimension, flags, group, shift, lattice, count, sites, items, end)

    def _head(self, kind: str) -> tuple[Record | None, ...]:
        flags = group = shift = lattice = count = None
        self._sites: tuple[Record, ...] = ()
        if kind in ("CRYSTAL", "SLAB", "POLYMER", "MOLECULE", "HELIX"):
            if kind == "CRYSTAL":
                flags = self._numeric("the record of three flags (0 0 0)")
            group = self._group(flags)
            ifso = flags.integers()[2:3] if flags is not None else []
            if ifso and (ifso[0] or 0) > 1:
                shift = self._numeric("the shift of the origin in 1/24")
            if kind != "MOLECULE":
                lattice = self._numeric("the lattice record")
            count = self._numeric("the number of sites")
            self._sites = self._listed(count)
        return flags, group, shift, lattice, count

    def _group(self, flags: Record | None) -> Record | None:
        symbol = flags is not None and flags.integers()[:1] == [1]
        if symbol and self._peek() is not None:
            return self._take()
        return self._numeric("the group")

    def _listed(self, count: Record | None) -> tuple[Record, ...]:
        wanted = (count.integers() or [None])[0] if count is not None else None
        sites: list[Record] = []
        # A site has four numbers; what follows with fewer is no site, even if the count says so.
        while wanted is not None and len(sites) < wanted:
            record = self._peek()
            if record is None or len(record.words) < 4 or integer(record.words[0]) is None:
                break
            sites.append(self._take())
        if wanted is not None and len(sites) < wanted:
            self._find(count, "sites-count", f"NATR is {wanted}, but {len(sites)} sites follow",
                       f"write {len(sites)}, or list the sites that are missing")  # fmt: skip
        surplus = self._peek()
        if wanted is not None and surplus is not None and _is_site(surplus):
            self._find(surplus, "sites-count",
                       f"NATR is {wanted}, but another site follows",
                       "count the sites again")  # fmt: skip
            while (more := self._peek()) is not None and _is_site(more):
                sites.append(self._take())
        return tuple(sites)

    def _basis(self, geometry: Geometry) -> BasisSection:
        record = self._peek()
        if record is not None and record.keyword == "BASISSET":
            return self._library(geometry)
        if record is None or record.starts_with_letter:
            return BasisSection()
        shells: list[Record] = []
        while (record := self._peek()) is not None:
            if record.starts_with_letter and record.keyword not in known.CORES:
                self._find(record, "basis-open", f"{record.words[0]} stands before 99 0",
                           "close the basis set with the record 99 0")  # fmt: skip
                break
            shells.append(self._take())
            if record.integers()[:2] == [99, 0]:
                break
        items, end = self._items(lambda word: word not in _SCF_ONLY)
        if end is None:
            self._unclosed("basis set", self._peek())
        return BasisSection(None, tuple(shells), items, end)

    def _library(self, geometry: Geometry) -> BasisSection:
        record = self._take()
        if geometry.end is not None:
            self._find(geometry.end, "end-before-basisset",
                       "BASISSET follows the END of the geometry, where an inline basis is read",
                       "take this END out: BASISSET replaces it")  # fmt: skip
        name = self._peek()
        if name is None or name.is_end or not name.words:
            self._find(record, "record-missing", "BASISSET has no name behind it",
                       "write the name of a library, like POB-TZVP-REV2")  # fmt: skip
            return BasisSection(Item(record))
        library = Item(record, (self._take(),))
        after = self._peek()
        end = None
        if after is not None and after.is_end and self._at + 1 < len(self._lines):
            end = self._take()
            self._find(end, "end-after-basisset", "END follows the name of the library",
                       "take this END out: the SCF section follows at once")  # fmt: skip
        return BasisSection(library, end=end)

    # items

    def _items(self, belongs: Callable[[str], bool]) -> tuple[tuple[Item, ...], Record | None]:
        """Keywords up to the END of the section, which is returned too."""
        items: list[Item] = []
        while (record := self._peek()) is not None:
            if record.is_end:
                return tuple(items), self._take()
            if not record.starts_with_letter:
                if belongs is _is_scf_word:
                    self._stray(self._take())
                    continue
                break
            if not belongs(record.keyword) or self._is_at("BASISSET"):
                break
            items.append(self._item())
        return tuple(items), None

    def _stray(self, record: Record) -> None:
        self._find(record, "record-stray", f"no keyword takes {record.text.strip()!r} here",
                   "is there a record too many, or a keyword missing?")  # fmt: skip
        self._blanks.append(record)

    def _item(self) -> Item:
        record = self._take()
        word = record.keyword
        if word in known.BLOCKS:
            return self._block(record)
        if word in known.TEXT_DATA:
            after = self._peek()
            return Item(record, () if after is None or after.is_end else (self._take(),))
        data: list[Record] = []
        while word not in known.NO_DATA and (after := self._peek()) is not None:
            if after.starts_with_letter or after.is_end:
                break
            data.append(self._take())
        return Item(record, tuple(data))

    def _block(self, record: Record) -> Item:
        word = record.keyword
        allowed = known.INSIDE.get(word)
        data: list[Record] = []
        children: list[Item] = []
        while (after := self._peek()) is not None:
            if after.is_end:
                return Item(record, tuple(data), tuple(children), True, self._take())
            if not after.starts_with_letter:
                self._find(after, "end-missing", f"{word} is not closed before this record",
                           "write END before it")  # fmt: skip
                break
            outside = after.keyword in _OPEN and not (allowed and after.keyword in allowed)
            if outside and not _is_inside(word, after.keyword):
                self._find(after, "end-missing", f"{word} is not closed before {after.words[0]}",
                           f"write END before {after.words[0]}")  # fmt: skip
                break
            children.append(self._item())
        else:
            self._find(None, "end-missing", f"{word} is not closed", "write END")
        return Item(record, tuple(data), tuple(children), True, None)

    def _is_at(self, word: str) -> bool:
        record = self._peek()
        return record is not None and record.keyword == word

    def _unclosed(self, section: str, before: Record | None) -> None:
        where = "at its end" if before is None else f"before {before.text.strip()[:40]!r}"
        self._find(before, "end-missing", f"the {section} section is not closed {where}",
                   "write END there")  # fmt: skip


def _is_scf_word(_word: str) -> bool:
    return True


def _is_site(record: Record) -> bool:
    words = record.words
    return len(words) >= 4 and integer(words[0]) is not None and not record.starts_with_letter \
        and all("." in word for word in words[1:4])  # fmt: skip


def _is_inside(block: str, word: str) -> bool:
    """Whether a word of the SCF section may stand in this block too."""
    if block == "DFT":
        return word in known.DFT
    return word in ("TOLDEE", "MAXCYCLE", "PRINTOUT") and block in known.INSIDE
