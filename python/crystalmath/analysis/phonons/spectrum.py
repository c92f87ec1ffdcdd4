"""Bands, density of states and thermodynamics of a harmonic crystal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from crystalmath.analysis.bands.path import (
    SPACING_INV_ANGSTROM,
    BandPath,
    SampledPath,
    band_path,
    in_cell,
    sampled,
)
from crystalmath.analysis.flags import Flag
from crystalmath.analysis.mesh import breaking_rotation
from crystalmath.analysis.phonons.model import PhononModel
from crystalmath.analysis.point_group import on_reciprocal
from crystalmath.errors import InputRejected
from crystalmath.structures.structure import Floats

MESH: Final = 20
"""Points along each reciprocal vector."""
IMAGINARY_THZ: Final = -0.05
"""Below it, and away from Γ, the crystal is not stable; above it is noise of the acoustic rule."""
_AT_GAMMA: Final = 1e-8


@dataclass(frozen=True, slots=True, eq=False)
class PhononBands:
    """Frequencies along a path.

    Attributes
    ----------
    path, points
        Labels and breaks; fractions of the standard primitive cell of ``path``.
    lines
        THz, for each line of the path the frequencies at its points, both ends included: in polar
        crystals those at Γ depend on the line.
    """

    path: BandPath
    points: SampledPath
    lines: tuple[Floats, ...]
    flags: tuple[Flag, ...]


@dataclass(frozen=True, slots=True, eq=False)
class PhononDos:
    """States per THz and primitive cell; the integral is three times its atoms."""

    frequencies_thz: Floats
    densities_per_thz: Floats
    mesh: tuple[int, int, int]
    flags: tuple[Flag, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Thermodynamics:
    """Of the harmonic crystal at fixed volume, per mole of primitive cells.

    Attributes
    ----------
    temperatures_k
    free_energies_kj_per_mol
        Helmholtz, with the zero point energy; of the vibrations alone.
    entropies_j_per_k_mol, heat_capacities_j_per_k_mol
    modes, excluded
        How many modes of the mesh count, and how many imaginary ones do not.
    """

    temperatures_k: Floats
    free_energies_kj_per_mol: Floats
    entropies_j_per_k_mol: Floats
    heat_capacities_j_per_k_mol: Floats
    mesh: tuple[int, int, int]
    atoms: int
    modes: int
    excluded: int
    flags: tuple[Flag, ...]


def phonon_bands(
    model: PhononModel, spacing_inv_angstrom: float = SPACING_INV_ANGSTROM
) -> PhononBands:
    """Frequencies along the path of the crystal.

    Raises
    ------
    InputRejected
    """
    plan = model.plan
    path = band_path(plan.structure, plan.symprec_angstrom)
    points = sampled(path, spacing_inv_angstrom)
    at = in_cell(path, points.fractions, plan.primitive_lattice)
    found = model.phonopy.run_band_structure([at[a : b + 1] for a, b in points.lines])
    lines = tuple(np.asarray(line, dtype=float) for line in found.frequencies)
    away = [line[_away(at[a : b + 1])] for line, (a, b) in zip(lines, points.lines, strict=True)]
    flags = unstable(np.concatenate(away), "along the path")
    return PhononBands(path, points, lines, (*model.flags, *flags))


def phonon_dos(
    model: PhononModel, mesh: Sequence[int] | int = MESH, step_thz: float = 0.02
) -> PhononDos:
    """Density of states, by tetrahedra on a Γ-centred mesh.

    Parameters
    ----------
    step_thz
        Of the frequencies.
    """
    if not step_thz > 0:
        raise InputRejected("the step must be positive", field="step_thz")
    sizes = _sizes(mesh)
    on_mesh = model.phonopy.run_mesh(sizes, is_gamma_center=True)
    frequencies = np.asarray(on_mesh.frequencies)
    margin = 3 * step_thz
    found = model.phonopy.run_total_dos(
        freq_min=float(frequencies.min()) - margin,
        freq_max=float(frequencies.max()) + margin,
        freq_pitch=step_thz,
    )
    flags = unstable(frequencies[_away(on_mesh.qpoints)], "on the mesh")
    return PhononDos(
        np.asarray(found.frequency_points, dtype=float),
        np.asarray(found.dos, dtype=float),
        sizes,
        (*model.flags, *flags),
    )


def thermodynamics(
    model: PhononModel, temperatures_k: Sequence[float] | Floats, mesh: Sequence[int] | int = MESH
) -> Thermodynamics:
    """Free energy, entropy and heat capacity.

    The mesh lies half a step beside Γ where that keeps the symmetry, since the acoustic modes of Γ
    have no place in these sums: where Γ is a point they are left out. Imaginary modes are left
    out, too, and flagged.

    Parameters
    ----------
    temperatures_k
        Not negative.
    """
    temperatures = np.asarray(temperatures_k, dtype=float)
    if temperatures.size == 0 or not (np.isfinite(temperatures) & (temperatures >= 0)).all():
        raise InputRejected("temperatures must be 0 K or more", field="temperatures_k")
    sizes = _sizes(mesh)
    on_mesh = model.phonopy.run_mesh(sizes, is_gamma_center=not _may_be_shifted(model, sizes))
    found = model.phonopy.run_thermal_properties(
        temperatures=temperatures, cutoff_frequency=0.0, exclude_gamma_acoustic=True
    )
    away = _away(on_mesh.qpoints)
    weights = np.asarray(on_mesh.weights)[away]
    frequencies = np.asarray(on_mesh.frequencies)
    excluded = int((weights[:, None] * (frequencies[away] <= 0)).sum())
    flags = list(unstable(frequencies[away], "on the mesh"))
    if excluded:
        flags.append(
            Flag(
                "modes_excluded",
                f"{excluded} of {found.number_of_modes} modes are imaginary and are not part of "
                "the thermodynamic functions",
            )
        )
    return Thermodynamics(
        temperatures,
        np.asarray(found.free_energy, dtype=float),
        np.asarray(found.entropy, dtype=float),
        np.asarray(found.heat_capacity, dtype=float),
        sizes,
        len(model.phonopy.primitive),
        int(found.number_of_integrated_modes),
        excluded,
        (*model.flags, *flags),
    )


def _may_be_shifted(model: PhononModel, sizes: tuple[int, int, int]) -> bool:
    """Whether a mesh beside Γ has the symmetry: phonopy shifts along axes of an even number."""
    rotations = np.asarray(model.phonopy.primitive_symmetry.pointgroup_operations, dtype=np.int64)
    shift = [1 - size % 2 for size in sizes]
    return breaking_rotation(sizes, on_reciprocal(rotations), shift) is None


def unstable(frequencies_thz: Floats, where: str) -> tuple[Flag, ...]:
    """The flag of a crystal with imaginary frequencies.

    Parameters
    ----------
    frequencies_thz
        Away from Γ, imaginary ones negative.
    """
    lowest = float(frequencies_thz.min(initial=0.0))
    if lowest >= IMAGINARY_THZ:
        return ()
    return (
        Flag(
            "unstable",
            f"the lowest frequency {where} is imaginary, {abs(lowest):.2f}i THz: the crystal is "
            "not stable, or not relaxed, or the supercell is too small",
        ),
    )


def _away(q_points: Floats) -> Floats:
    """Which points are not Γ."""
    off = np.asarray(q_points) - np.rint(q_points)
    return np.asarray(np.abs(off).max(axis=1) > _AT_GAMMA)


def _sizes(mesh: Sequence[int] | int) -> tuple[int, int, int]:
    a, b, c = (mesh,) * 3 if isinstance(mesh, int) else mesh
    if min(a, b, c) < 1:
        raise InputRejected("a mesh is three numbers of at least 1", field="mesh")
    return a, b, c
