"""The one place where a phonopy object is made. Everything it would guess is given."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from crystalmath.structures.structure import Structure

if TYPE_CHECKING:
    from crystalmath.analysis.phonons.displacements import DisplacementPlan


def phonopy_of(plan: DisplacementPlan) -> Any:
    """Make the phonopy object of a plan, without forces.

    Its default primitive cell differs between versions, so the matrix is always given.
    """
    from phonopy import Phonopy

    return Phonopy(
        atoms_of(plan.structure),
        supercell_matrix=np.diag(plan.sizes),
        primitive_matrix=plan.primitive_matrix,
        symprec=plan.symprec_angstrom,
        log_level=0,
    )


def atoms_of(structure: Structure) -> Any:
    """A structure as phonopy takes it, with natural masses."""
    from phonopy.structure.atoms import PhonopyAtoms

    moments = structure.sites.moments
    return PhonopyAtoms(
        symbols=structure.symbols,
        cell=structure.cell,
        positions=structure.positions,
        magnetic_moments=[m or 0.0 for m in moments] if moments and any(moments) else None,
    )
