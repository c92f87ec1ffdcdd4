"""The linter of CRYSTAL decks: everything that can be told from the text alone.

:func:`lint_source` is what a worker process of the ``proc`` lane runs; the generator calls
:func:`lint_deck` on its own decks.
"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from crystalmath.codes.crystal.cell.declared import Declared, NotDeclared, declared
from crystalmath.codes.crystal.cell.expand import Expanded
from crystalmath.codes.crystal.deck.parse import parse_deck
from crystalmath.codes.crystal.deck.properties import is_properties
from crystalmath.codes.crystal.deck.records import Deck, Finding
from crystalmath.codes.crystal.lint.basis import check_basis
from crystalmath.codes.crystal.lint.geometry import check_atoms, check_geometry
from crystalmath.codes.crystal.lint.hamiltonian import check_hamiltonian
from crystalmath.codes.crystal.lint.properties import lint_properties
from crystalmath.codes.crystal.lint.scf import check_scf
from crystalmath.codes.crystal.lint.text import check_text, check_title
from crystalmath.codes.crystal.run.staging import PROPERTIES_DECK, WAVE_DECK
from crystalmath.codes.crystal.wave import wave_of
from crystalmath.errors import InputRejected

MAX_FINDINGS: Final = 200
MAX_BYTES: Final = 8 * 1024 * 1024
MAX_EXPANDED_SITES: Final = 2000


def lint_source(path: str | None = None, text: str | None = None) -> list[dict[str, Any]]:
    """Find what is wrong with a deck, of a wave function or of properties.

    Properties are compared with the ``.d12`` of the same name, where one lies beside them.

    Parameters
    ----------
    path
        Absolute path of a file, or
    text
        the deck itself.

    Returns
    -------
    list of dict
        The fields of ``contract.codes.LintFinding``.

    Raises
    ------
    InputRejected
        The file cannot be read.
    """
    given = text if text is not None else read_input(path or "")
    found = []
    for finding in _judge(given, Path(path) if path is not None else None)[:MAX_FINDINGS]:
        row = asdict(finding)
        row["hint"] = row.pop("fix")
        found.append(row)
    return found


def _judge(text: str, path: Path | None) -> list[Finding]:
    """A deck of a wave function, or one of properties: told by the file's ending, else the text."""
    ending = "" if path is None else path.suffix.lower()
    if ending == WAVE_DECK or (ending != PROPERTIES_DECK and not is_properties(text)):
        return lint_deck(text)
    beside = None if path is None else path.with_suffix(WAVE_DECK)
    known = beside is not None and beside.is_file()
    return lint_properties(text, wave_of(read_input(str(beside))) if known else None)


def read_input(path: str, field: str = "path") -> str:
    """Read a file that may be a deck.

    Raises
    ------
    InputRejected
        It is missing, unreadable, no regular file or too large.
    """
    file = Path(path)
    try:
        if not file.is_file():
            raise InputRejected("there is no such file, or it is no regular file", field=field)
        if file.stat().st_size > MAX_BYTES:
            raise InputRejected("the file is larger than 8 MiB, so it is no deck", field=field)
        content = file.read_bytes()
    except OSError as error:
        raise InputRejected(f"the file cannot be read: {error.strerror}", field=field) from error
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        return content.decode("latin-1")


def lint_deck(text: str) -> list[Finding]:
    """Find what is wrong with a deck, in the order of its lines."""
    deck = parse_deck(text.replace("\r", " ").replace("\t", " "))
    found = [*check_text(text), *check_title(deck), *deck.findings, *check_geometry(deck.geometry)]
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
