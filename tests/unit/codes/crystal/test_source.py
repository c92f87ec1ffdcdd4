"""A deck as a structure source: all atoms of its cell, or the line that says why not."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from crystalmath.codes.crystal.source import read_deck
from crystalmath.errors import InputRejected
from crystalmath.server.proc_worker import READERS
from crystalmath.structures import read
from crystalmath.structures.convert import convert_structure
from crystalmath.structures.text import SourceText

SCF = "BASISSET\nSTO-3G\nSHRINK\n8 8\nEND\n"
MGO = "MgO\nCRYSTAL\n0 0 0\n225\n4.21\n2\n12 0.0 0.0 0.0\n8 0.5 0.5 0.5\n" + SCF


def source(text: str, name: str = "") -> SourceText:
    return SourceText(text, "structure.text", "utf-8", "", name=name)


def test_the_sites_become_all_atoms_of_the_conventional_cell() -> None:
    found = read_deck(source(MGO))
    assert Counter(found.symbols) == {"Mg": 4, "O": 4}
    assert found.pbc == (True, True, True)
    assert np.allclose(found.cell, np.eye(3) * 4.21)
    assert found.source["title"] == "MgO"


@pytest.mark.parametrize(
    ("flags", "site", "shift"),
    [
        ("0 0 0", "0.125 0.125 0.125", ""),
        ("0 0 1", "0.0 0.0 0.0", ""),
        ("0 0 3", "0.0 0.0 0.0", "3 3 3\n"),
    ],
)
def test_silicon_is_the_same_with_every_origin(flags: str, site: str, shift: str) -> None:
    text = f"Si\nCRYSTAL\n{flags}\n227\n{shift}5.43\n1\n14 {site}\n{SCF}"
    found = read_deck(source(text))
    assert len(found.symbols) == 8
    gap = found.fractions[1:] - found.fractions[0]
    gap -= np.rint(gap)
    assert np.linalg.norm(gap @ found.cell, axis=1).min() == pytest.approx(5.43 * 3**0.5 / 4)


def test_spins_of_a_deck_are_told() -> None:
    assert read_deck(source(MGO)).warnings == []
    spins = MGO.replace("SHRINK", "UHF\nATOMSPIN\n1\n1 1\nSHRINK")
    assert "ATOMSPIN are not taken over" in read_deck(source(spins)).warnings[0]


def test_rhombohedral_axes_are_read_as_such() -> None:
    hexagonal = "Bi\nCRYSTAL\n0 0 0\n166\n4.54656 11.86164\n1\n83 0 0 0.2339\n" + SCF
    edge = np.sqrt(4.54656**2 / 3 + 11.86164**2 / 9)
    alpha = np.degrees(2 * np.arcsin(4.54656 / (2 * edge)))
    record = f"{edge:.8f} {alpha:.8f}"
    other = f"Bi\nCRYSTAL\n0 1 0\n166\n{record}\n1\n83 0.2339 0.2339 0.2339\n" + SCF
    one, two = read_deck(source(hexagonal)), read_deck(source(other))
    assert (len(one.symbols), len(two.symbols)) == (6, 2)
    assert one.volume / 6 == pytest.approx(two.volume / 2, rel=1e-4)


def test_a_slab_has_z_in_angstrom_and_a_molecule_no_cell() -> None:
    slab = "MoS2\nSLAB\n78\n3.16\n2\n42 0 0 0\n16 0.3333333333 0.6666666667 1.56\n" + SCF
    found = read_deck(source(slab))
    assert found.pbc == (True, True, False)
    assert sorted(np.round(found.positions[:, 2], 6)) == [-1.56, 0.0, 1.56]
    water = "H2O\nMOLECULE\n1\n2\n8 0 0 0\n1 0 0 0.96\n" + SCF
    molecule = read_deck(source(water))
    assert molecule.lattice is None
    assert molecule.positions[1, 2] == pytest.approx(0.96)


def test_a_label_is_never_an_atomic_number() -> None:
    found = read_deck(source(MGO.replace("\n12 ", "\n212 ").replace("\n8 0", "\n108 0")))
    assert Counter(found.symbols) == {"Mg": 4, "O": 4}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (MGO.replace("BASISSET", "SUPERCEL\n2 0 0\n0 2 0\n0 0 2\nBASISSET"), "line 9: what SUPERC"),
        (MGO.replace("BASISSET", "SLABCUT\n1 0 0\n1 3\nBASISSET"), "line 9: what SLABCUT"),
        (MGO.replace("BASISSET", "FROBNICA\n1\nBASISSET"), "line 9: what FROBNICA"),
        (MGO.replace("225\n4.21\n", "225\n4.21 4.21\n"), "line 5: group 225 of CRYSTAL has 1"),
        (MGO.replace("\n2\n12", "\n3\n12"), "line 6: NATR is 3, but 2 sites follow"),
        (MGO.replace("8 0.5 0.5", "8 nan 0.5"), "line 8: 'nan' is no finite number"),
        (MGO.replace("\n12 0.0", "\n200 0.0"), "line 7: "),
        (MGO.replace("0 0 0\n225", "1 0 0\nF M 3 M"), "IFLAG 1"),
        (
            MGO.replace("CRYSTAL\n0 0 0\n225\n4.21", "SLAB\n64\n3.77"),
            "the origin of layer group 64",
        ),
        (MGO.replace("CRYSTAL\n0 0 0\n225", "POLYMER\n4"), "POLYMER group 4"),
        ("only a title\n", "line 1: the deck ends where"),
    ],
)
def test_what_cannot_be_told_is_refused_with_its_line(text: str, said: str) -> None:
    with pytest.raises(InputRejected, match=said) as caught:
        read_deck(source(text))
    assert caught.value.field == "structure.text"


def test_an_external_deck_asks_for_its_geometry_by_name() -> None:
    with pytest.raises(InputRejected, match=r"not in it but in nio\.gui") as caught:
        read_deck(source("NiO\nEXTERNAL\n" + SCF, "nio.d12"))
    assert caught.value.hint == "give nio.gui"


def test_tasks_and_prints_do_not_change_the_crystal() -> None:
    text = MGO.replace("BASISSET", "OPTGEOM\nFULLOPTG\nEND\nEXTPRT\nBASISSET")
    assert len(read_deck(source(text)).symbols) == 8


def test_a_file_is_read_and_converted_like_any_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(read, "READERS", READERS)
    path = tmp_path / "mgo.d12"
    path.write_text(MGO)
    made = convert_structure({"path": str(path)}, "cif", "as_given", 0.01, None)
    assert made["n_atoms"] == 8
    path.write_text(MGO.replace("8 0.5 0.5 0.5", "8 0.0 0.5 0.5"))
    with pytest.raises(InputRejected, match="apart"):
        read.read(path=str(path))
