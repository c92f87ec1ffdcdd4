"""Whether a structure is relaxed far enough for what is to be computed from it. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

import numpy as np

from crystalmath.errors import BadResult, NotRelaxed
from crystalmath.structures.structure import Floats
from crystalmath.units import EV_PER_ANGSTROM3_GPA

Purpose = Literal["relax", "eos", "phonon", "elastic"]

FORCE_EV_PER_ANGSTROM: Final[dict[Purpose, float]] = {
    "relax": 0.02,
    "eos": 1e-3,
    "phonon": 1e-3,
    "elastic": 1e-4,
}
"""Largest force on an atom. A relaxation for a purpose ends below it."""
STRESS_GPA: Final = 0.1
"""Largest component of the stress, where the cell is free."""

_WHAT: Final[dict[Purpose, str]] = {
    "relax": "a result",
    "eos": "an equation of state",
    "phonon": "phonons",
    "elastic": "elastic constants",
}


@dataclass(frozen=True, slots=True)
class Remainder:
    """What is left of forces and stress: largest atomic force, largest stress component."""

    force_ev_per_angstrom: float
    stress_gpa: float | None


def remainder(forces: Floats, stress: Floats | None) -> Remainder:
    """Measure forces and stress.

    Parameters
    ----------
    forces
        eV/Å, shape (n_atoms, 3).
    stress
        eV/Å³, 3×3 or six components, or None where the cell is not free.

    Raises
    ------
    BadResult
        A number is not finite.
    """
    for name, values in (("forces", forces), ("stress", stress)):
        if values is not None and not np.isfinite(values).all():
            raise BadResult(f"the {name} hold a number that is not finite")
    largest = float(np.linalg.norm(np.reshape(forces, (-1, 3)), axis=1).max(initial=0.0))
    if stress is None:
        return Remainder(largest, None)
    return Remainder(largest, float(np.abs(stress).max()) * EV_PER_ANGSTROM3_GPA)


def check_relaxed(forces: Floats, stress: Floats | None, purpose: Purpose) -> Remainder:
    """Refuse a structure that is not relaxed; forces alone do not tell, so give the stress, too.

    Copper with a lattice constant of 3.4 Å has no forces and is far from its minimum.

    Parameters
    ----------
    forces, stress
        As :func:`remainder` takes them.
    purpose
        What is to be computed.

    Raises
    ------
    NotRelaxed
    BadResult
    """
    left = remainder(forces, stress)
    limit = FORCE_EV_PER_ANGSTROM[purpose]
    hint = f"relax atoms and cell first, to {limit:g} eV/Å and {STRESS_GPA:g} GPa"
    if left.force_ev_per_angstrom > limit:
        raise NotRelaxed(
            f"{_WHAT[purpose]} would be computed from a structure that is not relaxed: "
            f"a force of {left.force_ev_per_angstrom:.2g} eV/Å is left, allowed is {limit:g}",
            hint=hint,
        )
    if left.stress_gpa is not None and left.stress_gpa > STRESS_GPA:
        raise NotRelaxed(
            f"{_WHAT[purpose]} would be computed from a cell that is not relaxed: "
            f"a stress of {left.stress_gpa:.2g} GPa is left, allowed is {STRESS_GPA:g}",
            hint=hint,
        )
    return left
