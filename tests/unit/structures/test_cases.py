"""The structure cases that real users bring, as far as reading alone can decide them.

The folder is shared between projects; ``CRYSTALMATH_CASES`` overrides where it is looked for.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from crystalmath.errors import InputRejected
from crystalmath.structures.read import read_structure

_ROOT = Path(__file__).parents[3]
_CASES = Path(os.environ.get("CRYSTALMATH_CASES", _ROOT.parent / "shared" / "cases"))
_STRUCTURES = _CASES / "structures"

pytestmark = pytest.mark.skipif(
    not _STRUCTURES.is_dir(), reason="no folder of structure cases (set CRYSTALMATH_CASES)"
)


def _expected(case: str) -> dict[str, Any]:
    text = (_STRUCTURES / f"{case}.expected.json").read_text(encoding="utf-8")
    expected: dict[str, Any] = json.loads(text)["expected"]
    return expected


def _read(case: str) -> dict[str, Any]:
    (path,) = (p for p in _STRUCTURES.glob(f"{case}.*") if p.suffix in {".cif", ".vasp"})
    return read_structure(path=str(path))


@pytest.mark.parametrize(
    ("case", "formula", "per_cell"),
    [
        ("01_noisy_rocksalt", "MgO", 4),
        ("02_si_origin1", "Si", 8),
        ("03_si_origin2_symbol_only", "Si", 8),
        ("05_corundum_primitive", "Al2O3", 2),
        ("07_pbnm", "CaO3Ti", 4),
        ("08_graphite", "C", 4),
        ("14_crlf", "O2Ti", 2),
    ],
)
def test_volume_per_formula(case: str, formula: str, per_cell: int) -> None:
    document = _read(case)
    assert document["formula"] == formula
    volume = float(np.linalg.det(document["lattice"])) / per_cell
    assert volume == pytest.approx(_expected(case)["volume_per_formula_check_A3"], rel=1e-3)
    atoms_per_formula = len(document["symbols"]) / per_cell
    assert atoms_per_formula == int(atoms_per_formula)


def test_atoms_per_primitive_cell() -> None:
    for case in ("04_bi_rhombohedral_axes", "05_corundum_primitive", "08_graphite"):
        assert len(_read(case)["symbols"]) == _expected(case)["atoms_primitive_cell"]
    case = "10_hcp_three_digits"
    assert len(_read(case)["symbols"]) == _expected(case)["atoms_primitive_cell"]


@pytest.mark.parametrize("case", ["09_invar_partial", "12_vasp4_no_symbols", "19_duplicate_atoms"])
def test_refused(case: str) -> None:
    expected = _expected(case)
    assert expected["result"].startswith("refused")
    with pytest.raises(InputRejected) as caught:
        _read(case)
    for word in expected.get("error_must_name", ["2 groups of 4"]):
        assert word.removesuffix(" A") in caught.value.message
    assert caught.value.hint is not None


def test_names_in_the_comment() -> None:
    document = _read("13_vasp4_symbols_in_comment")
    assert Counter(document["symbols"]) == {"Na": 4, "Cl": 4}
    assert "comment line" in document["warnings"][0]


def test_deuterium_latin_1_and_charges() -> None:
    deuteride = _read("11_lid")
    assert set(deuteride["symbols"]) == {"Li", "H"}
    assert any("mass is lost" in warning for warning in deuteride["warnings"])
    oxide = _read("15_bom_latin1")
    assert Counter(oxide["symbols"]) == {"Mg": 4, "O": 4}
    assert oxide["source"]["encoding"] == "latin-1"
    assert _read("16_oxidation_states")["symbols"] == ["Fe", "O"]


def test_negative_scale() -> None:
    expected = _expected("17_negative_scale")
    lattice = np.array(_read("17_negative_scale")["lattice"])
    assert np.linalg.det(lattice) == pytest.approx(expected["volume_A3"])
    assert lattice[0, 0] == pytest.approx(expected["minimal_cell"][0], abs=1e-6)


def test_interleaved_species_keep_their_order() -> None:
    symbols = _read("20_mixed_species_blocks")["symbols"]
    assert symbols == ["Sr", "V", "V", "Sr"] + ["O"] * 6


def test_a_setting_that_needs_its_operators_is_refused() -> None:
    # Only for as long as settings other than the standard one are not known without operators.
    with pytest.raises(InputRejected, match="P 1 21/n 1"):
        _read("06_p21n")
