"""The one place where a phonopy object is made. Everything it would guess is given."""

from __future__ import annotations

import copy
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from crystalmath.analysis.phonons.displacements import DisplacementPlan


def phonopy_of(plan: DisplacementPlan) -> Any:
    """The phonopy object of a plan, without forces; the caller's own.

    Its default primitive cell differs between versions, so the matrix is always given. Finding the
    symmetry of a supercell takes seconds, so what was found for the last plans is kept.
    """
    structure = plan.structure
    found = _built(
        tuple(structure.symbols),
        structure.cell.tobytes(),
        structure.positions.tobytes(),
        structure.moments,
        plan.sizes,
        plan.primitive_matrix.tobytes(),
        plan.symprec_angstrom,
    )
    return copy.copy(found)  # what is set later, forces and what follows, is not shared


@lru_cache(maxsize=2)
def _built(  # noqa: PLR0917 - the arguments are the key
    symbols: tuple[str, ...],
    cell: bytes,
    positions: bytes,
    moments: tuple[float, ...] | None,
    sizes: tuple[int, int, int],
    primitive_matrix: bytes,
    symprec: float,
) -> Any:
    from phonopy import Phonopy
    from phonopy.structure.atoms import PhonopyAtoms

    atoms = PhonopyAtoms(
        symbols=symbols,
        cell=np.frombuffer(cell).reshape(3, 3),
        positions=np.frombuffer(positions).reshape(-1, 3),
        magnetic_moments=moments,
    )
    return Phonopy(
        atoms,
        supercell_matrix=np.diag(sizes),
        primitive_matrix=np.frombuffer(primitive_matrix).reshape(3, 3),
        symprec=symprec,
        log_level=0,
    )
