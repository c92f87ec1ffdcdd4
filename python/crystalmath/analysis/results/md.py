"""The results document of a molecular dynamics."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from crystalmath.analysis.dynamics.motion import Motion
from crystalmath.analysis.dynamics.statistics import Average
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
from crystalmath.structures.structure import Floats

KEPT: Final = {
    "nve": "constant energy, velocity Verlet",
    "nvt": "constant temperature, Langevin (BAOAB)",
    "npt": "constant temperature and pressure, Langevin (BAOAB) with a moving cell",
}
_PER_ATOM: Final = {"energy", "total_energy", "volume"}
_DECIMALS: Final = {"energy": 8, "total_energy": 8}
"""Of energies per atom in plots: a drift may be a few µeV."""
_SERIES: Final = {
    "temperature": ("mean temperature", "K"),
    "energy": ("mean potential energy per atom", "eV"),
    "total_energy": ("mean total energy per atom", "eV"),
    "pressure": ("mean pressure", "GPa"),
    "volume": ("mean volume per atom", "Å³"),
}


def md_document(
    motion: Motion,
    times_fs: Floats,
    series: Mapping[str, Floats],
    atoms: int,
    settings: Mapping[str, str | float],
    provenance: Mapping[str, str],
) -> ResultsDocument:
    """Make a document of what was measured.

    Parameters
    ----------
    series
        As for :func:`motion.measure`: energies in eV and volumes in Å³ of the whole cell.
    settings
        What was asked for, by name; ``ensemble`` among it.
    """
    per_atom = {
        name: values / atoms if name in _PER_ATOM else values for name, values in series.items()
    }
    quantities = [
        _quantity(name, motion.averages[name], atoms) for name in _SERIES if name in per_atom
    ]
    start_ps = float(times_fs[motion.discarded] - times_fs[0]) / 1000
    counted_ps = float(times_fs[-1] - times_fs[motion.discarded]) / 1000
    drift = motion.drift
    quantities += [
        Quantity(
            "drift",
            "drift of the total energy per atom",
            1000 * drift.per_atom_ev_per_ps,
            "meV/ps",
            1000 * drift.error_ev_per_ps,
        ),
        Quantity("discarded", "start that does not count", start_ps, "ps"),
        Quantity("counted", "time that counts", counted_ps, "ps"),
        Quantity("atoms", "atoms in the cell", float(atoms)),
    ]
    return ResultsDocument(
        kind="md",
        title=f"Molecular dynamics at {KEPT[str(settings['ensemble'])]}",
        quantities=tuple(quantities),
        tables=(_averages(motion, per_atom, atoms), _settings(settings)),
        plots=tuple(_plots(times_fs, per_atom, start_ps)),
        flags=motion.flags,
        provenance=provenance,
    )


def _scale(name: str, atoms: int) -> float:
    return 1 / atoms if name in _PER_ATOM else 1.0


def _quantity(name: str, found: Average, atoms: int) -> Quantity:
    label, unit = _SERIES[name]
    scale = _scale(name, atoms)
    return Quantity(f"{name}_mean", label, scale * found.mean, unit, scale * found.error)


def _averages(motion: Motion, series: Mapping[str, Floats], atoms: int) -> Table:
    names = [name for name in _SERIES if name in series]
    found = [(motion.averages[name], _scale(name, atoms)) for name in names]
    return Table(
        "averages",
        "Averages of the frames that count",
        (
            Column("of", "", tuple(_SERIES[name][0] for name in names)),
            Column("unit", "", tuple(_SERIES[name][1] for name in names)),
            Column("mean", "", numbers(scale * one.mean for one, scale in found)),
            Column("standard error", "", numbers(scale * one.error for one, scale in found)),
            Column(
                "standard deviation",
                "",
                numbers(scale * one.standard_deviation for one, scale in found),
            ),
            Column("frames", "", numbers(one.samples for one, _ in found)),
            Column("frames worth one", "", numbers(one.correlation for one, _ in found)),
        ),
    )


def _settings(settings: Mapping[str, str | float]) -> Table:
    return Table(
        "settings",
        "How the atoms were moved",
        (
            Column("setting", "", tuple(settings)),
            Column("value", "", tuple(settings.values())),
        ),
    )


def _plots(times_fs: Floats, series: Mapping[str, Floats], start_ps: float) -> list[Plot]:
    times = numbers(times_fs / 1000, X_DECIMALS)
    shown = [
        ("temperature", "Temperature over time", "temperature / K"),
        ("total_energy", "Total energy over time", "total energy per atom / eV"),
        ("energy", "Potential energy over time", "potential energy per atom / eV"),
        ("volume", "Volume over time", "volume per atom / Å³"),
        ("pressure", "Pressure over time", "pressure / GPa"),
    ]
    return [
        Plot(
            name,
            f"{title}; averages begin at {start_ps:.3g} ps",
            "time / ps",
            label,
            (
                Curve(
                    name.replace("_", " "),
                    times,
                    numbers(series[name], _DECIMALS.get(name, Y_DECIMALS)),
                ),
            ),
        )
        for name, title, label in shown
        if name in series
    ]
