"""The edges of the bands: which are occupied, the gap, where it is, or that there is none.

Bands are counted, not compared with a Fermi energy: the Fermi energy of a mesh is the highest level
of that mesh, and a path that finds a higher one would make a metal of an insulator.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from crystalmath.analysis.flags import Flag
from crystalmath.errors import InputRejected, Underdetermined
from crystalmath.structures.structure import Floats

SAME_POINT: Final = 1e-6
"""Fractions closer than this are one k point."""
_OPEN: Final = 1e-3
"""eV. Bands closer than this touch."""
_TIE: Final = 1e-4
"""eV. Levels closer than this to an edge are at it; of their points the first is told."""


@dataclass(frozen=True, slots=True)
class Level:
    """An edge: energy, the k point where it is (fractions), the band (from 0) and the spin."""

    energy_ev: float
    k_point: tuple[float, float, float]
    band: int
    spin: int


@dataclass(frozen=True, slots=True)
class BandEdges:
    """What the bands say.

    Attributes
    ----------
    metal
        True when occupied and empty bands overlap, or a band is half filled.
    gap_ev
        Between the highest occupied and the lowest empty level; None for a metal.
    direct_gap_ev
        Smallest distance at one k point, within one spin; None for a metal.
    direct
        Whether both edges are at the same k point, or at points that symmetry makes equal.
    valence, conduction
        The edges; None for a metal.
    spin_gaps_ev
        The gap within each spin; None where its bands overlap.
    """

    metal: bool
    gap_ev: float | None
    direct_gap_ev: float | None
    direct: bool | None
    valence: Level | None
    conduction: Level | None
    spin_gaps_ev: tuple[float | None, ...]
    flags: tuple[Flag, ...]


def occupied_bands(
    electrons: float, spins: int, magnetisation: float = 0.0, tolerance: float = 1e-3
) -> tuple[int, ...] | None:
    """How many bands of each spin are full, or None when the numbers are not whole: a metal.

    Parameters
    ----------
    electrons
        Per cell.
    spins
        1 when each band holds two electrons, 2 for two sets of bands.
    magnetisation
        Electrons of spin up minus down, per cell.
    """
    each = (
        (electrons / 2,)
        if spins == 1
        else ((electrons + magnetisation) / 2, (electrons - magnetisation) / 2)
    )
    if any(abs(number - round(number)) > tolerance for number in each):
        return None
    return tuple(round(number) for number in each)


def band_edges(
    energies_ev: Floats,
    k_points: Floats,
    occupied: Sequence[int] | None,
    *,
    with_mesh: bool,
) -> BandEdges:
    """Find the edges.

    Parameters
    ----------
    energies_ev
        Shape (n_spins, n_k, n_bands); all points that there are, of the path and of a dense mesh.
    k_points
        Fractions of the reciprocal vectors, shape (n_k, 3).
    occupied
        Full bands of each spin (:func:`occupied_bands`), None for a metal.
    with_mesh
        Whether the points of a dense mesh are among them. Along a path alone the edges may be
        missed, which is said.

    Raises
    ------
    InputRejected
        The arrays do not fit each other.
    Underdetermined
        There are not enough bands to hold an empty one.
    """
    energies = np.asarray(energies_ev, dtype=float)
    k = np.asarray(k_points, dtype=float)
    if energies.ndim != 3 or k.shape != (energies.shape[1], 3):
        raise InputRejected(
            f"energies of shape {energies.shape} do not belong to k points of shape {k.shape}",
            field="energies_ev",
        )
    if not np.isfinite(energies).all():
        raise InputRejected("an energy is not a finite number", field="energies_ev")
    flags = () if with_mesh else (_path_only(),)
    if occupied is None:
        return BandEdges(True, None, None, None, None, None, (None,) * energies.shape[0], flags)
    _check_bands(energies, occupied)
    ordered = np.sort(energies, axis=2)
    spins = range(energies.shape[0])
    tops = [_edge(ordered, k, spin, occupied[spin] - 1, highest=True) for spin in spins]
    bottoms = [_edge(ordered, k, spin, occupied[spin], highest=False) for spin in spins]
    gaps = tuple(
        _open(low.energy_ev - top.energy_ev) if top is not None and low is not None else None
        for top, low in zip(tops, bottoms, strict=True)
    )
    valence = max((top for top in tops if top), key=lambda level: level.energy_ev)
    conduction = min((low for low in bottoms if low), key=lambda level: level.energy_ev)
    gap = _open(conduction.energy_ev - valence.energy_ev)
    if gap is None:
        return BandEdges(True, None, None, None, None, None, gaps, flags)
    apart = np.subtract(valence.k_point, conduction.k_point)
    same = bool(np.abs(apart - np.rint(apart)).max() < SAME_POINT)
    vertical = [
        float((ordered[s, :, occupied[s]] - ordered[s, :, occupied[s] - 1]).min())
        for s in spins
        if occupied[s] > 0
    ]
    # edges may have been found at two points that are equivalent
    direct = same or min(vertical) - gap < _OPEN
    return BandEdges(False, gap, min(vertical), direct, valence, conduction, gaps, flags)


def _check_bands(energies: Floats, occupied: Sequence[int]) -> None:
    if len(occupied) != energies.shape[0]:
        raise InputRejected(
            f"there are {energies.shape[0]} spins and {len(occupied)} numbers of occupied bands",
            field="occupied",
        )
    if min(occupied) < 0 or max(occupied) == 0:
        raise InputRejected("no band is occupied", field="occupied")
    if max(occupied) >= energies.shape[2]:
        raise Underdetermined(
            f"{energies.shape[2]} bands were computed and {max(occupied)} are occupied: there is "
            "no empty band to measure a gap to",
            hint="compute more bands",
        )


def _edge(energies: Floats, k: Floats, spin: int, band: int, *, highest: bool) -> Level | None:
    if band < 0:
        return None
    values = energies[spin, :, band]
    edge = float(values.max() if highest else values.min())
    at = int((np.abs(values - edge) < _TIE).argmax())
    x, y, z = (float(value) for value in k[at])
    return Level(edge, (x, y, z), band, spin)


def _open(gap: float) -> float | None:
    return gap if gap > _OPEN else None


def _path_only() -> Flag:
    return Flag(
        "path_only",
        "the edges are those of the path alone; a dense mesh may hold a smaller gap",
    )
