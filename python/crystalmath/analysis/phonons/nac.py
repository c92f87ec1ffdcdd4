"""Born charges and the dielectric tensor: what splits LO from TO in polar crystals.

X. Gonze, C. Lee, Phys. Rev. B 55, 10355 (1997), doi:10.1103/PhysRevB.55.10355.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from crystalmath.errors import InputRejected
from crystalmath.structures.structure import Floats
from crystalmath.units import BOHR_ANGSTROM, HARTREE_EV

COULOMB_EV_ANGSTROM: Final = HARTREE_EV * BOHR_ANGSTROM
"""e²/(4 π ε₀) in eV Å."""
_NEUTRAL: Final = 0.05
"""e. Charges of a cell that add up to more are not converged."""


@dataclass(frozen=True, slots=True, eq=False)
class PolarResponse:
    """How a crystal answers to fields.

    Attributes
    ----------
    born_charges
        In e, for each atom of the plan's structure, shape (n_atoms, 3, 3): first index the
        polarisation, second the displacement.
    dielectric
        Electronic (high-frequency) dielectric tensor, 3×3.
    """

    born_charges: Floats
    dielectric: Floats


def symmetrised(phonopy: Any, polar: PolarResponse) -> dict[str, Any]:
    """The parameters of phonopy's non-analytical term.

    Raises
    ------
    InputRejected
        The tensors do not fit the structure, or the charges do not add up to zero.
    """
    from phonopy.structure.symmetry import symmetrize_borns_and_epsilon

    charges = np.asarray(polar.born_charges, dtype=float)
    dielectric = np.asarray(polar.dielectric, dtype=float)
    atoms = len(phonopy.unitcell)
    if charges.shape != (atoms, 3, 3) or dielectric.shape != (3, 3):
        raise InputRejected(
            f"Born charges of shape {charges.shape} and a dielectric tensor of shape "
            f"{dielectric.shape} do not belong to a cell of {atoms} atoms",
            field="born",
        )
    if not (np.isfinite(charges).all() and np.isfinite(dielectric).all()):
        raise InputRejected("a Born charge or dielectric constant is not finite", field="born")
    if np.linalg.eigvalsh((dielectric + dielectric.T) / 2)[0] <= 0:
        raise InputRejected("the dielectric tensor must be positive", field="born.dielectric")
    left = float(np.abs(charges.sum(axis=0)).max()) / atoms
    if left > _NEUTRAL:
        raise InputRejected(
            f"the Born charges of the cell do not add up to zero: {left:.2g} e per atom is left",
            hint="converge them with more k points, or look at the order of the atoms",
            field="born",
        )
    born, epsilon = symmetrize_borns_and_epsilon(
        charges,
        dielectric,
        phonopy.unitcell,
        primitive_matrix=phonopy.primitive_matrix,
        supercell_matrix=phonopy.supercell_matrix,
        primitive=phonopy.primitive,
        symprec=phonopy.symmetry.tolerance,
    )
    return {"born": born, "dielectric": epsilon, "factor": COULOMB_EV_ANGSTROM}
