"""How many states lie below an energy, by linear interpolation in tetrahedra.

G. Lehmann, M. Taut, Phys. Status Solidi B 54, 469 (1972), doi:10.1002/pssb.2220540211; the division
along the shortest diagonal and the formulas: P. E. Blöchl, O. Jepsen, O. K. Andersen, Phys. Rev. B
49, 16223 (1994), doi:10.1103/PhysRevB.49.16223.
"""

from __future__ import annotations

import itertools

import numpy as np

from crystalmath.structures.structure import Floats, Integers


def states_below(levels: Floats, lattice: Floats, energies: Floats) -> Floats:
    """States per cell below each energy, one for each band.

    Parameters
    ----------
    levels
        Shape (n_1, n_2, n_3, n_bands), on a whole Γ-centred mesh.
    lattice
        Row vectors of the cell, Å.
    energies
        Rising, in the unit of the levels.
    """
    corners = _corners(lattice, levels.shape[:3])
    total = np.zeros(energies.size)
    for band in range(levels.shape[3]):
        for tetrahedron in corners:
            total += _below(_at(levels[..., band], tetrahedron), energies)
    return total / (6 * np.prod(levels.shape[:3]))


def _corners(lattice: Floats, mesh: tuple[int, ...]) -> Integers:
    """The six tetrahedra of a cell of the mesh, shape (6, 4, 3): steps of 0 and 1 per axis."""
    steps = np.linalg.inv(lattice).T / np.array(mesh)[:, None]
    flips = np.array([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)])
    lengths = np.linalg.norm((1 - 2 * flips) @ steps, axis=1)
    flip = flips[int(lengths.argmin())]
    paths = []
    for order in itertools.permutations(range(3)):
        path = np.zeros((4, 3), dtype=np.int64)
        for number, axis in enumerate(order, start=1):
            path[number:, axis] = 1
        paths.append(path ^ flip)
    return np.array(paths)


def _at(band: Floats, tetrahedron: Integers) -> Floats:
    """Energies of the four corners in every cell of the mesh, rising, shape (n_cells, 4)."""
    corners = [np.roll(band, tuple(-step), axis=(0, 1, 2)).ravel() for step in tetrahedron]
    return np.sort(np.array(corners).T, axis=1)


def _below(corners: Floats, energies: Floats) -> Floats:
    """The sum over tetrahedra of the part of each that lies below each energy."""
    first = np.searchsorted(energies, corners[:, 0], side="right")
    last = np.searchsorted(energies, corners[:, 3], side="left")
    whole = np.bincount(last, minlength=energies.size + 1)[: energies.size].cumsum()
    counts = np.maximum(last - first, 0)
    which = np.repeat(np.arange(len(corners)), counts)
    starts = np.cumsum(counts) - counts
    at = np.arange(counts.sum()) - np.repeat(starts, counts) + np.repeat(first, counts)
    part = _part(corners[which].T, energies[at])
    return whole + np.bincount(at, weights=part, minlength=energies.size)


def _part(corners: Floats, energy: Floats) -> Floats:
    """The part of tetrahedra below energies that lie between their lowest and highest corner."""
    e1, e2, e3, e4 = corners
    part = np.empty_like(energy)
    low, high = energy < e2, energy >= e3
    middle = ~(low | high)
    a, b, c, d, e = (values[low] for values in (e1, e2, e3, e4, energy))
    part[low] = (e - a) ** 3 / ((b - a) * (c - a) * (d - a))
    a, b, c, d, e = (values[high] for values in (e1, e2, e3, e4, energy))
    part[high] = 1 - (d - e) ** 3 / ((d - a) * (d - b) * (d - c))
    a, b, c, d, e = (values[middle] for values in (e1, e2, e3, e4, energy))
    x = e - b
    bend = (c - a + d - b) / ((c - b) * (d - b))
    part[middle] = ((b - a) ** 2 + 3 * (b - a) * x + 3 * x**2 - bend * x**3) / ((c - a) * (d - a))
    return part
