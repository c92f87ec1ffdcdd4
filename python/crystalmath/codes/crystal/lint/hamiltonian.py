"""The Hamiltonian: functional, pair, dispersion, composite method and its basis set."""

from __future__ import annotations

from crystalmath.codes.crystal.deck.records import Deck, Finding, Item
from crystalmath.codes.crystal.lint.findings import error, nearest, warning
from crystalmath.codes.crystal.tables import functionals as table
from crystalmath.codes.crystal.tables import keywords as known


def check_hamiltonian(deck: Deck) -> list[Finding]:
    """Look at the block DFT, and at what does not go with a composite method."""
    block = deck.scf_item("DFT")
    found: list[Finding] = []
    names: list[Item] = []
    if block is not None:
        names = [item for item in block.children if item.keyword not in known.DFT]
        for item in names:
            found += _name(item)
        found += _pair(block)
        spin = block.find("SPIN") is not None
        unrestricted = deck.scf_item("UHF")
        if spin and unrestricted is not None:
            found.append(
                warning(unrestricted.record, "spin-twice", "UHF and SPIN say the same", "keep one")
            )
    composites = [item for item in names if item.keyword in table.COMPOSITES]
    composites += [item for item in deck.scf if item.keyword in table.HF_COMPOSITES]
    for item in composites:
        found += _composite(deck, item)
    found += _spin_without_shell(deck, block)
    return found


def _name(item: Item) -> list[Finding]:
    word = item.keyword
    plain = table.without_d3(word)
    if word.endswith("-D3"):
        if plain in table.COMPOSITES:
            return [error(item.record, "composite-d3", f"{plain} has its own dispersion correction",
                          f"write {plain}")]  # fmt: skip
        if plain not in table.WITH_D3:
            return [error(item.record, "d3", f"there is no keyword {word}",
                          f"write {plain}, and a block DFTD3 … END")]  # fmt: skip
        return []
    if plain in table.COMPOSITES or table.single(plain) is not None:
        return []
    if plain in table.PAIRS:
        exchange, correlation = table.PAIRS[plain]
        return [error(item.record, "functional-pair", f"{plain} is written as two keywords",
                      f"write EXCHANGE / {exchange} / CORRELAT / {correlation}")]  # fmt: skip
    near = nearest(word, [*table.SINGLE, *table.COMPOSITES, *known.DFT])
    return [warning(item.record, "keyword-unknown", f"{word} is not known in DFT",
                    f"is {near} meant?" if near else "")]  # fmt: skip


def _pair(block: Item) -> list[Finding]:
    exchange, correlation = block.find("EXCHANGE"), block.find("CORRELAT")
    if exchange is None and correlation is None:
        return []
    if exchange is None or correlation is None:
        there, lacking = (
            (exchange, "CORRELAT") if correlation is None else (correlation, "EXCHANGE")
        )
        assert there is not None
        what = "exact exchange is" if lacking == "EXCHANGE" else "no correlation is"
        return [warning(there.record, "functional-pair",
                        f"{there.keyword} without {lacking}: {what} used",
                        f"add {lacking} and a name")]  # fmt: skip
    names = [item.data[0].keyword if item.data else "" for item in (exchange, correlation)]
    problem = table.pair_problem(*names)
    if problem is None:
        return []
    at = (exchange.data or (exchange.record,))[0]
    return [warning(at, "functional-pair", problem, "do the two belong together?")]


def _composite(deck: Deck, item: Item) -> list[Finding]:
    found = []
    d3 = deck.scf_item("DFTD3")
    if d3 is not None:
        said = f"{item.keyword} has its own dispersion correction"
        found.append(error(d3.record, "composite-d3", said, "take DFTD3 out"))
    library = table.COMPOSITES[item.keyword]
    if deck.basis.name is not None and deck.basis.name.upper() != library.upper():
        record = deck.basis.library.data[0] if deck.basis.library else item.record
        found.append(error(record, "composite-basis", f"{item.keyword} is made for {library}",
                           f"write {library}"))  # fmt: skip
    return found


def _spin_without_shell(deck: Deck, block: Item | None) -> list[Finding]:
    opened = deck.scf_item("UHF") or deck.scf_item("ROHF") or (block and block.find("SPIN"))
    if opened:
        return []
    return [
        error(item.record, "spin-closed", f"{item.keyword} in a closed-shell calculation",
              "write UHF, or SPIN inside DFT")
        for item in deck.scf
        if item.keyword in ("ATOMSPIN", "SPINLOCK")
    ]  # fmt: skip
