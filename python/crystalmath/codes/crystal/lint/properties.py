"""The linter of decks of properties: what each word needs, and what fits the wave function."""

from __future__ import annotations

from crystalmath.codes.crystal.deck.properties import PropertiesDeck, parse_properties
from crystalmath.codes.crystal.deck.records import Finding, Item, Record
from crystalmath.codes.crystal.deck.shrink import read_shrink
from crystalmath.codes.crystal.lint.findings import bad_numbers, error, unknown_words, warning
from crystalmath.codes.crystal.lint.mesh import breaks_symmetry, outside_axes, small_net
from crystalmath.codes.crystal.lint.states import check_band, check_doss
from crystalmath.codes.crystal.lint.text import check_text
from crystalmath.codes.crystal.tables import properties as known
from crystalmath.codes.crystal.wave import Wave

_WITHOUT_END = frozenset({"BAND", "NEWK", "DOSS", "PPAN", "POLI", "PATO", "RDFMWF"})
"""Words that have no END: one behind them ends the program."""


def lint_properties(text: str, wave: Wave | None = None) -> list[Finding]:
    """Find what is wrong with a deck of properties, in the order of its lines.

    Parameters
    ----------
    wave
        The wave function that it is for, where that is known.
    """
    deck = parse_properties(text.replace("\r", " ").replace("\t", " "))
    found = [*check_text(text), *deck.findings]
    found += unknown_words(deck.items, known.WORDS, "a deck of properties")
    found += _order(deck)
    for item in deck.items:
        if item.keyword == "NEWK":
            found += _newk(item, wave)
        elif item.keyword == "BAND":
            found += check_band(item, wave)
        elif item.keyword == "DOSS":
            found += check_doss(item, wave)
        if item.is_block and item.keyword in _WITHOUT_END:
            found.append(
                error(item.end, "end-early", f"{item.keyword} has no END: the program ends here",
                      "take this END out")
            )  # fmt: skip
    if deck.rest:
        found.append(
            warning(deck.rest[0], "after-end", "records follow the last END, and are not read",
                    "move them before it, or take them out")
        )  # fmt: skip
    once = list(dict.fromkeys(found))
    return sorted(once, key=lambda finding: (finding.line, finding.column))


def _order(deck: PropertiesDeck) -> list[Finding]:
    has_vectors = False
    found = []
    for item in deck.items:
        has_vectors = has_vectors or item.keyword == "NEWK"
        if item.keyword in known.NEED_NEWK and not has_vectors:
            found.append(
                error(item.record, "newk-missing",
                      f"{item.keyword} needs the eigenvectors that NEWK calculates",
                      "write NEWK, its mesh and 1 0 before it")
            )  # fmt: skip
            has_vectors = True  # once is enough
    return found


def _newk(item: Item, wave: Wave | None) -> list[Finding]:
    if wave is not None and wave.axes == 0:
        return [
            error(item.record, "newk", "a molecule has no reciprocal space", "take NEWK out")
        ]  # fmt: skip
    wrong = bad_numbers(item.data)
    if wrong:
        return wrong
    mesh = read_shrink(item.data)
    length = 5 if item.data and item.data[0].integers()[:1] == [0] else 2
    values = [value for record in item.data for value in record.integers()]
    if mesh is None or len(values) < length + 2 or None in values:
        return [
            error(item.data[0] if item.data else item.record, "newk",
                  "NEWK is IS ISP, or 0 ISP and three factors, and then 1 0",
                  "write its mesh, like 12 24, and 1 0 on the record behind")
        ]  # fmt: skip
    found = []
    last = item.data[-1]
    if len(values) == length + 2 and values[length] == 0:
        found.append(
            warning(last, "newk-fermi", "with 0 the Fermi energy is not calculated anew",
                    "write 1 0")
        )  # fmt: skip
    found += small_net(item.data[0], "newk", mesh.factors, mesh.isp)
    return found + _against(item, mesh.factors, wave, is_long=length == 5)


def _against(
    item: Item, factors: tuple[int, int, int], wave: Wave | None, *, is_long: bool
) -> list[Finding]:
    """The mesh beside the wave function: its axes, its symmetry, its own mesh."""
    if wave is None or wave.axes is None:
        return []
    found: list[Finding] = []
    record: Record = item.data[1] if is_long and len(item.data) > 1 else item.data[0]
    if is_long:
        outside = outside_axes(record, "newk", factors, wave.kind, wave.axes)
        if outside:
            return outside
        if wave.crystal is not None:
            found += breaks_symmetry(record, "newk", factors, wave.crystal)
    own = wave.shrink
    if own is not None and any(
        size < least for size, least in zip(factors[: wave.axes], own.factors, strict=False)
    ):
        found.append(
            warning(record, "newk-coarse", "the mesh is coarser than that of the wave function",
                    f"write {own.times(2, wave.axes).lines()[-1]} or more")
        )  # fmt: skip
    return found
