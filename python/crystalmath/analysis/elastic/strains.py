"""The strained cells of a measurement: as few as the symmetry of the crystal allows.

Each component is strained with four sizes. Of strains that a rotation of the crystal carries into
each other one is enough, and components that add nothing to the constants are left out.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from crystalmath.analysis.elastic.invariants import free_stiffness
from crystalmath.analysis.elastic.voigt import strain_tensor, strain_vector
from crystalmath.analysis.point_group import on_cartesian, periodic, rotations_of
from crystalmath.errors import InputRejected
from crystalmath.structures.structure import Floats, Structure
from crystalmath.structures.symmetry.crystal import SYMPREC_A

SIZES: Final = (-0.01, -0.005, 0.005, 0.01)
"""Of the components in Voigt's notation, so shear is counted double: ± 0.5 and ± 1 %."""
_SAME: Final = 1e-6


@dataclass(frozen=True, slots=True, eq=False)
class Strain:
    """One strained cell.

    Attributes
    ----------
    name
        Component and size: ``xy +0.5 %``.
    strain
        Green–Lagrange strain, Voigt vector with doubled shear.
    deformation
        The symmetric matrix F with (FᵀF − 1)/2 = strain; lattice vectors turn into F a.
    """

    name: str
    strain: Floats
    deformation: Floats

    def applied(self, structure: Structure) -> Structure:
        """The structure in the strained cell, with its fractions; atoms are to be relaxed there."""
        return replace(
            structure,
            lattice=structure.cell @ self.deformation.T,
            positions=structure.positions @ self.deformation.T,
        )


def strains_of(
    structure: Structure,
    sizes: tuple[float, ...] = SIZES,
    symprec_angstrom: float = SYMPREC_A,
) -> list[Strain]:
    """Choose the strains of a crystal.

    Parameters
    ----------
    sizes
        Of the Voigt components; both signs, so that what is quadratic cancels.

    Raises
    ------
    InputRejected
    """
    _check_sizes(sizes)
    crystal = periodic(structure, "elastic constants")
    turns = on_cartesian(rotations_of(crystal, symprec_angstrom), crystal.cell)
    stiffness = free_stiffness(turns)
    chosen: list[Strain] = []
    rows: Floats = np.empty((0, len(stiffness)))
    seen: list[Floats] = []
    for component, label in enumerate(("xx", "yy", "zz", "yz", "xz", "xy")):
        unit = np.eye(6)[component]
        gained = np.concatenate([rows, (stiffness @ unit).T])
        if np.linalg.matrix_rank(gained, tol=_SAME) == np.linalg.matrix_rank(rows, tol=_SAME):
            continue
        rows = gained
        for size in sizes:
            tensor = strain_tensor(size * unit)
            if any(np.abs(tensor - image).max() < _SAME for image in seen):
                continue
            seen += [turn @ tensor @ turn.T for turn in turns]
            chosen.append(Strain(f"{label} {100 * size:+g} %", size * unit, _deformation(tensor)))
    return chosen


def _check_sizes(sizes: tuple[float, ...]) -> None:
    if not sizes or any(not 1e-4 <= abs(size) <= 0.03 for size in sizes):
        raise InputRejected("strains must be between 0.0001 and 0.03", field="sizes")
    if sorted(sizes) != sorted(-size for size in sizes):
        raise InputRejected(
            "give each size of a strain with both signs",
            hint="with one sign alone the quadratic part of the stress counts as elastic constant",
            field="sizes",
        )


def _deformation(strain: Floats) -> Floats:
    """The symmetric root of 1 + 2 ε."""
    values, vectors = np.linalg.eigh(np.eye(3) + 2 * strain)
    return np.asarray(vectors @ np.diag(np.sqrt(values)) @ vectors.T, dtype=np.float64)


def strain_of(given: Floats, strained: Floats) -> Floats:
    """The Green–Lagrange strain between two cells, as a Voigt vector.

    Parameters
    ----------
    given, strained
        Row vectors in Å.
    """
    deformation = np.linalg.solve(given, strained).T
    return strain_vector((deformation.T @ deformation - np.eye(3)) / 2)


def second_piola_kirchhoff(cauchy: Floats, deformation: Floats) -> Floats:
    """The stress that belongs to the Green–Lagrange strain: det F · F⁻¹ σ F⁻ᵀ.

    D. C. Wallace, Thermodynamics of Crystals (1972).

    Parameters
    ----------
    cauchy
        The stress of the strained cell, 3×3, positive under tension.
    """
    inverse = np.linalg.inv(deformation)
    return np.asarray(np.linalg.det(deformation) * inverse @ cauchy @ inverse.T, dtype=np.float64)
