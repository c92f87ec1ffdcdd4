"""Real decks of the collection: what they say, the crystal that they make, and their text again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest

from crystalmath.codes.crystal.deck.parse import parse_deck
from crystalmath.codes.crystal.deck.properties import parse_properties, render_properties
from crystalmath.codes.crystal.deck.records import Deck, render_deck
from crystalmath.codes.crystal.lint.lint import lint_deck
from crystalmath.codes.crystal.lint.properties import lint_properties
from crystalmath.codes.crystal.source import read_deck
from crystalmath.structures.formats.gui import read_gui
from crystalmath.structures.identity import is_same
from crystalmath.structures.text import from_file
from support.crystal import CASES

DECKS: Final = CASES / "decks"
pytestmark = pytest.mark.skipif(not DECKS.is_dir(), reason="no folder of decks (CRYSTALMATH_CASES)")
_EXPECTED: Final[dict[str, Any]] = (
    json.loads((DECKS / "expected.json").read_text(encoding="utf-8"))["cells"]
    if DECKS.is_dir()
    else {}
)
_WAVES: Final = [name for name in _EXPECTED if name.endswith(".d12")]
_GEOMETRIES: Final = [name for name in _EXPECTED if name.endswith(".gui")]
_PROPERTIES: Final = sorted([*DECKS.glob("*.d3"), *CASES.glob("*.d3")]) if DECKS.is_dir() else []
_ALL: Final = sorted([*DECKS.glob("*.d12"), *CASES.glob("*.d12")]) if DECKS.is_dir() else []


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def _said(deck: Deck) -> dict[str, Any]:
    """What the expected file lists of a deck."""
    geometry = deck.geometry
    words = [item.keyword for item in geometry.items]
    if deck.basis.library is not None:
        words.append("BASISSET")
    energy = deck.scf_item("DFT")
    said: dict[str, Any] = {
        "title": None if deck.title is None else deck.title.text.strip(),
        "dimension": geometry.kind,
        "flags": None if geometry.flags is None else geometry.flags.integers()[:3],
        "group": None if geometry.group is None else geometry.group.integers()[0],
        "lattice_record": None if geometry.lattice is None else geometry.lattice.numbers(),
        "irreducible_atoms": len(geometry.sites),
        "first_atom": geometry.sites[0].numbers()[:4] if geometry.sites else None,
        "keywords": words,
        "basis": deck.basis.name,
        "functional": None if energy is None else energy.children[0].keyword,
    }
    for word in ("SHRINK", "TOLINTEG"):
        item = deck.scf_item(word)
        said[word.lower()] = None if item is None else item.data[0].integers()
    return said


@pytest.mark.parametrize("name", _WAVES)
def test_a_deck_says_what_it_says(name: str) -> None:
    said = _said(parse_deck(_text(DECKS / name)))
    for key, wanted in _EXPECTED[name].items():
        if key == "keywords":
            assert set(wanted) <= set(said[key]) | {"MOLECULE"}
        elif key == "first_atom":
            assert said[key] == pytest.approx(wanted)
        else:
            assert said[key] == wanted, key


@pytest.mark.parametrize("name", _GEOMETRIES)
def test_a_deck_makes_the_crystal_that_the_program_wrote_for_it(name: str) -> None:
    wanted = _EXPECTED[name]
    written = read_gui(_text(DECKS / name), "structure.text")
    assert len(written.symbols) == wanted["atoms_listed"]
    assert written.volume == pytest.approx(wanted["lattice_volume_angstrom3"], abs=1e-3)
    made = read_deck(from_file(str((DECKS / name).with_suffix(".d12"))))
    per_cell = made.volume / written.volume
    assert per_cell == pytest.approx(round(per_cell), abs=1e-4)
    assert len(made.symbols) == round(per_cell) * len(written.symbols)
    assert is_same(made, written)


@pytest.mark.parametrize("path", _ALL, ids=lambda path: path.name)
def test_a_real_deck_comes_back_as_it_was_and_is_not_called_wrong(path: Path) -> None:
    text = _text(path)
    assert render_deck(parse_deck(text)) == text
    wrong = {finding.code for finding in lint_deck(text) if finding.severity == "error"}
    # decks that only have their geometry printed have nothing behind it
    has_rest = parse_deck(text).scf or parse_deck(text).basis.shells
    assert wrong <= (set() if has_rest else {"basis-missing", "end-missing", "shrink-missing"})


@pytest.mark.parametrize("path", _PROPERTIES, ids=lambda path: path.name)
def test_a_real_deck_of_properties_comes_back_and_is_not_called_wrong(path: Path) -> None:
    text = _text(path)
    deck = parse_properties(text)
    assert render_properties(deck) == text
    assert deck.findings == ()
    assert [f for f in lint_properties(text) if f.severity == "error"] == []


@pytest.mark.parametrize("path", [*_ALL, *_PROPERTIES], ids=lambda path: path.name)
def test_mutations_of_real_decks_are_never_a_crash_and_never_lost(path: Path) -> None:
    rng = np.random.default_rng(11)
    lines = _text(path).splitlines(keepends=True)
    for _ in range(10):
        cut = list(lines)
        at = int(rng.integers(len(cut)))
        match int(rng.integers(3)):
            case 0:
                del cut[at]
            case 1:
                cut.insert(at, cut[int(rng.integers(len(cut)))])
            case _:
                cut = cut[:at]
        text = "".join(cut)
        if path.suffix == ".d3":
            assert render_properties(parse_properties(text)) == text
            lint_properties(text)
        else:
            assert render_deck(parse_deck(text)) == text
            lint_deck(text)
