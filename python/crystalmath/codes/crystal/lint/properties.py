"""The linter of decks of properties: what each word needs, and what fits the wave function."""

from __future__ import annotations

from crystalmath.analysis.mesh import breaking_rotation, flattened, symmetric_mesh
from crystalmath.codes.crystal.cell.mesh import reciprocal_rotations
from crystalmath.codes.crystal.deck.properties import PropertiesDeck, parse_properties
from crystalmath.codes.crystal.deck.records import Finding, Item, Record
from crystalmath.codes.crystal.deck.shrink import read_shrink
from crystalmath.codes.crystal.lint.findings import bad_numbers, error, unknown_words, warning
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
    if mesh.isp < max(mesh.factors):
        found.append(
            warning(item.data[0], "newk", f"ISP {mesh.isp} is smaller than IS {max(mesh.factors)}",
                    "ISP is IS for insulators, twice IS for metals", 1)
        )  # fmt: skip
    return found + _against(item, mesh.factors, wave, is_long=length == 5)


def _against(
    item: Item, factors: tuple[int, int, int], wave: Wave | None, *, is_long: bool
) -> list[Finding]:
    """The mesh beside the wave function: its axes, its symmetry, its own mesh."""
    if wave is None or wave.axes is None:
        return []
    found: list[Finding] = []
    record: Record = item.data[1] if is_long and len(item.data) > 1 else item.data[0]
    if is_long and any(size != 1 for size in factors[wave.axes :]):
        right = " ".join(map(str, [*factors[: wave.axes], *[1] * (3 - wave.axes)]))
        found.append(
            error(record, "newk", f"{wave.kind} repeats along {wave.axes} axes; the other factors "
                  "are 1", f"write {right}", wave.axes)
        )  # fmt: skip
        return found
    if is_long and wave.crystal is not None:
        rotations = flattened(reciprocal_rotations(wave.crystal.setting), wave.axes)
        if breaking_rotation(factors, rotations) is not None:
            better = symmetric_mesh(factors, rotations)
            found.append(
                error(record, "newk-symmetry",
                      f"the mesh {' '.join(map(str, factors))} breaks the symmetry of group "
                      f"{wave.crystal.group}", f"write {' '.join(map(str, better))}")
            )  # fmt: skip
    own = wave.shrink
    if own is not None and any(
        size < least for size, least in zip(factors[: wave.axes], own.factors, strict=False)
    ):
        found.append(
            warning(record, "newk-coarse", "the mesh is coarser than that of the wave function",
                    f"write {own.times(2, wave.axes).lines()[-1]} or more")
        )  # fmt: skip
    return found
