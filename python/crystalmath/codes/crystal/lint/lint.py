"""The linter of CRYSTAL decks: everything that can be told from the text alone.

:func:`lint_text` is what a worker process of the ``proc`` lane runs; the generator calls
:func:`lint_deck` on its own decks.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any, Final

from crystalmath.codes.crystal.cell.declared import Declared, NotDeclared, declared
from crystalmath.codes.crystal.cell.expand import Expanded
from crystalmath.codes.crystal.deck.parse import parse_deck
from crystalmath.codes.crystal.deck.records import Deck, Finding
from crystalmath.codes.crystal.lint.basis import check_basis
from crystalmath.codes.crystal.lint.geometry import check_atoms, check_geometry
from crystalmath.codes.crystal.lint.hamiltonian import check_hamiltonian
from crystalmath.codes.crystal.lint.scf import check_scf
from crystalmath.codes.crystal.lint.text import check_text, check_title

MAX_FINDINGS: Final = 200
MAX_EXPANDED_SITES: Final = 2000


def lint_text(text: str) -> list[dict[str, Any]]:
    """Find what is wrong with a deck; the fields of ``deck.records.Finding`` as JSON values."""
    return [asdict(finding) for finding in lint_deck(text)]


def lint_deck(text: str) -> list[Finding]:
    """Find what is wrong with a deck, in the order of its lines."""
    deck = parse_deck(text.replace("\r", " ").replace("\t", " "))
    found = [*check_text(text), *check_title(deck), *deck.findings, *check_geometry(deck)]
    crystal, expanded = _crystal(deck)
    if crystal is not None and expanded is not None and not _has_errors(found):
        found += check_atoms(deck, crystal, expanded)
    counts = expanded.multiplicities if expanded is not None else None
    if deck.geometry.dimension is not None:
        found += check_basis(deck, counts)
        found += check_scf(deck, crystal)
        found += check_hamiltonian(deck)
    once = list(dict.fromkeys(found))
    return sorted(once, key=lambda finding: (finding.line, finding.column))[:MAX_FINDINGS]


def _has_errors(found: list[Finding]) -> bool:
    return any(finding.severity == "error" and finding.code in _GEOMETRY for finding in found)


_GEOMETRY: Final = {"number", "lattice", "lattice-count", "sites-count", "nat", "group", "flags"}
"""With one of these the atoms that the deck makes mean nothing."""


def _crystal(deck: Deck) -> tuple[Declared | None, Expanded | None]:
    try:
        crystal = declared(deck)
    except (NotDeclared, ValueError):
        return None, None
    if len(crystal.sites) > MAX_EXPANDED_SITES:
        return crystal, None
    return crystal, crystal.expand()
