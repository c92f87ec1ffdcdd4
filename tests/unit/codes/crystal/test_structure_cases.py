"""The decks of the structures that users bring, against the right answers beside them."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import pytest

from crystalmath.codes.crystal.generate.properties import make_properties
from crystalmath.contract.d3 import D3Options
from crystalmath.errors import InputRejected
from crystalmath.structures.read import read
from rig.cases import CASES
from soak.decks.forms import case_files
from support.crystals import Make

_REFUSED: Final = dict(case_files())
_FILES: Final = list(_REFUSED)
pytestmark = pytest.mark.skipif(not _FILES, reason="no folder of cases (CRYSTALMATH_CASES)")
_WITHOUT_GROUP: Final = {"26_band_cell": 225, "18_mos2_monolayer": None}


def _expected(path: Path) -> dict[str, Any]:
    case = path.with_name(f"{path.stem}.expected.json")
    found: dict[str, Any] = json.loads(case.read_text(encoding="utf-8"))["expected"]
    return found


@pytest.mark.parametrize("path", _FILES, ids=lambda path: path.stem)
def test_a_structure_becomes_the_deck_that_is_right(deck: Make, path: Path) -> None:
    expected = _expected(path)
    if _REFUSED[path]:
        with pytest.raises(InputRejected):
            read(path=str(path))
        return
    given = read(path=str(path))
    made = deck(given)
    report, lines = made["report"], made["d12"].splitlines()
    assert "\r" not in made["d12"]
    assert report["verified"] is True
    if "layer_group_IGR" in expected:
        assert lines[1:4] == ["SLAB", str(expected["layer_group_IGR"]),
                              f"{expected['lattice_record'][0]:g}"]  # fmt: skip
        assert report["n_asymmetric"] == expected["n_irreducible"]
        assert [float(line.split()[3]) for line in lines[5:7]] == pytest.approx([0.0, 1.564])
        return
    group = expected.get("space_group", _WITHOUT_GROUP.get(path.stem))
    assert lines[1:4] == ["CRYSTAL", "0 0 0", str(group)]
    wanted = expected.get("minimal_cell") or [
        expected[n] for n in ("a_hex", "c_hex") if n in expected
    ]
    written = [float(word) for word in lines[4].split()]
    if wanted:
        assert written == pytest.approx(wanted, abs=1.5e-3)
    sites = expected.get("n_irreducible") or len(expected.get("sites", ())) or None
    assert sites is None or report["n_asymmetric"] == sites
    for key, name in (
        ("atoms_primitive_cell", "n_atoms_primitive"),
        ("atoms_conventional_cell", "n_atoms"),
    ):
        assert key not in expected or report[name] == expected[key], key
    if "atomic_numbers" in expected:
        labels = [int(line.split()[0]) for line in lines[6 : 6 + report["n_asymmetric"]]]
        assert labels == expected["atomic_numbers"]


def test_every_structure_of_the_collection_is_looked_at() -> None:
    every = {path.name.split(".")[0] for path in (CASES / "structures").glob("*.expected.json")}
    of_others = {name for name in every if name[:2] in ("21", "22", "23", "24", "25")}
    assert every - of_others == {path.stem for path in _FILES}


@pytest.mark.parametrize("stem", ["11_lid", "01_noisy_rocksalt"])
def test_what_is_lost_or_moved_is_said(deck: Make, stem: str) -> None:
    (path,) = (path for path in _FILES if path.stem == stem)
    report = deck(read(path=str(path)))["report"]
    if stem == "11_lid":
        assert any("mass" in warning for warning in report["warnings"])
    else:
        assert 1e-3 < report["max_displacement"] < 0.01


def test_the_path_of_the_bands_is_that_of_the_primitive_cell(deck: Make) -> None:
    (path,) = (path for path in _FILES if path.stem == "26_band_cell")
    expected = _expected(path)
    wave = deck(read(path=str(path)), {"basis": {"Mg": "STO-3G", "O": "STO-3G"}})["d12"]
    report = make_properties(wave, D3Options.model_validate({"band": {}}))["report"]
    lines = [pair for run in report["path"].split(",") for pair in pairwise(run.split("-"))]
    assert [[name.replace("GAMMA", "G") for name in line] for line in expected["path"]] == [
        list(line) for line in lines
    ]
    for name in ("X", "L"):
        assert sorted(report["special_points"][name]) == sorted(expected[name])
    assert report["n_atoms_primitive"] == 2
