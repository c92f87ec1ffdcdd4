"""The results document of phonons."""

from __future__ import annotations

from collections.abc import Mapping

from crystalmath.analysis.bands.path import shown
from crystalmath.analysis.phonons.spectrum import PhononBands, PhononDos, Thermodynamics
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


def phonon_document(
    bands: PhononBands,
    dos: PhononDos,
    thermal: Thermodynamics,
    provenance: Mapping[str, str],
) -> ResultsDocument:
    """Make a document of phonons."""
    lowest = min(float(line.min()) for line in bands.lines)
    highest = max(float(line.max()) for line in bands.lines)
    return ResultsDocument(
        kind="phonon",
        title=f"Phonons along {bands.path.title}",
        quantities=(
            Quantity("lowest", "lowest frequency on the path", lowest, "THz"),
            Quantity("highest", "highest frequency on the path", highest, "THz"),
            Quantity("atoms", "atoms of the primitive cell", float(thermal.atoms)),
            *_at_temperatures(thermal),
        ),
        tables=(_thermal(thermal), _special(bands)),
        plots=(_bands(bands), _dos(dos), _heat(thermal)),
        flags=tuple(dict.fromkeys((*bands.flags, *dos.flags, *thermal.flags))),
        provenance=provenance,
    )


def _at_temperatures(found: Thermodynamics) -> list[Quantity]:
    """Those at 0 K and 300 K, where they were computed; per mole of primitive cells."""
    wanted = (
        (0.0, "free_energy_0k", "zero-point energy", "kJ/mol", found.free_energies_kj_per_mol),
        (300.0, "free_energy_300k", "F(300 K)", "kJ/mol", found.free_energies_kj_per_mol),
        (300.0, "entropy_300k", "S(300 K)", "J/K/mol", found.entropies_j_per_k_mol),
        (300.0, "heat_capacity_300k", "Cᵥ(300 K)", "J/K/mol", found.heat_capacities_j_per_k_mol),
    )
    temperatures = found.temperatures_k.tolist()
    return [
        Quantity(name, label, float(values[temperatures.index(at)]), unit)
        for at, name, label, unit, values in wanted
        if at in temperatures
    ]


def _thermal(found: Thermodynamics) -> Table:
    return Table(
        "thermodynamics",
        "Harmonic crystal at fixed volume, per mole of primitive cells",
        (
            Column("temperature", "K", numbers(found.temperatures_k)),
            Column("free_energy", "kJ/mol", numbers(found.free_energies_kj_per_mol)),
            Column("entropy", "J/K/mol", numbers(found.entropies_j_per_k_mol)),
            Column("heat_capacity", "J/K/mol", numbers(found.heat_capacities_j_per_k_mol)),
        ),
    )


def _special(bands: PhononBands) -> Table:
    """Frequencies at the ends of each line."""
    ends: list[tuple[str, str, tuple[float, ...]]] = []
    for (start, end), line in zip(bands.path.lines, bands.lines, strict=True):
        name = f"{shown(start)}–{shown(end)}"
        ends.append((shown(start), name, numbers(line[0])))
        ends.append((shown(end), name, numbers(line[-1])))
    modes = len(ends[0][2])
    return Table(
        "special_points",
        "Frequencies at the ends of each line",
        (
            Column("point", "", tuple(end[0] for end in ends)),
            Column("line", "", tuple(end[1] for end in ends)),
            *(
                Column(f"mode {mode + 1}", "THz", tuple(end[2][mode] for end in ends))
                for mode in range(modes)
            ),
        ),
    )


def _bands(bands: PhononBands) -> Plot:
    points = bands.points
    curves = []
    for number, ((a, b), line) in enumerate(zip(points.lines, bands.lines, strict=True), start=1):
        x = numbers(points.distances[a : b + 1], X_DECIMALS)
        curves += [
            Curve(f"line {number}, mode {mode}", x, numbers(frequencies, Y_DECIMALS))
            for mode, frequencies in enumerate(line.T, start=1)
        ]
    ticks, breaks = axis_of(points)
    return Plot(
        "bands", "Phonon bands", "wave vector", "frequency / THz", tuple(curves), ticks, breaks
    )


def _dos(found: PhononDos) -> Plot:
    return Plot(
        "dos",
        "Phonon density of states",
        "frequency / THz",
        "states / THz⁻¹",
        (Curve("total", numbers(found.frequencies_thz), numbers(found.densities_per_thz)),),
    )


def _heat(found: Thermodynamics) -> Plot:
    return Plot(
        "heat_capacity",
        "Heat capacity at fixed volume",
        "temperature / K",
        "heat capacity / J/K/mol",
        (
            Curve(
                "harmonic",
                numbers(found.temperatures_k),
                numbers(found.heat_capacities_j_per_k_mol),
            ),
        ),
    )
