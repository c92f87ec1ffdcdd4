"""The records of BAND and DOSS: how many, and what they count."""

from __future__ import annotations

from typing import Final

from crystalmath.codes.crystal.deck.records import Finding, Item, Record, integer, number
from crystalmath.codes.crystal.lint.findings import bad_numbers, error, warning
from crystalmath.codes.crystal.tables import properties as known
from crystalmath.codes.crystal.wave import Wave

_BAND_HEAD: Final = "NSEG ISS NSUB INZB IFNB IPLO LPR66"
_DOSS_HEAD: Final = "NPRO NPT INZB IFNB IPLO NPOL NPR"
BY_ENERGY: Final = (-1, -1)
"""INZB and IFNB where a range of energies follows."""


def _head(item: Item, records: tuple[Record, ...], names: str) -> tuple[list[int], list[Finding]]:
    count = len(names.split())
    if not records:
        return [], [error(item.record, "record-missing", f"{item.keyword} has no data",
                          f"write {names}")]  # fmt: skip
    values = records[0].integers()
    if len(values) != count or None in values:
        return [], [
            error(records[0], "numbers-count",
                  f"{item.keyword} has {count} whole numbers, not {records[0].text.strip()[:40]!r}",
                  f"write {names}")
        ]  # fmt: skip
    return [value or 0 for value in values], []


def check_band(item: Item, wave: Wave | None) -> list[Finding]:
    """Look at title, head and segments of BAND."""
    if wave is not None and wave.axes == 0:
        return [error(item.record, "band", "a molecule has no bands", "take BAND out")]
    head, found = _head(item, item.data[1:], _BAND_HEAD)
    if not head:
        return found
    record, segments = item.data[1], item.data[2:]
    count, unit, points, first, last = head[:5]
    if count < 1 or unit < 1 or points < 2:
        return [
            error(record, "band", "NSEG and ISS are 1 or more, NSUB 2 or more", _BAND_HEAD)
        ]  # fmt: skip
    found += _bands(record, first, last, wave)
    if len(segments) != count:
        at = segments[-1] if segments else record
        found.append(
            error(at, "segments-count", f"NSEG is {count}, but {len(segments)} segments follow",
                  f"write {len(segments)} for NSEG, or the segments that are missing")
        )  # fmt: skip
    for segment in segments:
        found += _segment(segment, wave)
    return found


def _bands(record: Record, first: int, last: int, wave: Wave | None) -> list[Finding]:
    if first < 1 or last < first:
        return [
            error(record, "bands", f"{first} to {last} are no bands",
                  "they count from 1, the last one is not before the first", 2)
        ]  # fmt: skip
    if wave is not None and wave.n_orbitals is not None and last > wave.n_orbitals:
        return [
            error(record, "bands", f"there are {wave.n_orbitals} bands, as many as orbitals, and "
                  f"not {last}", f"write {wave.n_orbitals}", 3)
        ]  # fmt: skip
    return []


def _segment(record: Record, wave: Wave | None) -> list[Finding]:
    values = record.integers()
    if len(values) != 6 or None in values:
        return [
            error(record, "segment", "a segment is six whole numbers: both ends in units of 1/ISS",
                  "write them like 0 0 0  2 0 2")
        ]  # fmt: skip
    if values[:3] == values[3:]:
        return [error(record, "segment", "both ends of the segment are the same point",
                      "take the segment out, or write its other end")]  # fmt: skip
    axes = None if wave is None else wave.axes
    if axes is not None and any(value for value in (*values[axes:3], *values[3 + axes :])):
        return [
            error(record, "segment", f"it leaves the {axes} axes along which the crystal repeats",
                  "the other numbers of both ends are 0", axes)
        ]  # fmt: skip
    return []


def check_doss(item: Item, wave: Wave | None) -> list[Finding]:
    """Look at head, range and projections of DOSS."""
    head, found = _head(item, item.data, _DOSS_HEAD)
    if not head:
        return found
    record, rest = item.data[0], item.data[1:]
    projections, points, first, last, _, polynomials, _ = head
    if not 0 <= projections <= known.MAX_PROJECTIONS or points < 2:
        return [
            error(record, "doss", f"NPRO is 0 to {known.MAX_PROJECTIONS}, NPT 2 or more",
                  _DOSS_HEAD)
        ]  # fmt: skip
    if not 0 <= polynomials <= known.MAX_POLYNOMIALS:
        found.append(
            error(record, "doss", f"NPOL {polynomials} is not 0 to {known.MAX_POLYNOMIALS}",
                  "12 or 14 are usual", 5)
        )  # fmt: skip
    if (first, last) == BY_ENERGY:
        if not rest:
            return [*found, error(record, "record-missing", "the range of energies is missing",
                                  "write both ends in hartree on the next record")]  # fmt: skip
        found += _energies(rest[0])
        rest = rest[1:]
    else:
        found += _bands(record, first, last, wave)
    return found + _projections(record, rest, projections, wave)


def _energies(record: Record) -> list[Finding]:
    wrong = bad_numbers([record])
    if wrong:
        return wrong
    values = [number(word) or 0.0 for word in record.words]
    if len(values) != 2 or values[0] >= values[1]:
        return [error(record, "energies", "the range is two energies in hartree, the lower first",
                      "write them like -0.5 0.3")]  # fmt: skip
    if max(abs(value) for value in values) > 10 and abs(values[1] - values[0]) < 100:
        return [warning(record, "energies", "the energies are in hartree, and these are far",
                        "1 hartree is 27.2 eV")]  # fmt: skip
    return []


def _projections(
    head: Record, records: tuple[Record, ...], count: int, wave: Wave | None
) -> list[Finding]:
    """Each is ``n`` and n orbitals, or ``-n`` and n atoms; one may go on on the next line."""
    words = [(record, index, word) for record in records for index, word in enumerate(record.words)]
    at = 0
    for which in range(count):
        if at >= len(words):
            return [
                error(head, "projections-count", f"NPRO is {count}, but {which} follow",
                      "write the projections that are missing, or count them again")
            ]  # fmt: skip
        record, index, word = words[at]
        many = integer(word)
        if not many:
            return [error(record, "projection", f"{word[:20]!r} is no number of orbitals or atoms",
                          "write n and n orbitals, or -n and n atoms", index)]  # fmt: skip
        members = words[at + 1 : at + 1 + abs(many)]
        at += 1 + abs(many)
        if len(members) < abs(many):
            return [error(record, "projection",
                          f"{abs(many)} numbers belong to it, and {len(members)} follow",
                          "count them again", index)]  # fmt: skip
        wrong = _members(members, many, wave)
        if wrong is not None:
            return [wrong]
    if at < len(words):
        return [error(words[at][0], "projections-count",
                      f"NPRO is {count}, but more records follow", "count them again")]  # fmt: skip
    return []


def _members(
    members: list[tuple[Record, int, str]], many: int, wave: Wave | None
) -> Finding | None:
    what = "orbitals" if many > 0 else "atoms"
    limit = None if wave is None else (wave.n_orbitals if many > 0 else wave.n_atoms)
    for record, index, word in members:
        value = integer(word)
        if value is None or value < 1 or (limit is not None and value > limit):
            there = "" if limit is None else f": the primitive cell has {limit}"
            return error(record, "projection", f"{word[:20]!r} is none of its {what}{there}",
                         "they count from 1", index)  # fmt: skip
    return None
