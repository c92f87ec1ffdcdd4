from __future__ import annotations

import json

import numpy as np
import pytest

from crystalmath.analysis.bands.gap import band_edges, occupied_bands
from crystalmath.analysis.bands.path import band_path, in_cell, own_path, sampled, shown
from crystalmath.errors import InputRejected, Underdetermined
from crystalmath.structures.read import structure_of
from crystalmath.structures.structure import Floats, Structure
from support.cases import case
from support.crystals import (
    crystal,
    hexagonal,
    repeated,
    rocksalt,
    rocksalt_primitive,
    turned,
    water,
)

FCC_LINES = (
    ("GAMMA", "X"), ("X", "U"), ("K", "GAMMA"), ("GAMMA", "L"), ("L", "W"), ("W", "X"),
)  # fmt: skip


def test_case_26() -> None:
    given = structure_of({"path": str(case("structures/26_band_cell.vasp"))})
    expected = json.loads(case("structures/26_band_cell.expected.json").read_text())["expected"]
    path = band_path(given)
    assert len(path.structure.symbols) == 2
    assert [list(line) for line in path.lines] == expected["path"]
    assert path.points["X"] == pytest.approx(expected["X"])
    assert path.points["L"] == pytest.approx(expected["L"])
    assert path.given_cells == 4
    with pytest.raises(InputRejected, match="holds 4 of them") as caught:
        own_path(given)
    assert "`materials.convert.cell: primitive`" in (caught.value.hint or "")
    assert path.title == "Γ–X–U | K–Γ–L–W–X"


@pytest.mark.parametrize(
    "given",
    [
        rocksalt(),
        rocksalt_primitive(),
        repeated(rocksalt_primitive(), (2, 1, 1)),
        turned(rocksalt(), 5),
    ],
)
def test_every_form_of_a_crystal_has_the_same_path(given: Structure) -> None:
    path = band_path(given)
    assert path.lines == FCC_LINES
    assert path.lattice == "cF2"
    assert sorted(path.structure.symbols) == ["Mg", "O"]
    assert path.structure.volume == pytest.approx(4.21**3 / 4)
    assert path.given_cells == len(given.symbols) // 2


def test_neighbouring_points_are_near_and_breaks_have_no_length() -> None:
    path = band_path(rocksalt())
    points = sampled(path, 0.05)
    reciprocal = 2 * np.pi * np.linalg.inv(path.structure.cell).T
    total = 0.0
    for (a, b), (start, end) in zip(points.lines, path.lines, strict=True):
        line = points.fractions[a : b + 1]
        assert line[0] == pytest.approx(path.points[start])
        assert line[-1] == pytest.approx(path.points[end])
        steps = np.linalg.norm(np.diff(line, axis=0) @ reciprocal, axis=1)
        assert steps.max() <= 0.05 + 1e-9
        total += steps.sum()
    assert points.distances[-1] == pytest.approx(total)
    assert (np.diff(points.distances) >= 0).all()
    u, k = (i for i, label in points.ticks if label in "UK")
    assert k == u + 1
    assert points.distances[u] == points.distances[k]
    # Γ–X of fcc is 2π/a
    assert points.distances[points.lines[0][1]] == pytest.approx(2 * np.pi / 4.21)


def test_points_are_the_same_waves_in_every_cell_of_the_crystal() -> None:
    for given in (rocksalt(), turned(rocksalt(), 8), repeated(rocksalt_primitive(), (1, 2, 1))):
        path = band_path(given)
        fractions = np.array([path.points[name] for name in ("X", "L", "W", "K")])
        at = in_cell(path, fractions, given.cell)
        there = at @ np.linalg.inv(given.cell).T @ path.rotation.T
        expected = fractions @ np.linalg.inv(path.structure.cell).T
        assert there == pytest.approx(expected, abs=1e-6)


def test_a_foreign_cell_is_refused() -> None:
    path = band_path(rocksalt())
    with pytest.raises(InputRejected, match="does not belong"):
        in_cell(path, np.zeros((1, 3)), np.diag([3.3, 3.1, 2.0]))


def test_a_crystal_without_inversion_needs_the_other_half_when_it_is_magnetic() -> None:
    zincblende = crystal(
        np.array([[0, 1, 1], [1, 0, 1], [1, 1, 0]]) * 2.7,
        ["Zn", "S"],
        [(0, 0, 0), (0.25,) * 3],
    )
    assert len(band_path(zincblende, time_reversal=False).lines) == 12
    assert len(band_path(zincblende).lines) == 6


def test_layers_and_molecules_have_no_path() -> None:
    layer = crystal(hexagonal(2.46, 20.0), ["C"], [(0, 0, 0)], (True, True, False))
    for given in (water(), layer):
        with pytest.raises(InputRejected, match="three directions"):
            band_path(given)
    with pytest.raises(InputRejected, match="spacing"):
        sampled(band_path(rocksalt()), 0.0)


def test_labels_as_printed() -> None:
    assert [shown(name) for name in ("GAMMA", "S_0", "DELTA_0", "X'")] == ["Γ", "S0", "Δ0", "X'"]


K = np.array([[0, 0, 0], [0.25, 0, 0], [0.5, 0, 0], [0.5, 0.5, 0]])


def _bands(*rows: list[float]) -> Floats:
    return np.array(rows).T[None]


def test_an_indirect_gap() -> None:
    bands = _bands([-3.0] * 4, [1.0, 0.5, 0.2, 0.1], [3.0, 2.5, 2.1, 2.6])
    edges = band_edges(bands, K, (2,), with_mesh=True)
    assert not edges.metal
    assert edges.gap_ev == pytest.approx(1.1)
    assert edges.direct is False
    assert edges.direct_gap_ev == pytest.approx(1.9)
    assert edges.valence is not None
    assert edges.conduction is not None
    assert edges.valence.k_point == (0, 0, 0)
    assert edges.conduction.k_point == (0.5, 0, 0)
    assert (edges.valence.band, edges.conduction.band) == (1, 2)
    assert not edges.flags


def test_bands_given_in_any_order_and_a_direct_gap() -> None:
    bands = _bands([2.1, 2.5, 3.0, 3.0], [1.0, 0.5, 0.2, 0.1])
    edges = band_edges(bands, K, (1,), with_mesh=False)
    assert edges.direct is True
    assert edges.gap_ev == edges.direct_gap_ev == pytest.approx(1.1)
    assert [flag.code for flag in edges.flags] == ["path_only"]


def test_overlapping_bands_are_a_metal_with_no_gap() -> None:
    bands = _bands([1.0, 0.5, 0.2, 0.1], [2.1, 2.5, 0.9, 3.0])
    edges = band_edges(bands, K, (1,), with_mesh=True)
    assert edges.metal
    assert edges.gap_ev is None
    assert edges.valence is None


def test_both_spins_count() -> None:
    up = np.array([[1.0, 0.5, 0.2, 0.1], [3.0, 2.5, 2.1, 2.6]]).T
    down = np.array([[0.0, 0.4, 0.2, 0.1], [1.8, 1.9, 2.0, 2.6]]).T
    edges = band_edges(np.array([up, down]), K, (1, 1), with_mesh=True)
    assert edges.gap_ev == pytest.approx(0.8)
    assert edges.spin_gaps_ev == pytest.approx((1.1, 1.4))
    assert edges.direct_gap_ev == pytest.approx(1.5)
    assert edges.valence is not None
    assert edges.conduction is not None
    assert (edges.valence.spin, edges.conduction.spin) == (0, 1)


def test_a_half_metal_has_a_gap_in_one_spin_only() -> None:
    up = np.array([[1.0, 0.5, 0.2, 0.1], [3.0, 2.5, 2.1, 2.6]]).T
    down = np.array([[0.0, 0.4, 2.5, 0.1], [1.8, 1.9, 2.6, 2.3]]).T
    edges = band_edges(np.array([up, down]), K, (1, 1), with_mesh=True)
    assert edges.metal
    assert edges.spin_gaps_ev == (pytest.approx(1.1), None)


def test_electrons_fill_bands_or_make_a_metal() -> None:
    assert occupied_bands(8, 1) == (4,)
    assert occupied_bands(9, 1) is None
    assert occupied_bands(9, 2, 1.0) == (5, 4)
    assert occupied_bands(8, 2, 0.4) is None
    edges = band_edges(_bands([0.0] * 4), K, None, with_mesh=True)
    assert edges.metal
    assert edges.gap_ev is None


def test_too_few_bands_show_no_gap() -> None:
    with pytest.raises(Underdetermined, match="no empty band"):
        band_edges(_bands([0.0] * 4), K, (1,), with_mesh=True)


@pytest.mark.parametrize(
    ("energies", "occupied"),
    [
        (np.zeros((1, 3, 2)), (1,)),
        (np.zeros((2, 4, 2)), (1,)),
        (np.full((1, 4, 2), np.nan), (1,)),
        (np.zeros((1, 4, 2)), (0,)),
    ],
)
def test_bands_that_do_not_fit_are_refused(energies: Floats, occupied: tuple[int, ...]) -> None:
    with pytest.raises(InputRejected):
        band_edges(energies, K, occupied, with_mesh=True)
