"""A deck of properties (``.d3``) as text: words with their data and blocks, read without loss.

Every line belongs to exactly one part, so that :func:`render_properties` gives back the text that
was read. What is not known here is kept: a block that closes with an END is one, known or not.
Pure text.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from crystalmath.codes.crystal.deck.parse import records_of
from crystalmath.codes.crystal.deck.records import Finding, Item, Record
from crystalmath.codes.crystal.tables import properties as known
from crystalmath.codes.crystal.tables.keywords import DIMENSIONS


@dataclass(frozen=True, slots=True)
class PropertiesDeck:
    """A whole deck of properties.

    Attributes
    ----------
    items
        What is asked for, in its order.
    end
        The last END; None where there is none.
    rest
        What follows it.
    blanks
        Blank lines, which mean nothing.
    findings
        What the parser met: blocks that do not close, records that no word takes.
    """

    items: tuple[Item, ...] = ()
    end: Record | None = None
    rest: tuple[Record, ...] = ()
    blanks: tuple[Record, ...] = ()
    strays: tuple[Record, ...] = ()
    findings: tuple[Finding, ...] = ()

    def records(self) -> list[Record]:
        """All lines, in the order of the file."""
        parts = [record for item in self.items for record in item.records()]
        parts += [*self.rest, *self.blanks, *self.strays]
        if self.end is not None:
            parts.append(self.end)
        return sorted(parts, key=lambda record: record.line)


def render_properties(deck: PropertiesDeck) -> str:
    """The text that was read."""
    return "".join(record.text for record in deck.records())


def parse_properties(text: str) -> PropertiesDeck:
    """Read a deck of properties; what does not fit is a finding, never an exception."""
    return _Reader(records_of(text)).deck()


def is_properties(text: str) -> bool:
    """Whether a text is a deck of properties rather than one of a wave function.

    The latter has a title, and the dimension behind it.
    """
    records = [record for record in records_of(text) if not record.is_blank][:2]
    if not records or any(record.keyword in DIMENSIONS for record in records[1:]):
        return False
    return records[0].keyword in known.WORDS


@dataclass(slots=True)
class _Draft:
    record: Record
    data: list[Record] = field(default_factory=list)
    children: list[_Draft] = field(default_factory=list)
    is_block: bool = False
    end: Record | None = None

    def item(self) -> Item:
        children = tuple(child.item() for child in self.children)
        return Item(self.record, tuple(self.data), children, self.is_block, self.end)


class _Reader:
    def __init__(self, lines: list[Record]) -> None:
        self._lines = lines
        self._items: list[_Draft] = []
        self._open: _Draft | None = None
        self._blanks: list[Record] = []
        self._strays: list[Record] = []
        self._findings: list[Finding] = []

    def deck(self) -> PropertiesDeck:
        ends = [index for index, record in enumerate(self._lines) if record.is_end]
        last = ends[-1] if ends else len(self._lines)
        end = None
        rest: list[Record] = []
        is_title = False
        for index, record in enumerate(self._lines):
            if end is not None:
                (self._blanks if record.is_blank else rest).append(record)
            elif is_title:
                self._items[-1].data.append(record)
                is_title = False
            elif record.is_blank:
                self._blanks.append(record)
            elif record.is_end and (self._open is not None or index != last):
                self._close(record)
            elif record.is_end:
                end = record
            elif record.starts_with_letter:
                is_title = self._begin(record)
            else:
                self._data(record)
        self._unclosed(end)
        items = tuple(draft.item() for draft in self._items)
        return PropertiesDeck(items, end, tuple(rest), tuple(self._blanks), tuple(self._strays),
                              tuple(self._findings))  # fmt: skip

    def _begin(self, record: Record) -> bool:
        """Begin a word; whether its title follows."""
        draft = _Draft(record, is_block=record.keyword in known.BLOCKS)
        if self._open is not None:
            self._open.children.append(draft)
            return False
        self._items.append(draft)
        if draft.is_block:
            self._open = draft
        return record.keyword in known.TITLED

    def _data(self, record: Record) -> None:
        owner = self._open or (self._items[-1] if self._items else None)
        if owner is not None and owner.children:
            owner = owner.children[-1]
        # behind the END of a block nothing is its own any more
        closed = owner is not None and owner.end is not None
        if owner is None or closed or owner.record.keyword in known.NO_DATA:
            self._stray(record)
        else:
            owner.data.append(record)

    def _stray(self, record: Record) -> None:
        self._strays.append(record)
        self._find(record, "record-stray", f"no keyword takes {record.text.strip()[:40]!r} here",
                   "is there a record too many, or a keyword missing?")  # fmt: skip

    def _close(self, record: Record) -> None:
        """Close the block that is open; else the last word that is not known, or the last one."""
        if self._open is not None:
            self._open.end = record
            self._open = None
            return
        candidates = [i for i, draft in enumerate(self._items) if draft.end is None]
        if not candidates:
            self._stray(record)
            return
        strange = [i for i in candidates if self._items[i].record.keyword not in known.WORDS]
        at = strange[-1] if strange else candidates[-1]
        while at - 1 in strange:  # words of its own, as little known as itself
            at -= 1
        if any(draft.end is not None for draft in self._items[at + 1 :]):
            at = len(self._items) - 1
        owner = self._items[at]
        if owner.end is not None:
            self._stray(record)
            return
        owner.children = self._items[at + 1 :]
        del self._items[at + 1 :]
        owner.is_block = True
        owner.end = record

    def _unclosed(self, end: Record | None) -> None:
        last = self._lines[-1] if self._lines else None
        if not self._items and end is None:
            self._find(last, "deck-empty", "there is nothing in the deck")
            return
        if self._open is not None:
            self._find(self._open.record, "end-missing",
                       f"{self._open.record.keyword} is not closed",
                       "write END behind its last record")  # fmt: skip
        if end is None:
            self._find(last, "end-missing", "the deck does not end with END",
                       "write END as its last line")  # fmt: skip

    def _find(self, record: Record | None, code: str, message: str, fix: str = "") -> None:
        line = record.line if record is not None else 1
        self._findings.append(Finding(line, 1, "error", code, message, fix))
