"""What a molecular dynamics says: averages after one common start, the drift, and doubts. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import sqrt
from typing import Final

import numpy as np

from crystalmath.analysis.dynamics.statistics import Average, Drift, average, drift
from crystalmath.analysis.flags import Flag
from crystalmath.errors import InputRejected
from crystalmath.structures.structure import Floats, Structure
from crystalmath.units import BOLTZMANN_EV_PER_K

_SURE: Final = 4.0
"""So many standard errors are no chance."""
_MUCH: Final = 0.02
"""A part of the temperature, or of the kinetic energy, that matters."""
_LONGEST_HYDROGEN_FS: Final = 0.5


@dataclass(frozen=True, slots=True)
class Settings:
    """How the atoms were moved."""

    ensemble: str
    timestep_fs: float
    temperature_k: float


@dataclass(frozen=True, slots=True)
class Motion:
    """What was measured.

    Attributes
    ----------
    discarded
        Frames at the start that do not count: where the last of the series comes to rest.
    averages
        By name of the series, of the frames that count.
    drift
        Of the total energy per atom: of all frames at constant energy, where it must be kept from
        the first step on, else of those that count.
    """

    discarded: int
    averages: Mapping[str, Average]
    drift: Drift
    flags: tuple[Flag, ...]


def free_directions(structure: Structure, ensemble: str) -> int:
    """Degrees of freedom that share the kinetic energy.

    A thermostat moves all 3N. At constant energy the velocities begin without a motion of the
    whole, nor, of a molecule, a rotation.
    """
    atoms = len(structure.symbols)
    if ensemble != "nve" or atoms == 1:
        return 3 * atoms
    if any(structure.pbc):
        return 3 * atoms - 3
    about_centre = structure.positions - structure.positions.mean(axis=0)
    turns = 3 if np.linalg.matrix_rank(about_centre, tol=1e-3) > 1 else 2
    return 3 * atoms - 3 - turns


def measure(
    times_fs: Floats, series: Mapping[str, Floats], atoms: int, settings: Settings
) -> Motion:
    """Average the series of a molecular dynamics.

    Parameters
    ----------
    series
        Values at each time: ``temperature`` (K), ``total_energy`` and ``energy`` (eV, of all
        atoms), and others.

    Raises
    ------
    TooFewPoints, InputRejected
    """
    if any(values.shape != times_fs.shape for values in series.values()):
        raise InputRejected("every series of a dynamics has one value for each time")
    alone = [average(values) for values in series.values()]
    start = max(one.discarded for one in alone)
    counted = {name: average(values, start) for name, values in series.items()}
    constant = settings.ensemble == "nve"
    first = 0 if constant else start
    total = series["total_energy"][first:]
    slope = drift(times_fs[first:], total, atoms)
    # values that know of each other say less about a slope
    worth = sqrt(average(total, 0).correlation)
    slope = replace(slope, error_ev_per_ps=slope.error_ev_per_ps * worth)
    flags = [flag for one in alone for flag in one.flags if flag.code == "not_equilibrated"]
    flags += [flag for one in counted.values() for flag in one.flags]
    temperature = counted["temperature"]
    span_ps = (times_fs[-1] - times_fs[first]) / 1000
    kinetic = 1.5 * BOLTZMANN_EV_PER_K * temperature.mean
    flags += _drift_flags(slope, span_ps, kinetic, constant=constant)
    flags += _temperature_flags(temperature, settings)
    return Motion(start, counted, slope, tuple(dict.fromkeys(flags)))


def hydrogen_flags(structure: Structure, timestep_fs: float) -> list[Flag]:
    """A doubt when steps are long for the lightest atom."""
    if "H" not in structure.symbols or timestep_fs <= _LONGEST_HYDROGEN_FS:
        return []
    return [
        Flag(
            "long_step",
            f"hydrogen moves fast: {timestep_fs:g} fs is a long step for it, "
            f"{_LONGEST_HYDROGEN_FS:g} fs is usual",
        )
    ]


def _drift_flags(slope: Drift, span_ps: float, kinetic_ev: float, *, constant: bool) -> list[Flag]:
    rise = slope.per_atom_ev_per_ps * span_ps
    if abs(slope.per_atom_ev_per_ps) < _SURE * slope.error_ev_per_ps:
        return []
    if abs(rise) < _MUCH * kinetic_ev:
        return []
    told = f"the total energy drifts by {1000 * rise:+.2g} meV per atom over {span_ps:.3g} ps"
    if constant:
        return [Flag("drift", f"{told}, though it should be kept: take a shorter time step")]
    return [Flag("drift", f"{told}: it was not in equilibrium; run longer")]


def _temperature_flags(temperature: Average, settings: Settings) -> list[Flag]:
    wanted = settings.temperature_k
    off = temperature.mean - wanted
    if abs(off) < max(_MUCH * wanted, _SURE * temperature.error):
        return []
    if settings.ensemble == "nve":
        return [
            Flag(
                "temperature",
                f"the mean temperature is {temperature.mean:.0f} K, not the {wanted:g} K of the "
                "first velocities: atoms that start at rest in a minimum share half of it",
            )
        ]
    return [
        Flag(
            "temperature",
            f"the mean temperature is {temperature.mean:.1f} ± {temperature.error:.1f} K, not the "
            f"{wanted:g} K of the thermostat: run longer, or take a shorter time step",
        )
    ]
