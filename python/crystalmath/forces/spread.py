"""How far the members of a committee are from their mean."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from crystalmath.forces.connection import Floats


class Spread(NamedTuple):
    """Root mean square of what the members deviate.

    Attributes
    ----------
    energy
        eV.
    forces
        Of the vector on each atom, eV/Å, shape (n,).
    """

    energy: float
    forces: Floats


def spread_of(energies: Floats, forces: Floats) -> Spread:
    """Take the energies, (M,), and forces, (M, n, 3), of the members."""
    deviations = forces - forces.mean(axis=0)
    return Spread(float(energies.std()), np.sqrt((deviations**2).sum(axis=2).mean(axis=0)))
