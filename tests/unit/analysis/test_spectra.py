from __future__ import annotations

import numpy as np
import pytest

from crystalmath.analysis.spectra.broadening import Shape, broadened
from crystalmath.analysis.spectra.dos import smeared_dos, tetrahedron_dos
from crystalmath.errors import InputRejected
from crystalmath.structures.structure import Floats


@pytest.mark.parametrize("shape", ["gaussian", "lorentzian"])
def test_a_peak_has_its_area_and_its_width(shape: Shape) -> None:
    grid = np.linspace(-400, 400, 400_001)
    curve = broadened(np.array([1.0]), np.array([3.0]), grid, 0.5, shape)
    assert np.trapezoid(curve, grid) == pytest.approx(3.0, rel=1e-3)
    wide = grid[curve >= curve.max() / 2]
    assert wide[-1] - wide[0] == pytest.approx(0.5, abs=0.005)
    assert grid[curve.argmax()] == pytest.approx(1.0, abs=0.002)


def test_many_lines_are_the_sum_of_each() -> None:
    random = np.random.default_rng(1)
    lines, weights = random.random(3000), random.random(3000)
    grid = np.linspace(-1, 2, 2001)
    total = broadened(lines, weights, grid, 0.3)
    some = sum(
        broadened(lines[i : i + 1000], weights[i : i + 1000], grid, 0.3) for i in (0, 1000, 2000)
    )
    assert total == pytest.approx(some)


def test_peaks_without_width_are_refused() -> None:
    with pytest.raises(InputRejected, match="width"):
        broadened(np.zeros(1), np.ones(1), np.zeros(1), 0.0)
    with pytest.raises(InputRejected, match="weights"):
        broadened(np.zeros(2), np.ones(1), np.zeros(1), 1.0)


def _free_electrons(n: int) -> Floats:
    """The lowest band of a simple cubic lattice in tight binding, −6 … 6 eV, on a mesh."""
    k = 2 * np.pi * np.arange(n) / n
    x, y, z = np.meshgrid(k, k, k, indexing="ij")
    return (-2 * (np.cos(x) + np.cos(y) + np.cos(z)))[None, ..., None]


def test_half_a_band_holds_one_electron() -> None:
    levels = _free_electrons(16)
    grid = np.arange(-8, 8.001, 0.02)
    flat = levels.reshape(1, -1, 1)
    smeared = smeared_dos(flat, np.ones(flat.shape[1]), 0.0, grid, 0.4, electrons=1.0)
    whole = tetrahedron_dos(levels, np.eye(3), 0.0, grid, electrons=1.0)
    for dos in (smeared, whole):
        assert dos.electrons == pytest.approx(1.0, rel=5e-3)
        assert not dos.flags
        assert np.trapezoid(dos.densities_per_ev[0], grid) == pytest.approx(2.0, rel=5e-3)
    assert whole.method == "tetrahedron"
    assert smeared.method == "gaussian, width 0.4 eV"


def test_tetrahedra_agree_with_ase_in_every_kind_of_cell() -> None:
    from ase.dft.dos import linear_tetrahedron_integration

    random = np.random.default_rng(8)
    levels = random.normal(size=(3, 4, 3, 2))
    lattice = np.eye(3) + 0.3 * random.normal(size=(3, 3))
    grid = np.arange(-4, 4.0001, 0.002)
    ours = tetrahedron_dos(levels[None], lattice, 0.0, grid)
    some = slice(None, None, 50)
    theirs = linear_tetrahedron_integration(lattice, levels, grid[some])
    assert ours.densities_per_ev[0][some] / 2 == pytest.approx(np.asarray(theirs), abs=0.02)
    assert ours.densities_per_ev[0].sum() * 0.002 == pytest.approx(4.0, rel=1e-9)


def test_a_flat_band_is_not_lost() -> None:
    grid = np.arange(-1, 1.001, 0.1)
    dos = tetrahedron_dos(np.full((1, 2, 2, 2, 1), -0.52), np.eye(3), 0.0, grid, electrons=2.0)
    assert dos.electrons == pytest.approx(2.0)
    assert not dos.flags


def test_both_spins_are_positive_and_apart_and_the_zero_is_the_fermi_level() -> None:
    levels = np.concatenate([_free_electrons(12), _free_electrons(12) + 12.0])
    flat = levels.reshape(2, -1, 1)
    grid = np.arange(-14, 14.001, 0.02)
    dos = smeared_dos(flat, np.ones(flat.shape[1]), 6.0, grid, 0.3, electrons=1.0)
    assert dos.densities_per_ev.shape == (2, grid.size)
    assert (dos.densities_per_ev >= 0).all()
    assert dos.electrons == pytest.approx(1.0, rel=0.02)
    assert grid[dos.densities_per_ev[0] > 1e-3].max() < 1.0
    assert grid[dos.densities_per_ev[1] > 1e-3].min() > -1.0


def test_lost_electrons_are_said() -> None:
    flat = _free_electrons(8).reshape(1, -1, 1)
    grid = np.arange(-2, 2.001, 0.02)
    dos = smeared_dos(flat, np.ones(flat.shape[1]), 0.0, grid, 0.3, electrons=1.0)
    assert [flag.code for flag in dos.flags] == ["electrons_lost"]


def test_levels_that_do_not_fit_are_refused() -> None:
    grid = np.linspace(-1, 1, 11)
    with pytest.raises(InputRejected):
        smeared_dos(np.zeros((1, 3, 2)), np.ones(2), 0.0, grid, 0.1)
    with pytest.raises(InputRejected):
        smeared_dos(np.zeros((3, 2)), np.ones(3), 0.0, grid, 0.1)
    with pytest.raises(InputRejected):
        tetrahedron_dos(np.zeros((1, 3, 2)), np.eye(3), 0.0, grid)
    with pytest.raises(InputRejected, match="equal steps"):
        tetrahedron_dos(np.zeros((1, 2, 2, 2, 1)), np.eye(3), 0.0, np.array([0.0, 1.0, 3.0]))
