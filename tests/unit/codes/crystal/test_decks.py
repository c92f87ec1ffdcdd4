"""Decks line by line: what each kind of crystal becomes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from crystalmath.errors import InputRejected
from crystalmath.structures.structure import Structure
from support.crystals import Make, crystal, hexagonal, rocksalt, rocksalt_primitive, water

TAIL = """BASISSET
POB-TZVP-REV2
DFT
EXCHANGE
PBE
CORRELAT
PBE
XLGRID
END
TOLINTEG
7 7 7 7 14
SHRINK
{shrink}
TOLDEE
8
MAXCYCLE
200
FMIXING
30
DIIS
END
"""


def site(z: int, *coordinates: float) -> str:
    return f"{z:3d} " + " ".join(f"{value:14.10f}" for value in coordinates)


def test_magnesium_oxide_line_by_line_from_both_cells(deck: Make) -> None:
    expected = "\n".join(
        ["MgO Fm-3m", "CRYSTAL", "0 0 0", "225", "4.21", "2", site(12, 0, 0, 0), site(8, 0, 0, 0.5)]
    )
    for structure in (rocksalt_primitive(), rocksalt()):
        made = deck(structure)
        assert made["d12"] == expected + "\n" + TAIL.format(shrink="9 9")
        assert made["report"]["verified"] is True
        assert made["report"]["n_atoms"] == 8
        assert made["report"]["n_atoms_primitive"] == 2


def test_silicon_stands_at_an_eighth(deck: Make) -> None:
    cell = np.array([[0, 1, 1], [1, 0, 1], [1, 1, 0]]) * 5.43 / 2
    made = deck(crystal(cell, ["Si", "Si"], [(0, 0, 0), (0.25, 0.25, 0.25)]))
    lines = made["d12"].splitlines()
    assert lines[1:7] == ["CRYSTAL", "0 0 0", "227", "5.43", "1", site(14, 0.125, 0.125, 0.125)]


U, V = 0.3053, 0.2081
W, X, C = 0.35216, 0.55624, 0.2578
Places = list[tuple[float, float, float]]


def rhombohedral(a: float, c: float) -> np.ndarray:
    """The primitive cell of a hexagonal one, obverse."""
    return np.array([[2, 1, 1], [-1, 1, 1], [-1, -2, 1]]) / 3 @ np.array(hexagonal(a, c))


def obverse(places: Places) -> Places:
    shifts = [(0, 0, 0), (2 / 3, 1 / 3, 1 / 3), (1 / 3, 2 / 3, 2 / 3)]
    return [(x + a, y + b, z + c) for x, y, z in places for a, b, c in shifts]


def pbnm(place: tuple[float, float, float], count: int) -> Places:
    x, y, z = place
    images = [(x, y, z), (-x, -y, z + 0.5), (x + 0.5, 0.5 - y, -z), (0.5 - x, y + 0.5, 0.5 - z)]
    images += [(-a, -b, -c) for a, b, c in images]
    different = {tuple(round(v % 1.0, 6) % 1.0 for v in image): image for image in images}
    assert len(different) == count
    return list(different.values())


def monoclinic(x: float, y: float, z: float) -> Places:
    return [(x, y, z), (-x, -y, -z), (-x, y + 0.5, 0.5 - z), (x, 0.5 - y, z + 0.5)]


CRYSTALS: list[tuple[str, Structure, int, str, int]] = [
    (
        "rutile",
        crystal(
            [4.594, 4.594, 2.959],
            ["Ti"] * 2 + ["O"] * 4,
            [(0, 0, 0), (0.5,) * 3, (U, U, 0), (1 - U, 1 - U, 0), (0.5 + U, 0.5 - U, 0.5),
             (0.5 - U, 0.5 + U, 0.5)],
        ),
        136, "4.594 2.959", 2,
    ),
    (
        "anatase",
        crystal(
            [3.7845, 3.7845, 9.5143],
            ["Ti"] * 4 + ["O"] * 8,
            [(0, 0, 0), (0, 0.5, 0.25), (0.5, 0.5, 0.5), (0.5, 0, 0.75), (0, 0, V), (0, 0, -V),
             (0, 0.5, 0.25 + V), (0, 0.5, 0.25 - V), (0.5, 0.5, 0.5 + V), (0.5, 0.5, 0.5 - V),
             (0.5, 0, 0.75 + V), (0.5, 0, 0.75 - V)],
        ),
        141, "3.7845 9.5143", 2,
    ),
    (
        "wurtzite",
        crystal(
            hexagonal(3.25, 5.207),
            ["Zn", "Zn", "O", "O"],
            [(1 / 3, 2 / 3, 0), (2 / 3, 1 / 3, 0.5), (1 / 3, 2 / 3, 0.3819),
             (2 / 3, 1 / 3, 0.8819)],
        ),
        186, "3.25 5.207", 2,
    ),
    (
        "triclinic",
        crystal([[4.0, 0, 0], [0.3, 5.0, 0], [0.2, 0.4, 6.0]], ["Na", "Cl", "O"],
                [(0.1, 0.2, 0.3), (0.6, 0.75, 0.8), (0.3, 0.5, 0.1)]),
        1, "", 3,
    ),
    (
        "corundum from its rhombohedral cell",
        crystal(rhombohedral(4.7602, 12.9933), ["Al"] * 4 + ["O"] * 6,
                [(w, w, w) for w in (W, 0.5 - W, 1 - W, 0.5 + W)]
                + [(X, 0.5 - X, 0.25), (0.5 - X, 0.25, X), (0.25, X, 0.5 - X),
                   (-X, 0.5 + X, 0.75), (0.5 + X, 0.75, -X), (0.75, -X, 0.5 + X)]),
        167, "4.7602 12.9933", 2,
    ),
    (
        "calcite",
        crystal(hexagonal(4.99, 17.061), ["Ca"] * 6 + ["C"] * 6 + ["O"] * 18,
                obverse([(0, 0, 0), (0, 0, 0.5)]) + obverse([(0, 0, 0.25), (0, 0, 0.75)])
                + obverse([(C, 0, 0.25), (0, C, 0.25), (-C, -C, 0.25), (-C, 0, 0.75),
                           (0, -C, 0.75), (C, C, 0.75)])),
        167, "4.99 17.061", 3,
    ),
    (
        "perovskite CaTiO3 in Pbnm",
        crystal([5.381, 5.441, 7.644], ["Ca"] * 4 + ["Ti"] * 4 + ["O"] * 12,
                pbnm((0.9929, 0.0356, 0.25), 4) + pbnm((0.5, 0, 0), 4)
                + pbnm((0.0711, 0.4842, 0.25), 4) + pbnm((0.7111, 0.2887, 0.0373), 8)),
        62, "5.441 7.644 5.381", 4,
    ),
    (
        "monoclinic in P21/c",
        crystal([[5.1, 0, 0], [0, 6.2, 0], [-1.2, 0, 7.0]], ["K"] * 4 + ["Cl"] * 4,
                monoclinic(0.1, 0.2, 0.3) + monoclinic(0.4, 0.55, 0.35)),
        14, "5.1 6.2 7.10211236 99.72757855", 2,
    ),
]  # fmt: skip


@pytest.mark.parametrize(("name", "structure", "group", "lattice", "sites"), CRYSTALS)
def test_crystals_have_their_group_and_minimal_cell(
    deck: Make, name: str, structure: Structure, group: int, lattice: str, sites: int
) -> None:
    lines = deck(structure)["d12"].splitlines()
    assert lines[1:3] == ["CRYSTAL", "0 0 0"]
    assert int(lines[3]) in (group, 1)
    assert not lattice or lines[4] == lattice
    assert lattice or len(lines[4].split()) == 6
    assert lines[5] == str(sites)


def layer(
    a: float, b: float, gamma: float, sites: list[tuple[str, float, float, float]]
) -> Structure:
    """A layer that is wrapped across c = 0, in a cell of 25 Å."""
    turn = np.radians(gamma)
    cell = [[a, 0, 0], [b * np.cos(turn), b * np.sin(turn), 0], [0, 0, 25.0]]
    fractions = [(x, y, (0.97 + z / 25.0) % 1.0) for _, x, y, z in sites]
    return crystal(cell, [symbol for symbol, *_ in sites], fractions)


S = 1.56
LAYERS: list[tuple[str, Structure, int, list[str]]] = [
    ("graphene", layer(2.46, 2.46, 120, [("C", 1 / 3, 2 / 3, 0), ("C", 2 / 3, 1 / 3, 0)]), 80,
     ["2.46", "1", site(6, 1 / 3, 2 / 3, 0)]),
    ("1H", layer(3.16, 3.16, 120, [("Mo", 1 / 3, 2 / 3, 0), ("S", 2 / 3, 1 / 3, S),
                                   ("S", 2 / 3, 1 / 3, -S)]), 78,
     ["3.16", "2", site(42, 0, 0, 0), site(16, 1 / 3, 2 / 3, S)]),
    ("1T", layer(3.16, 3.16, 120, [("Mo", 0, 0, 0), ("S", 2 / 3, 1 / 3, S),
                                   ("S", 1 / 3, 2 / 3, -S)]), 72,
     ["3.16", "2", site(42, 0, 0, 0), site(16, 1 / 3, 2 / 3, -S)]),
    ("phosphorene", layer(4.58, 3.32, 90, [("P", 0.089, 0, 1.06), ("P", 0.911, 0, -1.06),
                                           ("P", 0.589, 0.5, -1.06), ("P", 0.411, 0.5, 1.06)]),
     43, ["3.32 4.58", "1", site(15, 0, 0.089, 1.06)]),
]  # fmt: skip


@pytest.mark.parametrize(("name", "structure", "group", "expected"), LAYERS)
def test_layers_have_the_number_of_the_program_and_z_in_angstrom(
    deck: Make, name: str, structure: Structure, group: int, expected: list[str]
) -> None:
    made = deck(structure)
    lines = made["d12"].splitlines()
    assert lines[1:3] == ["SLAB", str(group)]
    assert lines[3 : 3 + len(expected)] == expected
    assert made["report"]["shrink"][2] == 1


def test_a_layer_whose_origin_is_not_known_is_written_without_symmetry(deck: Make) -> None:
    cell = layer(3.77, 3.77, 90, [("Fe", 0, 0, 0), ("Fe", 0.5, 0.5, 0), ("Se", 0, 0.5, 1.4),
                                  ("Se", 0.5, 0, -1.4)])  # fmt: skip
    made = deck(cell)
    assert made["d12"].splitlines()[1:5] == ["SLAB", "1", "3.77 3.77 90.0", "4"]
    assert any("written as group 1" in text for text in made["report"]["warnings"])


def test_a_molecule_has_no_lattice_and_no_mesh(deck: Make) -> None:
    lines = deck(water(), {"basis": "STO-3G"})["d12"].splitlines()
    assert lines[1:5] == ["MOLECULE", "1", "3", site(8, 0, 0, 0.1173)]
    assert "SHRINK" not in lines


def test_a_rod_has_lengths_across_and_one_number(deck: Make) -> None:
    rod = crystal([2.5, 20, 20], ["C", "C"], [(0, 0.5, 0.5), (0.5, 0.53, 0.5)])
    lines = deck(rod)["d12"].splitlines()
    assert lines[1:5] == ["POLYMER", "1", "2.5", "2"]
    assert [float(word) for word in lines[6].split()] == [6, 0.5, 0.3, 0]


def test_an_external_deck_comes_with_its_geometry(deck: Make) -> None:
    made = deck(rocksalt(), {"dimension": "external"})
    lines = made["d12"].splitlines()
    assert lines[1:3] == ["EXTERNAL", "BASISSET"]
    gui = made["gui"].splitlines()
    assert gui[0].split() == ["3", "5", "6"]
    assert gui[4].split() == ["48"]
    assert gui[-1].split() == ["225", "48"]


def test_a_distorted_crystal_keeps_its_distortion(deck: Make) -> None:
    distorted = rocksalt()
    distorted.positions[4:, 2] += 0.05
    made = deck(distorted, {"symprec_angstrom": 1e-3})
    assert made["report"]["group"] != 225


def test_the_same_crystal_given_otherwise_is_the_same_deck(deck: Make) -> None:
    given = CRYSTALS[0][1]
    expected = deck(given)["d12"]
    rng = np.random.default_rng(5)
    turn, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    turn *= np.linalg.det(turn)
    order = rng.permutation(6)
    order = np.concatenate([order[order < 2], order[order >= 2]])
    moved = crystal(
        given.cell @ turn,
        [given.symbols[i] for i in order],
        (given.fractions[order] + [0.1, 0.2, 0.3]) % 1.0,
    )
    assert deck(moved)["d12"] == expected


def test_a_large_cell_without_symmetry_is_written_with_a_warning(deck: Make) -> None:
    rng = np.random.default_rng(3)
    grid = np.array(list(np.ndindex(10, 10, 6)), dtype=float)
    places = (grid + rng.uniform(0.1, 0.5, grid.shape)) / [10, 10, 6]
    made = deck(crystal([26.0, 27.0, 17.0], ["Si"] * 600, places))
    assert made["report"]["group"] == 1
    assert made["d12"].splitlines()[5] == "600"
    assert any("expensive" in warning for warning in made["report"]["warnings"])


def test_spins_follow_their_atoms_into_the_order_of_the_deck(deck: Make) -> None:
    cell = crystal([4.0, 4.0, 6.0], ["O", "Ni", "O", "Ni"],
                   [(0.5, 0.5, 0.5), (0, 0, 0.5), (0.5, 0.5, 0), (0, 0, 0)])  # fmt: skip
    lines = deck(cell, {"spin": {"atom_spins": {"2": -1, "4": 1}}})["d12"].splitlines()
    at = lines.index("ATOMSPIN")
    assert lines[at + 1] == "2"
    sites = [line.split() for line in lines[6 : 6 + int(lines[5])]]
    spins = {value: sites[int(atom) - 1] for atom, value in map(str.split, lines[at + 2 : at + 4])}
    assert {spins["1"][0], spins["-1"][0]} == {"28"}
    gap = float(spins["1"][3]) - float(spins["-1"][3])
    assert abs(gap) == pytest.approx(0.5)


def test_a_cell_without_end_is_refused_at_once(deck: Make) -> None:
    from crystalmath.codes.crystal.generate.deck import check_count

    many = Structure(None, (False,) * 3, ["H"] * 10_000, np.zeros((10_000, 3)))
    with pytest.raises(InputRejected, match="10000 atoms"):
        check_count(many)


def test_titles_are_one_line_of_ascii(deck: Make) -> None:
    made: dict[str, Any] = deck(rocksalt(), {"title": "my oxide"})
    assert made["d12"].startswith("my oxide\n")
