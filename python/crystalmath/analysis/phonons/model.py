"""Force constants, and the frequencies that follow from them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from crystalmath.analysis.flags import Flag
from crystalmath.analysis.phonons.displacements import DisplacementPlan
from crystalmath.analysis.phonons.nac import PolarResponse, symmetrised
from crystalmath.analysis.phonons.phonopy_object import phonopy_of
from crystalmath.errors import BadResult, InputRejected
from crystalmath.structures.structure import Floats

_DRIFT: Final = 0.005
"""eV/Å. More net force on a supercell, and the forces are not converged."""


@dataclass(frozen=True, slots=True, eq=False)
class PhononModel:
    """Harmonic crystal.

    Attributes
    ----------
    plan
        Structure, supercell and displacements.
    forces_ev_per_angstrom
        For each displacement the forces on the supercell.
    polar
        Born charges and dielectric tensor, if there are any.
    phonopy
        The object that computes; for the modules of this folder.
    """

    plan: DisplacementPlan
    forces_ev_per_angstrom: tuple[Floats, ...]
    polar: PolarResponse | None
    phonopy: Any
    flags: tuple[Flag, ...]

    @property
    def force_constants(self) -> Floats:
        """In eV/Å², shape (n_primitive_atoms, n_supercell_atoms, 3, 3)."""
        return np.asarray(self.phonopy.force_constants, dtype=np.float64)

    def frequencies(self, q_points: Floats, direction: Sequence[float] | None = None) -> Floats:
        """Frequencies in THz, imaginary ones negative, shape (n_q, n_modes), rising.

        Parameters
        ----------
        q_points
            Fractions of the reciprocal vectors of the primitive cell of the plan.
        direction
            From which side Γ is approached, fractions; decides the LO frequencies of polar
            crystals.
        """
        found = self.phonopy.run_qpoints(np.reshape(q_points, (-1, 3)), nac_q_direction=direction)
        return np.asarray(found.frequencies, dtype=np.float64)


def phonons_of(
    plan: DisplacementPlan,
    forces_ev_per_angstrom: Sequence[Floats | None],
    polar: PolarResponse | None = None,
    forces_at_rest: Floats | None = None,
) -> PhononModel:
    """Make phonons of forces.

    The force constants get the symmetry under exchange of two atoms and the acoustic sum rule.

    Parameters
    ----------
    forces_ev_per_angstrom
        One array (n_supercell_atoms, 3) for each displacement; None where it failed.
    polar
        Born charges of the structure's cell, for the non-analytical term.
    forces_at_rest
        Of the undisplaced supercell; subtracted from all others.

    Raises
    ------
    InputRejected
        Forces are missing.
    BadResult
        Forces of another number of atoms, or not finite.
    """
    forces = _checked(plan, forces_ev_per_angstrom)
    if forces_at_rest is not None:
        forces = [each - np.asarray(forces_at_rest, dtype=float) for each in forces]
    phonopy = phonopy_of(plan)
    phonopy.dataset = {
        "natom": len(phonopy.supercell),
        "first_atoms": [
            {"number": item.atom, "displacement": np.array(item.vector), "forces": each}
            for item, each in zip(plan.displacements, forces, strict=True)
        ],
    }
    phonopy.produce_force_constants(
        calculate_full_force_constants=False, fc_calculator="traditional", show_drift=False
    )
    phonopy.symmetrize_force_constants(level=2, show_drift=False)
    if polar is not None:
        phonopy.nac_params = symmetrised(phonopy, polar)
    return PhononModel(plan, tuple(forces), polar, phonopy, _doubts(plan, forces))


def _checked(plan: DisplacementPlan, forces: Sequence[Floats | None]) -> list[Floats]:
    missing = [i + 1 for i, each in enumerate(forces) if each is None]
    if len(forces) != len(plan.displacements) or missing:
        which = ", ".join(map(str, missing[:10])) or f"{len(forces)} of {len(plan.displacements)}"
        raise InputRejected(
            f"the forces of some displacements are missing ({which})",
            hint="compute them again: each displacement is needed",
            field="forces",
        )
    atoms = len(plan.structure.symbols) * int(np.prod(plan.sizes))
    found = []
    for number, each in enumerate(forces, start=1):
        array = np.asarray(each, dtype=float)
        if array.shape != (atoms, 3):
            raise BadResult(
                f"displacement {number} has forces of shape {array.shape}; the supercell has "
                f"{atoms} atoms"
            )
        if not np.isfinite(array).all():
            raise BadResult(f"displacement {number} has a force that is not finite")
        found.append(array)
    return found


def _doubts(plan: DisplacementPlan, forces: Sequence[Floats]) -> tuple[Flag, ...]:
    flags = []
    drift = max(float(np.abs(each.sum(axis=0)).max()) for each in forces)
    if drift > _DRIFT:
        flags.append(
            Flag(
                "force_drift",
                f"the forces on a supercell add up to {drift:.2g} eV/Å instead of zero: "
                "they are not converged",
            )
        )
    if plan.structure.sites.mass_numbers is not None:
        flags.append(Flag("natural_masses", "isotopes are taken with the masses of the elements"))
    return tuple(flags)
