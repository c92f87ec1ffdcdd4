"""The SCF section: numbers of each keyword, the mesh, the Hamiltonian."""

from __future__ import annotations

from typing import Final

from crystalmath.codes.crystal.cell.declared import Declared
from crystalmath.codes.crystal.deck.records import Deck, Finding, Item
from crystalmath.codes.crystal.lint.findings import bad_numbers, error, unknown_words, warning
from crystalmath.codes.crystal.lint.geometry import outside_optgeom
from crystalmath.codes.crystal.lint.mesh import breaks_symmetry, outside_axes, small_net
from crystalmath.codes.crystal.tables import keywords as known

COUNTS: Final = {"TOLINTEG": 5, "TOLDEE": 1, "MAXCYCLE": 1, "FMIXING": 1, "SMEAR": 1, "LEVSHIFT": 2,
                 "SPINLOCK": 2, "LDREMO": 1, "BIPOSIZE": 1, "EXCHSIZE": 1}  # fmt: skip
WHOLE: Final = frozenset(COUNTS) - {"SMEAR"}
_FIXES: Final = {"TOLINTEG": "write five whole numbers, like 7 7 7 7 14"}


def check_scf(deck: Deck, crystal: Declared | None) -> list[Finding]:
    """Look at the third section."""
    found = unknown_words(
        [item for item in deck.scf if item.keyword not in known.OPTGEOM | known.GEOMETRY],
        known.SCF,
        "the SCF section",
    )
    for item in deck.scf:
        found += _placed(item)
        found += _numbers(item)
    found += _repeated(deck)
    if deck.rest:
        found.append(
            error(deck.rest[0], "after-end", "records follow the last END",
                  "is a section in the wrong place, or an END too many?")
        )  # fmt: skip
    if deck.scf or deck.end is not None:
        found += _shrink(deck, crystal)
        found += _smearing(deck)
    return found


def _repeated(deck: Deck) -> list[Finding]:
    """Settings that stand twice: only one of them holds, and the other may be a slip."""
    first: dict[str, Item] = {}
    found = []
    for item in deck.scf:
        before = first.setdefault(item.keyword, item)
        if before is not item and item.keyword in {*COUNTS, "SHRINK"}:
            found.append(
                warning(item.record, "repeated",
                        f"{item.keyword} stands a second time, after line {before.record.line}",
                        "take one of them out")
            )  # fmt: skip
    return found


def _placed(item: Item) -> list[Finding]:
    word = item.keyword
    if word in known.SCF:
        return []
    if word in known.TASKS or word in known.GEOMETRY:
        return [
            error(item.record, "wrong-section", f"{word} belongs to the geometry section",
                  "move it before the END of the geometry, or before BASISSET")
        ]  # fmt: skip
    return [outside_optgeom(item)] if word in known.OPTGEOM else []


def _numbers(item: Item) -> list[Finding]:
    word = item.keyword
    if word in known.TEXT_DATA or item.is_block:
        return []
    wrong = bad_numbers(item.data)
    if wrong or word not in COUNTS:
        return wrong
    words = [value for record in item.data for value in record.words]
    if len(words) != COUNTS[word]:
        many = "one number" if COUNTS[word] == 1 else f"{COUNTS[word]} numbers"
        return [
            error(item.data[0] if item.data else item.record, "numbers-count",
                  f"{word} has {many}, not {len(words)}", _FIXES.get(word, f"write {many}"))
        ]  # fmt: skip
    if word in WHOLE:
        for index, value in enumerate(item.data[0].integers()):
            if value is None:
                return [
                    error(item.data[0], "whole-number",
                          f"{word} takes whole numbers, not {item.data[0].words[index]}",
                          _whole(item.data[0].words[index]), index)
                ]  # fmt: skip
    return []


def _whole(word: str) -> str:
    mantissa, _, exponent = word.upper().replace("D", "E").partition("E-")
    if exponent.isdigit() and mantissa in ("1", "1.", "1.0"):
        return f"write the power of ten: {int(exponent)}"
    return "write a whole number"


def _shrink(deck: Deck, crystal: Declared | None) -> list[Finding]:
    item = deck.scf_item("SHRINK")
    kind = deck.geometry.kind
    if item is None:
        if kind in ("CRYSTAL", "SLAB", "POLYMER"):
            return [
                error(deck.end, "shrink-missing", "the deck has no SHRINK",
                      "write SHRINK and its record, like 8 8")
            ]  # fmt: skip
        return []
    if kind == "MOLECULE":
        said = "a molecule has no SHRINK; it is ignored"
        return [warning(item.record, "shrink", said, "take it out")]
    return _shrink_record(item, crystal)


def _shrink_record(item: Item, crystal: Declared | None) -> list[Finding]:
    values = [value for record in item.data for value in record.integers()]
    if len(values) < 2 or None in values:
        at = item.data[0] if item.data else item.record
        return [error(at, "shrink", "SHRINK has whole numbers", "write IS ISP, like 8 8")]
    numbers = [value or 0 for value in values]
    if numbers[0] == 0:
        if len(numbers) != 5 or min(numbers[1:]) < 1:
            return [
                error(item.data[-1], "shrink", "after `0 ISP` come three factors",
                      "write IS1 IS2 IS3 on the next record")
            ]  # fmt: skip
        mesh, isp = numbers[2:5], numbers[1]
    elif len(numbers) == 2 and min(numbers) >= 1:
        mesh, isp = [numbers[0]] * 3, numbers[1]
    else:
        return [error(item.data[0], "shrink", "SHRINK is IS ISP, or 0 ISP and three factors",
                      "write IS ISP, like 8 8")]  # fmt: skip
    found = small_net(item.data[0], "shrink", mesh, isp)
    if crystal is None or numbers[0] != 0:
        return found
    record, axes = item.data[-1], sum(crystal.periodic)
    outside = outside_axes(record, "shrink", mesh, crystal.dimension, axes)
    return found + (outside or breaks_symmetry(record, "shrink", mesh, crystal))


def _smearing(deck: Deck) -> list[Finding]:
    smear, shrink = deck.scf_item("SMEAR"), deck.scf_item("SHRINK")
    if smear is None or shrink is None:
        return []
    values = [value or 0 for record in shrink.data for value in record.integers()]
    largest = max(values[2:5], default=0) if values[:1] == [0] else (values or [0])[0]
    if len(values) > 1 and largest and values[1] <= largest:
        return [
            warning(smear.record, "smearing", "SMEAR is for metals, but ISP is not larger than IS",
                    "for a metal write ISP = 2·IS; for an insulator take SMEAR out")
        ]  # fmt: skip
    return []
