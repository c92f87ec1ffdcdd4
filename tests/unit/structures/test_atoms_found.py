"""The atoms that ``materials.inspect`` returns for a drawing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from crystalmath.contract.materials import InspectResult
from crystalmath.structures.report import MOST_ATOMS, inspect_structure
from support.daemon import ROOT

SILICON = {"path": str(ROOT / "examples" / "silicon.cif"), "text": None, "format": None}


def _text(text: str, format_: str) -> dict[str, Any]:
    return {"path": None, "text": text, "format": format_}


def _primitive_silicon() -> dict[str, Any]:
    return _text(
        "Si\n5.43\n0 .5 .5\n.5 0 .5\n.5 .5 0\nSi\n2\nDirect\n0 0 0\n.25 .25 .25\n", "poscar"
    )


def test_none_are_returned_unasked() -> None:
    assert inspect_structure(SILICON)["atoms"] is None


def test_a_primitive_cell_is_drawn_as_the_conventional_one_or_as_it_is_given() -> None:
    given = inspect_structure(_primitive_silicon(), atoms="as_given")["atoms"]
    assert (given["cell"], given["symbols"]) == ("as_given", ["Si", "Si"])
    assert np.linalg.det(given["lattice_angstrom"]) == pytest.approx(5.43**3 / 4)
    whole = inspect_structure(_primitive_silicon(), atoms="conventional")["atoms"]
    assert whole["cell"] == "conventional"
    assert whole["symbols"] == ["Si"] * 8
    assert whole["periodic"] == [True, True, True]
    assert np.asarray(whole["lattice_angstrom"]) == pytest.approx(np.eye(3) * 5.43)
    # The nearest neighbours are where they are in silicon.
    places = np.asarray(whole["positions_angstrom"])
    away = (places[1:] - places[0] + 2.715) % 5.43 - 2.715
    assert np.linalg.norm(away, axis=1).min() == pytest.approx(5.43 * 3**0.5 / 4)


def test_a_layer_is_whole_and_in_the_middle_with_its_axes_first() -> None:
    poscar = (
        "C\n1.0\n2.46 0 0\n-1.23 2.1304 0\n0 0 20\nC\n2\nDirect\n0 0 .99\n.3333333 .6666667 .01\n"
    )
    found = inspect_structure(_text(poscar, "poscar"), atoms="conventional")["atoms"]
    assert (found["cell"], found["periodic"]) == ("isolated", [True, True, False])
    heights = np.asarray(found["positions_angstrom"])[:, 2]
    assert np.ptp(heights) == pytest.approx(0.4)
    assert heights.mean() == pytest.approx(found["lattice_angstrom"][2][2] / 2, abs=1e-6)


def test_a_molecule_has_no_lattice() -> None:
    xyz = "3\nwater\nO 0 0 0\nH 0 0.76 0.59\nH 0 -0.76 0.59\n"
    document = inspect_structure(_text(xyz, "xyz"), atoms="as_given")
    found = document["atoms"]
    assert (found["lattice_angstrom"], found["symbols"]) == (None, ["O", "H", "H"])
    InspectResult.model_validate(document)


def test_a_large_cell_is_not_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    assert MOST_ATOMS == 3000
    monkeypatch.setattr("crystalmath.structures.report.MOST_ATOMS", 7)
    document = inspect_structure(_primitive_silicon(), atoms="conventional")
    assert document["atoms"] is None
    assert inspect_structure(_primitive_silicon(), atoms="as_given")["atoms"] is not None
