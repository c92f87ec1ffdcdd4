"""Elastic constants from strains and stresses.

Stress = residual stress + C · strain + what is quadratic along each strain, by least squares over
those constants alone that the symmetry leaves free. Our own, since the strains are reduced by
symmetry and each constant comes with its uncertainty; the tests hold it against pymatgen.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from crystalmath.analysis.elastic.data import with_images
from crystalmath.analysis.elastic.invariants import free_stiffness, free_stress
from crystalmath.analysis.elastic.response import Response, responses
from crystalmath.analysis.elastic.strains import Strain, second_piola_kirchhoff
from crystalmath.analysis.elastic.voigt import stress_vector, turned_stiffness
from crystalmath.analysis.flags import Flag
from crystalmath.analysis.point_group import on_cartesian, periodic, rotations_of
from crystalmath.analysis.relaxed import STRESS_GPA
from crystalmath.errors import BadResult, InputRejected, Underdetermined
from crystalmath.structures.structure import Floats, Structure
from crystalmath.structures.symmetry.crystal import SYMPREC_A, find_symmetry
from crystalmath.units import EV_PER_ANGSTROM3_GPA

_NOT_LINEAR: Final = 0.05
"""Residual of the fit, relative to the largest stress."""


@dataclass(frozen=True, slots=True, eq=False)
class ElasticConstants:
    """The stiffness of a crystal.

    Attributes
    ----------
    stiffness_gpa
        6×6, Voigt, in the Cartesian axes of the standard cell: a along x, b in the xy plane.
    errors_gpa
        Standard errors of its components, in the same axes.
    stiffness_as_calculated_gpa
        The same in the axes of the structure.
    free
        How many constants the symmetry leaves free.
    residual_stress_gpa
        Of the unstrained cell, six components, from the fit; axes of the structure.
    rms_gpa
        Root mean square difference between stresses and fit.
    space_group
        Whose symmetry was used.
    responses
        Stress over strain along each line of strains; axes of the structure.
    """

    stiffness_gpa: Floats
    errors_gpa: Floats
    stiffness_as_calculated_gpa: Floats
    free: int
    residual_stress_gpa: Floats
    rms_gpa: float
    space_group: int
    responses: tuple[Response, ...]
    flags: tuple[Flag, ...]


def fit_elastic(
    structure: Structure,
    strains: Sequence[Strain],
    stresses_ev_per_angstrom3: Sequence[Floats],
    symprec_angstrom: float = SYMPREC_A,
) -> ElasticConstants:
    """Fit the elastic constants.

    Parameters
    ----------
    structure
        The relaxed, unstrained one.
    strains
        Those whose calculation succeeded.
    stresses_ev_per_angstrom3
        Cauchy stress of each, 3×3, positive under tension (ASE's sign, the opposite of a pressure),
        with the atoms relaxed in the strained cell.

    Raises
    ------
    InputRejected
        There are no strains, or not as many stresses.
    BadResult
        A stress is not finite.
    Underdetermined
        The strains leave some constants open.
    """
    crystal = periodic(structure, "elastic constants")
    pulled = _pulled_back(strains, stresses_ev_per_angstrom3)
    turns = on_cartesian(rotations_of(crystal, symprec_angstrom), crystal.cell)
    stiffness, stress = free_stiffness(turns), free_stress(turns)
    if not strains:
        raise InputRejected("there are no strains", field="strains")
    data = with_images([strain.strain for strain in strains], pulled, turns)
    design = data.design(stiffness, stress)
    count, linear = len(stiffness), len(stiffness) + len(stress)
    if np.linalg.matrix_rank(design[:, :linear], tol=1e-6) < linear:
        raise Underdetermined(
            f"{len(strains)} strained cells do not determine the {count} elastic constants that "
            "the symmetry leaves free",
            hint="compute all strains of the set; one that failed may be needed",
        )
    found, residuals, covariance = data.solve(design)
    symmetry = find_symmetry(crystal, symprec_angstrom)
    basis = np.array([turned_stiffness(c, symmetry.rotation) for c in stiffness])
    residual = found[count:linear] @ stress
    variance = np.einsum("aij,ab,bij->ij", basis, covariance[:count, :count], basis)
    return ElasticConstants(
        stiffness_gpa=np.tensordot(found[:count], basis, axes=1),
        errors_gpa=np.sqrt(np.maximum(variance, 0.0)),
        stiffness_as_calculated_gpa=np.tensordot(found[:count], stiffness, axes=1),
        free=count,
        residual_stress_gpa=residual,
        rms_gpa=float(np.sqrt(np.mean(residuals**2))),
        space_group=symmetry.number,
        responses=responses(data, residuals),
        flags=_doubts(residuals, pulled, residual, data.one_sided),
    )


def _pulled_back(strains: Sequence[Strain], stresses: Sequence[Floats]) -> Floats:
    """Second Piola–Kirchhoff stresses in GPa, shape (n, 6)."""
    if len(strains) != len(stresses):
        raise InputRejected(
            f"there are {len(strains)} strains and {len(stresses)} stresses", field="stresses"
        )
    rows = []
    for strain, stress in zip(strains, stresses, strict=True):
        cauchy = np.asarray(stress, dtype=float)
        if cauchy.shape != (3, 3) or not np.isfinite(cauchy).all():
            raise BadResult(f"the stress of the cell {strain.name} is not a finite 3 × 3 tensor")
        rows.append(stress_vector(second_piola_kirchhoff(cauchy, strain.deformation)))
    return np.reshape(rows, (-1, 6)) * EV_PER_ANGSTROM3_GPA


def _doubts(
    residuals: Floats, stresses: Floats, residual_stress: Floats, one_sided: bool
) -> tuple[Flag, ...]:
    flags = []
    largest = float(np.abs(stresses).max())
    if one_sided:
        flags.append(
            Flag(
                "one_sided",
                "a strain was computed with one sign alone: what is quadratic in it counts as "
                "elastic constant",
            )
        )
    if float(np.abs(residuals).max()) > _NOT_LINEAR * largest:
        flags.append(
            Flag(
                "not_linear",
                f"a stress is {np.abs(residuals).max():.2g} GPa off a smooth curve, of "
                f"{largest:.2g} GPa: the strains are too large, or a cell relaxed to another state",
            )
        )
    left = float(np.abs(residual_stress).max(initial=0.0))
    if left > STRESS_GPA:
        flags.append(
            Flag(
                "residual_stress",
                f"the unstrained cell is under {left:.2g} GPa: these are constants under stress, "
                "not those of the relaxed crystal",
            )
        )
    return tuple(flags)
