"""The strained cells of a measurement: as few as the symmetry of the crystal allows.

Six strains, one for each component, each with four sizes. Of strains that a rotation of the crystal
carries into each other one is enough.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from crystalmath.analysis.elastic.voigt import strain_tensor, strain_vector
from crystalmath.analysis.point_group import on_cartesian, periodic, rotations_of
from crystalmath.errors import InputRejected
from crystalmath.structures.structure import Floats, Structure
from crystalmath.structures.symmetry.crystal import SYMPREC_A

SIZES: Final = (-0.01, -0.005, 0.005, 0.01)
"""Of the tensor components: ± 0.5 and ± 1 %."""
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
        Of the tensor components; both signs, so that what is quadratic cancels.

    Raises
    ------
    InputRejected
    """
    _check_sizes(sizes)
    crystal = periodic(structure, "elastic constants")
    turns = on_cartesian(rotations_of(crystal, symprec_angstrom), crystal.cell)
    chosen: list[Strain] = []
    seen: list[Floats] = []
    for component, label in enumerate(("xx", "yy", "zz", "yz", "xz", "xy")):
        for size in sizes:
            vector = np.zeros(6)
            vector[component] = size if component < 3 else 2 * size
            tensor = strain_tensor(vector)
            if any(np.abs(tensor - known).max() < _SAME for known in seen):
                continue
            seen += [turn @ tensor @ turn.T for turn in turns]
            chosen.append(Strain(f"{label} {100 * size:+g} %", vector, _deformation(tensor)))
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
