"""CIF: symmetry that is stated and symmetry that is not, sites, occupancies, data blocks."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from ase.build import bulk

from crystalmath.errors import InputRejected
from crystalmath.structures.read import read_structure
from crystalmath.structures.symmetry.settings import RHOMBOHEDRAL, TWO_ORIGINS

_SITES = (
    "_atom_site_label _atom_site_type_symbol "
    "_atom_site_fract_x _atom_site_fract_y _atom_site_fract_z"
)


def _cif(
    sites: str,
    *,
    a: float = 5.0,
    c: float | None = None,
    angles: str = "90 90 90",
    symmetry: str = "",
    extra: str = "",
    columns: str = _SITES,
) -> str:
    alpha, beta, gamma = angles.split()
    head = "\n".join(columns.split())
    return (
        f"data_x\n_cell_length_a {a}\n_cell_length_b {a}\n_cell_length_c {c or a}\n"
        f"_cell_angle_alpha {alpha}\n_cell_angle_beta {beta}\n_cell_angle_gamma {gamma}\n"
        f"{symmetry}\n{extra}\nloop_\n{head}\n{sites}\n"
    )


def _group(symbol: str, number: int | None = None) -> str:
    text = f"_symmetry_space_group_name_H-M '{symbol}'\n"
    return text + (f"_symmetry_Int_Tables_number {number}\n" if number else "")


def _loop(*operators: str) -> str:
    return "loop_\n_space_group_symop_operation_xyz\n" + "\n".join(f"'{o}'" for o in operators)


def _read(text: str) -> dict[str, Any]:
    return read_structure(text=text, format="cif")


def _refused(text: str, match: str | None = None) -> InputRejected:
    with pytest.raises(InputRejected, match=match) as caught:
        _read(text)
    assert caught.value.field is not None
    assert caught.value.field.startswith("structure")
    return caught.value


def _neighbours(document: dict[str, Any]) -> float:
    """Shortest distance, Å."""
    positions, lattice = np.array(document["positions"]), np.array(document["lattice"])
    shifts = np.array(np.meshgrid([-1, 0, 1], [-1, 0, 1], [-1, 0, 1])).reshape(3, -1).T @ lattice
    images = positions[None, :, None, :] + shifts - positions[:, None, None, :]
    distances = np.linalg.norm(images, axis=-1)
    return float(distances[distances > 1e-9].min())


@pytest.mark.parametrize(
    ("suffix", "x"), [(":1", "0"), (":2", "0.125"), (" :2", "0.125"), (":1", "0.5")]
)
def test_origin_choice_in_the_symbol(suffix: str, x: str) -> None:
    text = _cif(f"Si1 Si {x} {x} {x}", a=5.43, symmetry=_group(f"F d -3 m{suffix}", 227))
    document = _read(text)
    assert len(document["symbols"]) == 8
    assert _neighbours(document) == pytest.approx(5.43 * np.sqrt(3) / 4)


@pytest.mark.parametrize(
    ("suffix", "cell", "site", "count"),
    [
        (":R", {"a": 4.7459, "angles": "57.24 57.24 57.24"}, "0.2339 0.2339 0.2339", 2),
        (":H", {"a": 4.54656, "c": 11.86164, "angles": "90 90 120"}, "0 0 0.2339", 6),
    ],
)
def test_rhombohedral_axes(suffix: str, cell: dict[str, Any], site: str, count: int) -> None:
    symmetry = _group(f"R -3 m {suffix}", 166)
    document = _read(_cif(f"Bi1 Bi {site}", symmetry=symmetry, **cell))
    assert len(document["symbols"]) == count
    assert _neighbours(document) == pytest.approx(3.07, abs=0.02)


@pytest.mark.parametrize(
    "symmetry",
    [
        _group("F d -3 m", 227),
        _group("F d -3 m"),
        "_space_group_IT_number 227",
        _group("R -3 m", 166),
        "_space_group_IT_number 166",
        _group("P 21/c:b2", 14),
        _group("F m -3 m", 221),
        _group("nonsense"),
        "_space_group_name_Hall '-P 2ybc'\n_space_group_IT_number 15",
        "_space_group_name_Hall 'nonsense'",
        "_space_group_IT_number 231",
    ],
)
def test_a_group_that_leaves_a_choice_is_refused(symmetry: str) -> None:
    problem = _refused(_cif("Si1 Si 0.1 0.2 0.3", symmetry=symmetry))
    assert problem.hint is not None
    assert "operator" in problem.hint


def test_every_group_with_a_choice_is_in_the_tables() -> None:
    assert len(TWO_ORIGINS) == 24
    assert len(RHOMBOHEDRAL) == 7
    for number in sorted(TWO_ORIGINS | RHOMBOHEDRAL):
        _refused(_cif("Si1 Si 0.1 0.2 0.3", symmetry=f"_space_group_IT_number {number}"), "neither")


def test_a_setting_that_contradicts_the_cell_is_refused() -> None:
    symmetry = _group("R -3 m :H", 166)
    text = _cif("Bi1 Bi 0 0 0.23", a=4.7459, angles="57.24 57.24 57.24", symmetry=symmetry)
    _refused(text, "does not have the symmetry")


def test_operators_win_over_the_symbol() -> None:
    symmetry = _group("F d -3 m", 227) + _loop("x,y,z", "-x,-y,-z", "x, y, z")
    document = _read(_cif("Si1 Si 0.1 0.2 0.3", symmetry=symmetry))
    assert len(document["symbols"]) == 2


@pytest.mark.parametrize("operator", ["x,y", "a,b,c", "x,y,y", "x,y,z,x", "2x,y,z", "import os"])
def test_bad_operators_are_refused(operator: str) -> None:
    _refused(_cif("Si1 Si 0.1 0.2 0.3", symmetry=_loop("x,y,z", operator)), "operator")


@pytest.mark.parametrize(
    "symmetry",
    [_group("F m -3 m", 225), _group("F m 3 m", 225), _group("Fm-3m"), _group("F_m_-3_m", 225)],
)
def test_rocksalt(symmetry: str) -> None:
    document = _read(_cif("Mg1 Mg 0 0 0\nO1 O 0.5 0.5 0.5", a=4.21, symmetry=symmetry))
    assert Counter(document["symbols"]) == {"Mg": 4, "O": 4}
    assert document["formula"] == "MgO"
    assert _neighbours(document) == pytest.approx(2.105)


def test_rounded_special_position_makes_two_atoms() -> None:
    symmetry = _group("P 63/m m c", 194)
    text = _cif("Co1 Co 0.333 0.667 0.25", a=2.51, c=4.07, angles="90 90 120", symmetry=symmetry)
    document = _read(text)
    assert len(document["symbols"]) == 2
    assert "moved by 0.0014" in document["warnings"][0]
    expected = bulk("Co", "hcp", a=2.51, c=4.07)
    assert _neighbours(document) == pytest.approx(
        float(expected.get_distance(0, 1, mic=True)), abs=1e-6
    )


def test_a_site_beside_a_special_position_is_refused() -> None:
    _refused(_cif("Cu1 Cu 0.004 0 0", symmetry=_group("F m -3 m", 225)), "not on it")


def test_partial_occupancy_names_who_shares_the_site() -> None:
    columns = _SITES + " _atom_site_occupancy"
    text = _cif("Fe1 Fe 0 0 0 0.64\nNi1 Ni 0 0 0 0.36", columns=columns)
    problem = _refused(text, "Fe 0.64 / Ni 0.36 at site 0 0 0")
    assert problem.hint is not None
    assert "supercell" in problem.hint
    assert len(_read(_cif("Fe1 Fe 0 0 0 ?\nNi1 Ni .5 0 0 1.0", columns=columns))["symbols"]) == 2


def test_atoms_of_two_elements_on_one_full_site_are_not_dropped() -> None:
    columns = _SITES + " _atom_site_occupancy"
    _refused(_cif("Fe1 Fe 0 0 0 1\nNi1 Ni 0 0 0 1", columns=columns), "0.000 Å apart")


def test_equivalent_atoms_listed_too_count_once() -> None:
    sites = "Cu1 Cu 0 0 0\nCu2 Cu 0 0.5 0.5"
    document = _read(_cif(sites, a=3.6, symmetry=_group("F m -3 m", 225)))
    assert len(document["symbols"]) == 4
    assert "repeats Cu1" in document["warnings"][0]


@pytest.mark.parametrize(
    ("kind", "symbol"),
    [("FE", "Fe"), ("Fe2+", "Fe"), ("Fe+3", "Fe"), ("CU", "Cu"), ("D", "H"), ("cl1-", "Cl")],
)
def test_type_symbols(kind: str, symbol: str) -> None:
    document = _read(_cif(f"A1 {kind} 0 0 0"))
    assert document["symbols"] == [symbol]
    assert any("mass is lost" in warning for warning in document["warnings"]) == (kind == "D")


@pytest.mark.parametrize("kind", ["X", "Vac", "Qq", "?", "M1"])
def test_sites_that_are_no_element_are_refused(kind: str) -> None:
    problem = _refused(_cif(f"Qq1 {kind} 0 0 0.25"), "0 0 0.25")
    assert problem.hint is not None


@pytest.mark.parametrize(
    ("label", "symbol"), [("Si1", "Si"), ("O2A", "O"), ("OW1", "O"), ("D3", "H"), ("CA1", None)]
)
def test_labels_alone(label: str, symbol: str | None) -> None:
    columns = _SITES.replace("_atom_site_type_symbol", "")
    text = _cif(f"{label} 0 0 0", columns=columns)
    if symbol is None:
        _refused(text, "no certain element")
    else:
        assert _read(text)["symbols"] == [symbol]


def test_several_structures_are_listed() -> None:
    one = _cif("Cu1 Cu 0 0 0")
    text = one.replace("data_x", "data_first") + one.replace("data_x", "data_second")
    _refused(text, "2 structures: first, second")
    assert _read("data_global\n_journal_year 2001\n" + one)["formula"] == "Cu"


@pytest.mark.parametrize("tag", ["_cell_length_b", "_cell_angle_gamma", "_atom_site_fract_z"])
def test_missing_tags_are_named(tag: str) -> None:
    _refused(_cif("Cu1 Cu 0 0 0").replace(tag, "_unknown"), tag)


@pytest.mark.parametrize("value", ["?", "nan", "-5", "0", "abc"])
def test_cells_that_are_no_numbers(value: str) -> None:
    _refused(_cif("Cu1 Cu 0 0 0").replace("_cell_length_b 5.0", f"_cell_length_b {value}"))


def test_impossible_angles() -> None:
    _refused(_cif("Cu1 Cu 0 0 0", angles="170 170 170"), "angles")


def test_a_short_row_is_not_dropped() -> None:
    _refused(_cif("Cu1 Cu 0 0 0\nAu1 Au 0.5 0.5 0.5 0.9"), "Wrong number")


def test_no_symmetry_at_all_is_said() -> None:
    document = _read(_cif("Cu1 Cu 0 0 0"))
    assert document["symbols"] == ["Cu"]
    assert "states no symmetry" in document["warnings"][0]
