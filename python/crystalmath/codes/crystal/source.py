"""A deck as a structure source: the crystal that its records describe, all atoms of the cell.

What a keyword of the geometry section changes is known to the program alone, so a deck with one is
refused. Called in worker processes, which ``server.proc_worker`` tells of it.
"""

from __future__ import annotations

from pathlib import PurePath
from typing import Final, NoReturn

from crystalmath.codes.crystal.cell.declared import Declared, NotDeclared, declared
from crystalmath.codes.crystal.deck.parse import parse_deck
from crystalmath.codes.crystal.deck.records import Deck, Finding
from crystalmath.codes.crystal.lint.geometry import check_records
from crystalmath.codes.crystal.tables.keywords import SAME_CRYSTAL
from crystalmath.errors import InputRejected
from crystalmath.structures.checks import check_count
from crystalmath.structures.structure import Structure
from crystalmath.structures.text import SourceText

READER: Final = "crystalmath d12 1"
_OF_THE_CRYSTAL: Final = frozenset(
    {"deck-empty", "dimension-missing", "record-missing", "sites-count"}
)
"""Findings of the parser that say something of the cell or the sites."""


def read_deck(source: SourceText) -> Structure:
    """Read the crystal of a ``.d12``: all atoms of the conventional cell.

    Raises
    ------
    InputRejected
        With the line at fault, or with the name of the file that the geometry is in.
    """
    deck = parse_deck(source.text)
    _refuse_external(deck, source)
    _refuse_wrong(deck, source)
    _refuse_changed(deck, source)
    try:
        crystal = declared(deck)
    except NotDeclared as error:
        line = "" if error.record is None else f"line {error.record.line}: "
        raise InputRejected(
            f"{line}{error}", hint=_instead("its geometry"), field=source.field
        ) from None
    check_count(len(crystal.sites))
    structure = all_atoms(crystal)
    if deck.scf_item("ATOMSPIN") is not None:
        structure.warnings.append("the spins of ATOMSPIN are not taken over: give them again")
    if deck.title is not None and deck.title.text.strip():
        structure.source["title"] = deck.title.text.strip()
    return structure


def all_atoms(crystal: Declared) -> Structure:
    """The structure that is declared, whose labels are those of elements."""
    expanded = crystal.expand()
    return Structure(
        crystal.cell if any(crystal.periodic) else None,
        crystal.periodic,
        crystal.symbols(expanded),
        expanded.fractions @ crystal.cell,
        READER,
    )


def _refuse_external(deck: Deck, source: SourceText) -> None:
    if deck.geometry.kind != "EXTERNAL":
        return
    gui = f"{PurePath(source.name).stem}.gui" if source.name else "the .gui that belongs to it"
    raise InputRejected(
        f"the deck is EXTERNAL: its geometry is not in it but in {gui}",
        hint=f"give {gui}" if source.name else "give the .gui (fort.34)",
        field=source.field,
    )


def _refuse_wrong(deck: Deck, source: SourceText) -> None:
    found = [finding for finding in deck.findings if finding.code in _OF_THE_CRYSTAL]
    found += [finding for finding in check_records(deck.geometry) if finding.severity == "error"]
    if found:
        _refuse(min(found, key=lambda finding: finding.line), source)


def _refuse(finding: Finding, source: SourceText) -> NoReturn:
    raise InputRejected(
        f"line {finding.line}: {finding.message}", hint=finding.fix or None, field=source.field
    )


def _refuse_changed(deck: Deck, source: SourceText) -> None:
    for item in deck.geometry.items:
        if item.keyword not in SAME_CRYSTAL:
            raise InputRejected(
                f"line {item.record.line}: what {item.keyword} makes of the crystal is known to "
                "CRYSTAL alone",
                hint=f"take {item.keyword} out if the crystal without it is meant; "
                f"{_instead('what it makes')}",
                field=source.field,
            )


def _instead(what: str) -> str:
    return f"for {what} run the deck with EXTPRT and TESTGEOM, and give the .gui that it writes"
