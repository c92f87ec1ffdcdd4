"""Writing structures: what comes back is what was given, and what is lost is said."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from crystalmath.errors import InputRejected, InvalidParams
from crystalmath.structures.convert import convert_structure
from crystalmath.structures.formats.gui import read_gui, write_gui
from crystalmath.structures.identity import content_hash
from crystalmath.structures.read import read
from crystalmath.structures.structure import SiteData, Structure
from crystalmath.structures.symmetry.crystal import find_symmetry
from support.crystals import roomy_crystal

_CORUNDUM = roomy_crystal(167)
_MOLECULE = Structure(
    None, (False, False, False), ["O", "H"], np.array([[0.0, 0.0, 0.0], [0.0, 0.0, 0.96]])
)


def _converted(
    given: Structure, format_: str, cell: str = "as_given", vacuum: float | None = None
) -> dict[str, Any]:
    return convert_structure({"document": given.document()}, format_, cell, 0.01, vacuum)


@pytest.mark.parametrize("format_", ["cif", "poscar", "extxyz", "xsf", "json", "gui"])
def test_what_was_given_comes_back(format_: str) -> None:
    found = _converted(_CORUNDUM, format_)
    again = read(text=found["text"], format=format_)
    assert again.symbols == _CORUNDUM.symbols
    np.testing.assert_allclose(
        again.cell @ again.cell.T, _CORUNDUM.cell @ _CORUNDUM.cell.T, atol=1e-5
    )
    offset = again.fractions - _CORUNDUM.fractions
    assert np.abs(offset - np.rint(offset)).max() < 1e-6
    assert found["warnings"] == []
    assert found["symmetry"] is None


@pytest.mark.parametrize("group", [14, 62, 148, 167, 205])
def test_a_conventional_cif_has_operators_and_independent_sites(group: int) -> None:
    given = roomy_crystal(group)
    found = _converted(given, "cif", "conventional")
    again = read(text=found["text"], format="cif")
    assert len(again.symbols) == found["n_atoms"]
    assert again.warnings == []
    assert find_symmetry(again).number == found["symmetry"]["number"] == group
    assert found["text"].count("\n'") == len(find_symmetry(given).rotations)


@pytest.mark.parametrize("group", [14, 146, 167, 196])
def test_a_primitive_gui_has_the_operators(group: int) -> None:
    found = _converted(roomy_crystal(group), "gui", "primitive")
    again = read(text=found["text"], format="gui")
    assert again.warnings == []  # every image of an atom under every operator is an atom
    assert find_symmetry(again).number == group
    assert found["text"].split("\n")[-2].split()[0] == str(group)
    with pytest.raises(InvalidParams, match="primitive cell"):
        _converted(roomy_crystal(group), "gui", "conventional")


def test_vacuum_is_for_what_does_not_repeat() -> None:
    with pytest.raises(InvalidParams, match="no vacuum is added") as caught:
        _converted(_CORUNDUM, "poscar", vacuum=10.0)
    assert caught.value.field == "vacuum_angstrom"
    with pytest.raises(InvalidParams, match="needs a cell"):
        _converted(_MOLECULE, "poscar")
    boxed = read(text=_converted(_MOLECULE, "poscar", vacuum=10.0)["text"], format="poscar")
    np.testing.assert_allclose(np.linalg.norm(boxed.cell, axis=1), [10.0, 10.0, 10.96])
    assert np.linalg.norm(boxed.positions[1] - boxed.positions[0]) == pytest.approx(0.96)


def test_what_is_lost_is_said() -> None:
    count = len(_CORUNDUM.symbols)
    data = SiteData(oxidation_states=(1.0,) * count, moments=(2.0,) * count)
    given = replace(_CORUNDUM, sites=data)
    assert len(_converted(given, "poscar")["warnings"]) == 2
    assert any("does not hold the cell" in text for text in _converted(given, "xyz")["warnings"])
    kept = read(text=_converted(given, "extxyz")["text"], format="extxyz")
    assert kept.sites.moments == (2.0,) * count
    assert content_hash(given) != content_hash(_CORUNDUM)


def test_a_standard_cell_needs_a_crystal() -> None:
    with pytest.raises(InputRejected, match="three directions"):
        _converted(_MOLECULE, "xyz", "primitive")


def test_gui_of_all_dimensions() -> None:
    layer = Structure(
        np.diag([3.0, 4.0, 20.0]),
        (True, True, False),
        ["C", "O"],
        np.array([[0, 0, 0], [1, 1, 2.0]]),
    )
    for given in (layer, _MOLECULE):
        again = read_gui(write_gui(given), "structure.text")
        assert (again.pbc, again.symbols) == (given.pbc, given.symbols)
        np.testing.assert_allclose(again.positions, given.positions)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("   3   1   1", "   4   1   1", "line 1"),
        ("    1\n", "    x\n", "line 5"),
        ("    8 ", "  100 ", "line 11"),
    ],
)
def test_a_broken_gui_names_the_line(old: str, new: str, message: str) -> None:
    given = Structure(np.diag([4.0] * 3), (True,) * 3, ["O"], np.zeros((1, 3)))
    text = write_gui(given)
    assert old in text
    with pytest.raises(InputRejected, match=message):
        read_gui(text.replace(old, new, 1), "structure.text")
    with pytest.raises(InputRejected, match="ends before"):
        read_gui("\n".join(text.split("\n")[:7]), "structure.text")
