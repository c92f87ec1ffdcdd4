"""Short ways to make findings, shared by the checks."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Final

from crystalmath.codes.crystal.deck.records import Finding, Item, Record, Severity, number

_COMMON: Final = (
    "TOLDEE", "TOLINTEG", "SHRINK", "MAXCYCLE", "FMIXING", "OPTGEOM", "FREQCALC", "FULLOPTG",
    "TOLDEG", "TOLDEX", "XLGRID", "SPIN", "B3LYP", "PBE0", "HSE06",
)  # fmt: skip
"""Of two words that are as near, the one that is meant more often."""


def error(record: Record | None, code: str, message: str, fix: str = "", word: int = 0) -> Finding:
    """Something that stops the program or computes another crystal."""
    return _finding("error", record, code, message, fix, word)


def warning(
    record: Record | None, code: str, message: str, fix: str = "", word: int = 0
) -> Finding:
    """Something that may be meant."""
    return _finding("warning", record, code, message, fix, word)


def _finding(
    severity: Severity, record: Record | None, code: str, message: str, fix: str, word: int
) -> Finding:
    line = record.line if record is not None else 1
    column = record.column(word) if record is not None else 1
    return Finding(line, column, severity, code, message, fix)


def bad_numbers(records: Iterable[Record], start: int = 0) -> list[Finding]:
    """Words that are no finite number, from the given word of each record on."""
    found = []
    for record in records:
        for index, word in enumerate(record.words[start:], start=start):
            if number(word) is None:
                found.append(
                    error(record, "number", f"{word[:30]!r} is no finite number",
                          _how_to_write(word), index)
                )  # fmt: skip
    return found


def _how_to_write(word: str) -> str:
    top, slash, bottom = word.partition("/")
    if slash and top.lstrip("+-").isdigit() and bottom.isdigit() and int(bottom):
        return f"write {int(top) / int(bottom):.10f}"
    return "write a decimal number"


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The known word that is most like this one; None when none is."""
    scored = []
    for candidate in known:
        ratio = difflib.SequenceMatcher(None, word, candidate).ratio()
        if ratio >= 0.7:
            scored.append((-ratio, candidate not in _COMMON, candidate))
    return min(scored)[2] if scored else None


def unknown_words(items: Iterable[Item], known: frozenset[str], where: str) -> list[Finding]:
    """Warn of keywords that are not known in a section or block."""
    found = []
    for item in items:
        if item.keyword not in known:
            near = nearest(item.keyword, known)
            fix = f"is {near} meant?" if near else ""
            found.append(
                warning(
                    item.record, "keyword-unknown", f"{item.keyword} is not known in {where}", fix
                )
            )
    return found
