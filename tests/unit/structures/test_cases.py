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
from crystalmath.structures.cell import cell_parameters
from crystalmath.structures.convert import convert_structure
from crystalmath.structures.read import read, read_structure
from crystalmath.structures.report import inspect_structure
from crystalmath.structures.structure import Structure
from crystalmath.structures.symmetry.crystal import Symmetry, find_layer_symmetry, find_symmetry
from crystalmath.structures.symmetry.dimensionality import dimensionality, isolate

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


def _path(case: str) -> Path:
    (path,) = (p for p in _STRUCTURES.glob(f"{case}.*") if p.suffix in {".cif", ".vasp"})
    return path


def _read(case: str) -> dict[str, Any]:
    return read_structure(path=str(_path(case)))


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


def _symmetry(case: str) -> tuple[Structure, Symmetry]:
    structure = read(path=str(_path(case)))
    shape = dimensionality(structure)
    if shape.kind == "slab":
        return structure, find_layer_symmetry(isolate(structure, shape))
    return structure, find_symmetry(structure)


_GROUPS = [
    "01_noisy_rocksalt",
    "02_si_origin1",
    "03_si_origin2_symbol_only",
    "05_corundum_primitive",
    "06_p21n",
    "07_pbnm",
    "08_graphite",
    "10_hcp_three_digits",
    "11_lid",
    "13_vasp4_symbols_in_comment",
    "14_crlf",
    "15_bom_latin1",
    "16_oxidation_states",
    "17_negative_scale",
    "20_mixed_species_blocks",
]


@pytest.mark.parametrize("case", _GROUPS)
def test_group_cell_and_sites_of_the_standard_setting(case: str) -> None:
    expected = _expected(case)
    structure, found = _symmetry(case)
    assert found.number == expected["space_group"]
    a, b, c, _, beta, _ = cell_parameters(found.lattice)
    given = {
        1: [a],
        2: [a, c],
        3: [a, b, c],
        4: [a, b, c, beta],
    }
    cell = expected.get("minimal_cell")
    if cell is not None:
        assert given[len(cell)] == pytest.approx(cell, abs=1e-4)
    if "n_irreducible" in expected:
        assert len(found.orbits) == expected["n_irreducible"]
    if "atoms_primitive_cell" in expected:
        assert found.atoms_primitive_cell == expected["atoms_primitive_cell"]
    if "atoms_conventional_cell" in expected:
        assert len(found.symbols) == expected["atoms_conventional_cell"]
    assert sum(orbit.multiplicity for orbit in found.orbits) == len(found.symbols)
    atoms = sorted({atom for atoms in found.input_atoms for atom in atoms})
    assert atoms == list(range(len(structure.symbols)))
    for symbol, atoms_of in zip(found.symbols, found.input_atoms, strict=True):
        assert {structure.symbols[atom] for atom in atoms_of} == {symbol}


def test_rhombohedral_axes_become_hexagonal() -> None:
    expected = _expected("04_bi_rhombohedral_axes")
    _, found = _symmetry("04_bi_rhombohedral_axes")
    a, _, c, *_ = cell_parameters(found.lattice)
    assert (found.number, found.choice) == (expected["space_group"], "H")
    assert (a, c) == pytest.approx((expected["a_hex"], expected["c_hex"]), abs=1e-4)
    (site,) = found.orbits
    assert site.multiplicity == 6
    z = found.fractions[site.atom][2] % (1 / 3)
    assert min(z, 1 / 3 - z) == pytest.approx(1 / 3 - expected["z_hex"], abs=1e-4)


def test_a_monolayer_is_a_layer() -> None:
    expected = _expected("18_mos2_monolayer")
    _, found = _symmetry("18_mos2_monolayer")
    assert (found.kind, found.number) == ("layer", expected["layer_group_IGR"])
    a, _, c, *_ = cell_parameters(found.lattice)
    assert a == pytest.approx(expected["lattice_record"][0], abs=1e-4)
    places = {found.symbols[o.atom]: found.fractions[o.atom][2] * c for o in found.orbits}
    assert places["Mo"] == pytest.approx(0.0, abs=1e-4)
    assert abs(places["S"]) == pytest.approx(1.564, abs=1e-4)


def test_the_tolerance_is_told() -> None:
    _, found = _symmetry("01_noisy_rocksalt")
    assert 0.001 < found.max_displacement_angstrom < 0.01
    assert found.tighter is not None
    (warning,) = found.warnings()
    assert "P1 (1) at 0.001 Å" in warning


def test_charges_and_isotopes_are_kept() -> None:
    assert read(path=str(_path("16_oxidation_states"))).sites.oxidation_states == (2.0, -2.0)
    assert read(path=str(_path("11_lid"))).sites.mass_numbers == (None,) * 4 + (2,) * 4


def test_carriage_returns_do_not_come_out_again() -> None:
    given = {"path": str(_path("14_crlf"))}
    for format_ in ("cif", "poscar", "gui", "extxyz"):
        written = convert_structure(given, format_, "as_given", 0.01, None)["text"]
        assert "\r" not in written


def test_two_distances_are_two_shells() -> None:
    report = inspect_structure({"path": str(_path("14_crlf"))})
    titanium = report["sites"][0]["neighbours"][:2]
    assert [(row["count"], round(row["distance_angstrom"], 3)) for row in titanium] == [
        (4, 1.947),
        (2, 1.984),
    ]
