"""The results document of electronic bands, with a density of states if there is one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np

from crystalmath.analysis.bands.gap import BandEdges, Level
from crystalmath.analysis.bands.path import BandPath, SampledPath, shown
from crystalmath.analysis.results.axis import axis_of
from crystalmath.analysis.results.document import (
    X_DECIMALS,
    Y_DECIMALS,
    Column,
    Curve,
    Plot,
    Quantity,
    ResultsDocument,
    Table,
    numbers,
)
from crystalmath.analysis.spectra.dos import DensityOfStates
from crystalmath.errors import InputRejected
from crystalmath.structures.structure import Floats

_LEVEL_DECIMALS: Final = 5
"""Of levels in eV in the plot: ten times better than what an SCF gives."""
_SAME_POINT: Final = 1e-5
"""Fractions closer than this are one k point."""


def bands_document(
    path: BandPath,
    points: SampledPath,
    energies_ev: Floats,
    edges: BandEdges,
    provenance: Mapping[str, str],
    *,
    zero_ev: float,
    dos: DensityOfStates | None = None,
) -> ResultsDocument:
    """Make a document of bands.

    Parameters
    ----------
    energies_ev
        At the points of the path, shape (n_spins, n_points, n_bands).
    zero_ev
        What counts as zero in the plot: the Fermi energy, or the valence band edge.

    Raises
    ------
    InputRejected
        Energies and points do not fit each other.
    """
    if energies_ev.ndim != 3 or energies_ev.shape[1] != len(points.fractions):
        raise InputRejected(
            f"energies of shape {energies_ev.shape} do not belong to a path of "
            f"{len(points.fractions)} points",
            field="energies_ev",
        )
    plots = [_bands(points, energies_ev - zero_ev)]
    if dos is not None:
        plots.append(_dos(dos, edges))
    return ResultsDocument(
        kind="bands",
        title=f"Bands along {path.title}: {_verdict(edges)}",
        quantities=(*_quantities(edges, path, points, zero_ev), *_of_dos(dos)),
        tables=() if edges.metal else (_edges(edges, path, points),),
        plots=tuple(plots),
        flags=(*edges.flags, *(() if dos is None else dos.flags)),
        provenance=provenance,
    )


def _verdict(edges: BandEdges) -> str:
    if edges.metal:
        return "a metal"
    return "a direct gap" if edges.direct else "an indirect gap"


def _quantities(
    edges: BandEdges, path: BandPath, points: SampledPath, zero_ev: float
) -> list[Quantity]:
    found = [
        Quantity("gap", "band gap", edges.gap_ev, "eV"),
        Quantity("direct_gap", "smallest direct gap", edges.direct_gap_ev, "eV"),
    ]
    if len(edges.spin_gaps_ev) == 2:
        for name, gap in zip(("up", "down"), edges.spin_gaps_ev, strict=True):
            found.append(Quantity(f"gap_{name}", f"gap of spin {name}", gap, "eV"))
    for name, level in (("valence", edges.valence), ("conduction", edges.conduction)):
        if level is not None:
            label = f"{name} band edge, {place_of(level, path, points)}"
            found.append(Quantity(name, label, level.energy_ev, "eV"))
    zero = "Fermi energy, zero of the plots" if edges.metal else "zero of the plots"
    return [*found, Quantity("zero", zero, zero_ev, "eV")]


def place_of(level: Level, path: BandPath, points: SampledPath) -> str:
    """Where a level is, in the words of the path: ``at Γ``, ``on Γ–X``, ``beside the path``."""
    for label, at in path.points.items():
        if _same(level, np.array(at)):
            return f"at {shown(label)}"
    for (start, end), (first, last) in zip(path.lines, points.lines, strict=True):
        if any(_same(level, point) for point in points.fractions[first : last + 1]):
            return f"on {shown(start)}–{shown(end)}"
    return "beside the path"


def _same(level: Level, point: Floats) -> bool:
    apart = np.array(level.k_point) - point
    return bool(np.abs(apart - np.rint(apart)).max() < _SAME_POINT)


def _of_dos(dos: DensityOfStates | None) -> tuple[Quantity, ...]:
    if dos is None:
        return ()
    return (Quantity("electrons", "electrons, by the density of states", dos.electrons),)


def _edges(edges: BandEdges, path: BandPath, points: SampledPath) -> Table:
    rows = [
        (name, level)
        for name, level in (("valence", edges.valence), ("conduction", edges.conduction))
        if level is not None
    ]
    return Table(
        "edges",
        f"Band edges, {_verdict(edges)}",
        (
            Column("edge", "", tuple(name for name, _ in rows)),
            Column("energy", "eV", tuple(level.energy_ev for _, level in rows)),
            Column("k_point", "", tuple(_at(level) for _, level in rows)),
            Column("place", "", tuple(place_of(level, path, points) for _, level in rows)),
            Column("band", "", tuple(float(level.band + 1) for _, level in rows)),
            Column("spin", "", tuple(float(level.spin + 1) for _, level in rows)),
        ),
    )


def _at(level: Level) -> str:
    return " ".join(f"{value:.4f}" for value in level.k_point)


def _bands(points: SampledPath, energies: Floats) -> Plot:
    curves = []
    for spin, levels in enumerate(energies, start=1):
        for number, (a, b) in enumerate(points.lines, start=1):
            x = numbers(points.distances[a : b + 1], X_DECIMALS)
            for band in range(levels.shape[1]):
                label = f"spin {spin}, line {number}, band {band + 1}"
                curves.append(Curve(label, x, numbers(levels[a : b + 1, band], _LEVEL_DECIMALS)))
    ticks, breaks = axis_of(points)
    return Plot("bands", "Bands", "wave vector", "energy / eV", tuple(curves), ticks, breaks)


def _dos(found: DensityOfStates, edges: BandEdges) -> Plot:
    spins = found.densities_per_ev.shape[0]
    labels = ("total",) if spins == 1 else ("spin up", "spin down")
    return Plot(
        "dos",
        f"Density of states ({found.method})",
        f"energy from the {'Fermi level' if edges.metal else 'valence band edge'} / eV",
        "states / eV⁻¹",
        tuple(
            Curve(label, numbers(found.energies_ev, X_DECIMALS), numbers(density, Y_DECIMALS))
            for label, density in zip(labels, found.densities_per_ev, strict=True)
        ),
    )
