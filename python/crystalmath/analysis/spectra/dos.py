"""The electronic density of states, with its energies from the Fermi level.

How a curve was made of levels is part of the result.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from crystalmath.analysis.flags import Flag
from crystalmath.analysis.spectra.broadening import Shape, broadened
from crystalmath.analysis.spectra.tetrahedra import states_below
from crystalmath.errors import InputRejected
from crystalmath.structures.structure import Floats

ALLOWED_LOSS: Final = 0.005
"""Relative difference between the integral and the electrons."""


@dataclass(frozen=True, slots=True, eq=False)
class DensityOfStates:
    """A density of states.

    Attributes
    ----------
    energies_ev
        From the Fermi level, in equal steps.
    densities_per_ev
        States per eV and cell, shape (n_spins, n_energies); positive for both spins.
    electrons
        The integral up to the Fermi level.
    method
        ``tetrahedron``, or the smearing with its width.
    """

    energies_ev: Floats
    densities_per_ev: Floats
    electrons: float
    method: str
    flags: tuple[Flag, ...]


def smeared_dos(
    levels_ev: Floats,
    k_weights: Floats,
    fermi_ev: float,
    energies_ev: Floats,
    width_ev: float,
    *,
    shape: Shape = "gaussian",
    electrons: float | None = None,
) -> DensityOfStates:
    """Make a density of states of levels by smearing.

    Parameters
    ----------
    levels_ev
        Shape (n_spins, n_k, n_bands).
    k_weights
        Shape (n_k,), of any sum.
    fermi_ev
        On the scale of the levels.
    energies_ev
        Where it is wanted: in equal steps, from the Fermi level.
    width_ev
        Full width at half maximum.
    electrons
        Of the levels, per cell. The integral is compared with it.
    """
    levels = _levels(levels_ev)
    weights = np.asarray(k_weights, dtype=float)
    if weights.shape != levels.shape[1:2] or not weights.sum() > 0:
        raise InputRejected(f"{levels.shape[1]} k points need as many weights", field="k_weights")
    each = (weights / weights.sum())[:, None] * np.full(levels.shape[1:], _filling(levels))
    grid = np.asarray(energies_ev, dtype=float)
    curves = [broadened(spin - fermi_ev, each, grid, width_ev, shape) for spin in levels]
    return _of_curves(grid, np.array(curves), f"{shape}, width {width_ev:g} eV", electrons)


def tetrahedron_dos(
    levels_ev: Floats,
    lattice: Floats,
    fermi_ev: float,
    energies_ev: Floats,
    *,
    electrons: float | None = None,
) -> DensityOfStates:
    """Make a density of states of levels on a whole mesh by linear tetrahedra.

    Parameters
    ----------
    levels_ev
        Shape (n_spins, n_1, n_2, n_3, n_bands): a Γ-centred mesh, all its points.
    lattice
        Row vectors in Å; decides along which diagonal the cells are divided.
    """
    levels = np.asarray(levels_ev, dtype=float)
    if levels.ndim != 5:
        raise InputRejected(
            "tetrahedra need the levels of a whole mesh: spins, three axes, bands",
            field="levels_ev",
        )
    grid = np.asarray(energies_ev, dtype=float)
    step = float(grid[1] - grid[0]) if grid.size > 1 else 0.0
    if step <= 0 or not np.allclose(np.diff(grid), step):
        raise InputRejected("the energies must rise in equal steps", field="energies_ev")
    # the mean of each step, so that nothing is lost between two energies
    edges = np.append(grid - step / 2, grid[-1] + step / 2)
    counts = np.array([states_below(spin - fermi_ev, lattice, edges) for spin in levels])
    filling = _filling(levels)
    below = sum(float(states_below(s - fermi_ev, lattice, np.zeros(1))[0]) for s in levels)
    found = filling * (below - float(counts[:, 0].sum()))
    curves = filling * np.diff(counts, axis=1) / step
    return DensityOfStates(grid, curves, found, "tetrahedron", _lost(found, electrons))


def _levels(levels_ev: Floats) -> Floats:
    levels = np.asarray(levels_ev, dtype=float)
    if levels.ndim != 3 or not np.isfinite(levels).all():
        raise InputRejected(
            "levels are finite numbers by spin, k point and band", field="levels_ev"
        )
    return levels


def _filling(levels: Floats) -> float:
    """How many electrons a level holds."""
    return 2.0 if levels.shape[0] == 1 else 1.0


def _of_curves(
    grid: Floats, curves: Floats, method: str, electrons: float | None
) -> DensityOfStates:
    below = grid <= 1e-9
    edge = np.append(grid[below], 0.0)
    total = curves.sum(axis=0)
    height = np.append(total[below], np.interp(0.0, grid, total))
    found = float(np.trapezoid(height, edge)) if below.any() else 0.0
    return DensityOfStates(grid, curves, found, method, _lost(found, electrons))


def _lost(found: float, electrons: float | None) -> tuple[Flag, ...]:
    if electrons is None or abs(found - electrons) <= ALLOWED_LOSS * electrons:
        return ()
    return (
        Flag(
            "electrons_lost",
            f"the integral up to the Fermi level is {found:.3f}, and there are {electrons:g} "
            "electrons: the energies begin too high, the steps are too wide, or the mesh is too "
            "coarse",
        ),
    )
