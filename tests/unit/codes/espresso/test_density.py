"""nscf and bands start from the density of the crystal that they are asked for, or not at all."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from crystalmath.codes.espresso.deck import Deck, parse_deck
from crystalmath.codes.espresso.density.check import SCHEMA, check_density
from crystalmath.codes.espresso.density.crystal import lattice_of, places_of
from crystalmath.errors import InvalidParams
from crystalmath.services.ports import InputFile
from crystalmath.units import BOHR_ANGSTROM
from support.espresso import deck as deck_of

_BANDS = deck_of("si.bands")
_UPF = "<UPF>\nof silicon\n</UPF>\n"
_CELL = "<cell><a1>{0} 0 {1}</a1><a2>0 {1} {1}</a2><a3>{0} {1} 0</a3></cell>".format("-5.1", "5.1")


def schema(old: str = "", new: str = "") -> str:
    """What pw.x writes of ``si.scf.in``, up to its eigenvalues, with one thing changed."""
    atomic = (
        '<atomic_structure nat="2" alat="10.2"><atomic_positions>'
        '<atom name="Si" index="1">0.0 0.0 0.0</atom>'
        '<atom name="Si" index="2">2.55 2.55 2.55</atom></atomic_positions>'
        f"{_CELL}</atomic_structure>"
    )
    species = (
        '<atomic_species ntyp="1"><species name="Si"><mass>28.086</mass>'
        "<pseudo_file>Si.pz-vbc.UPF</pseudo_file></species></atomic_species>"
    )
    text = (
        '<?xml version="1.0"?><qes:espresso xmlns:qes="http://www.quantum-espresso.org/ns/qes/qes-1.0">'
        f"<input>{species}{atomic.replace('2.55', '2.40')}"
        "<spin><lsda>false</lsda><noncolin>false</noncolin><spinorbit>false</spinorbit></spin>"
        "<bands><tot_charge>0.0e0</tot_charge></bands></input>"
        f"<output>{species}{atomic}<basis_set><ecutwfc>9.0e0</ecutwfc><ecutrho>3.6e1</ecutrho>"
        "</basis_set><band_structure><ks_energies>and so on"
    )  # fmt: skip
    assert old in text
    return text.replace(old, new) if old else text


def check(tmp_path: Path, xml: str, deck_text: str = _BANDS, upf: str = _UPF) -> list[str]:
    save = tmp_path / "si.save"
    save.mkdir()
    (save / SCHEMA).write_text(xml)
    (save / "Si.pz-vbc.UPF").write_text(_UPF)
    files = [InputFile(f"out/si.save/{p.name}", source=str(p)) for p in sorted(save.iterdir())]
    pseudos = [InputFile("pseudo/Si.pz-vbc.UPF", content=upf)]
    return check_density(parse_deck(deck_text), files, pseudos, "inputs.save_from")


def with_cell(cell: str, places: str = "ATOMIC_POSITIONS alat\nSi 0 0 0\nSi .25 .25 .25\n") -> str:
    deck = parse_deck(_BANDS.replace("ibrav = 2, celldm(1) = 10.20", "ibrav = 0"))
    name, *lines = cell.splitlines()
    option = name.partition(" ")[2]
    text = deck.with_card("CELL_PARAMETERS", option, lines).text
    old = _BANDS[_BANDS.index("ATOMIC_POSITIONS") : _BANDS.index("K_POINTS")]
    return text.replace(old, places)


_BOHR = "CELL_PARAMETERS bohr\n-5.1 0 5.1\n0 5.1 5.1\n-5.1 5.1 0"


@pytest.mark.parametrize(
    "text",
    [
        _BANDS,
        _BANDS.replace("celldm(1) = 10.20", f"A = {10.20 * BOHR_ANGSTROM:.8f}"),
        _BANDS.replace("Si 0.25 0.25 0.25", "Si 1.25 0.25 -0.75"),  # an image of the atom
        with_cell(_BOHR, "ATOMIC_POSITIONS crystal\nSi 0 0 0\nSi -0.25 0.75 -0.25\n"),
        _BANDS.replace("Si 28.086", "Si1 28.086").replace("Si 0.", "Si1 0."),
    ],
)
def test_the_density_of_the_same_crystal_is_taken(tmp_path: Path, text: str) -> None:
    assert check(tmp_path, schema(), text) == []


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("5.1", "4.9", "cell 3.6670 Å there, 3.8167 Å here"),
        (_CELL, _CELL.replace("-5.1", "5.1"), "cell vector a 2.6988 0.0000 2.6988 Å there, -2.69"),
        ("2.55 2.55 2.55", "2.55 2.55 2.60", r"atom 2, Si, at 1.3494 1.3494 1.3759 Å there, 1.34"),
        ('name="Si" index="2"', 'name="C" index="2"', "atom 2 is C there, Si here"),
        ('<atom name="Si" index="2">2.55 2.55 2.55</atom>', "", "1 atoms there, 2 here"),
        ("9.0e0", "5.0e0", "ecutwfc 10 Ry there, 18 Ry here"),
        ("3.6e1", "4.0e1", "ecutrho 80 Ry there, 72 Ry here"),
        ("<lsda>false", "<lsda>true", "nspin 2 there, 1 here"),
        ("<noncolin>false", "<noncolin>true", "nspin 4 there, 1 here"),
        ("0.0e0", "1.0e0", "tot_charge 1 there, 0 here"),
        ("Si.pz-vbc.UPF", "Si.pbe.UPF", "Si.pbe.UPF for Si there, Si.pz-vbc.UPF here"),
    ],
)
def test_what_differs_is_refused_with_both_values(
    tmp_path: Path, old: str, new: str, words: str
) -> None:
    with pytest.raises(InvalidParams, match=words) as caught:
        check(tmp_path, schema(old, new))
    assert caught.value.field == "inputs.save_from"


def test_files_of_one_name_are_compared(tmp_path: Path) -> None:
    with pytest.raises(InvalidParams, match="different files of one name"):
        check(tmp_path, schema(), upf="<UPF>\nanother\n</UPF>\n")


@pytest.mark.parametrize("xml", ["x", "", schema()[:900], schema("5.1 0", "5.1 x")])
def test_what_cannot_be_read_is_said(tmp_path: Path, xml: str) -> None:
    (said,) = check(tmp_path, xml)
    assert "si.save holds no data-file-schema.xml that can be read" in said


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (_BANDS.replace("ibrav = 2", "ibrav = 12"), "cell and atoms of the deck"),
        (_BANDS.replace("Si 0.25 0.25", "Si 1/4 0.25"), "atoms of the deck"),
    ],
)
def test_what_is_not_known_of_the_deck_is_said(tmp_path: Path, text: str, words: str) -> None:
    (said,) = check(tmp_path, schema(), text)
    assert said.startswith(words)


def test_an_scf_may_begin_with_the_density_of_another_crystal(tmp_path: Path) -> None:
    text = _BANDS.replace("'bands'", "'scf'").replace("&electrons", "&electrons startingpot='file'")
    assert check(tmp_path, schema("5.1", "4.9"), text) == []


@pytest.mark.parametrize(
    ("system", "rows"),
    [
        ("ibrav = 1, a = 2", [[2, 0, 0], [0, 2, 0], [0, 0, 2]]),
        ("ibrav = 3, a = 2", [[1, 1, 1], [-1, 1, 1], [-1, -1, 1]]),
        ("ibrav = -3, a = 2", [[-1, 1, 1], [1, -1, 1], [1, 1, -1]]),
        ("ibrav = 4, a = 2, c = 3", [[2, 0, 0], [-1, 3**0.5, 0], [0, 0, 3]]),
        ("ibrav = 6, a = 2, c = 3", [[2, 0, 0], [0, 2, 0], [0, 0, 3]]),
        ("ibrav = 7, a = 2, c = 3", [[1, -1, 1.5], [1, 1, 1.5], [-1, -1, 1.5]]),
        ("ibrav = 8, a = 2, b = 3, c = 4", [[2, 0, 0], [0, 3, 0], [0, 0, 4]]),
        ("ibrav = 0, a = 2", [[2, 0, 0], [0, 4, 0], [0, 0, 6]]),
    ],
)
def test_the_cell_is_that_of_pwx(system: str, rows: Any) -> None:
    deck: Deck = parse_deck(
        f"&system {system}, nat = 1\n/\nATOMIC_POSITIONS alat\nSi 0 0 .5\n"
        "CELL_PARAMETERS alat\n1 0 0\n0 2 0\n0 0 3\n"
    )
    found = lattice_of(deck)
    assert found is not None
    for one, other in zip(found, rows, strict=True):
        assert one == pytest.approx(other)
    (place,) = places_of(deck) or ()
    assert place == pytest.approx((0, 0, 1))
