"""The equations of state: energy and pressure as functions of the volume.

Parameters are always E₀ (eV), V₀ (Å³), B₀ (eV/Å³) and B₀′ (a number), in this order. Energies and
volumes are those of the same amount of matter: a cell or an atom.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Literal

import numpy as np

from crystalmath.structures.structure import Floats

Form = Literal["birch_murnaghan", "vinet", "murnaghan"]
Curve = Callable[[Floats, float, float, float, float], Floats]


def birch_murnaghan(volumes: Floats, e0: float, v0: float, b0: float, b0_prime: float) -> Floats:
    """Third order, in finite Eulerian strain.

    F. Birch, Phys. Rev. 71, 809 (1947), doi:10.1103/PhysRev.71.809.
    """
    strain = (v0 / volumes) ** (2 / 3) - 1
    value = e0 + 9 / 16 * b0 * v0 * strain**2 * (2 + (b0_prime - 4) * strain)
    return np.asarray(value, dtype=np.float64)


def vinet(volumes: Floats, e0: float, v0: float, b0: float, b0_prime: float) -> Floats:
    """The universal form of Vinet and others.

    P. Vinet, J. R. Smith, J. Ferrante, J. H. Rose, Phys. Rev. B 35, 1945 (1987),
    doi:10.1103/PhysRevB.35.1945.
    """
    eta = 1.5 * (b0_prime - 1)
    inward = eta * (1 - (volumes / v0) ** (1 / 3))
    value = e0 + 9 * b0 * v0 / eta**2 * (1 - (1 - inward) * np.exp(inward))
    return np.asarray(value, dtype=np.float64)


def murnaghan(volumes: Floats, e0: float, v0: float, b0: float, b0_prime: float) -> Floats:
    """A bulk modulus that is linear in the pressure.

    F. D. Murnaghan, Proc. Natl. Acad. Sci. 30, 244 (1944), doi:10.1073/pnas.30.9.244.
    """
    ratio = (v0 / volumes) ** b0_prime
    value = e0 + b0 * volumes / b0_prime * (ratio / (b0_prime - 1) + 1) - b0 * v0 / (b0_prime - 1)
    return np.asarray(value, dtype=np.float64)


FORMS: Final[dict[Form, Curve]] = {
    "birch_murnaghan": birch_murnaghan,
    "vinet": vinet,
    "murnaghan": murnaghan,
}

TITLES: Final[dict[Form, str]] = {
    "birch_murnaghan": "Birch–Murnaghan, third order",
    "vinet": "Vinet",
    "murnaghan": "Murnaghan",
}


def pressure(form: Form, volumes: Floats, v0: float, b0: float, b0_prime: float) -> Floats:
    """Pressure −dE/dV in eV/Å³, positive under compression.

    Parameters
    ----------
    volumes
        Å³.
    """
    inward = (v0 / volumes) ** (1 / 3)
    if form == "birch_murnaghan":
        value = 1.5 * b0 * (inward**7 - inward**5) * (1 + 0.75 * (b0_prime - 4) * (inward**2 - 1))
    elif form == "vinet":
        value = (
            3 * b0 * inward**2 * (1 - 1 / inward) * np.exp(1.5 * (b0_prime - 1) * (1 - 1 / inward))
        )
    else:
        value = b0 / b0_prime * ((v0 / volumes) ** b0_prime - 1)
    return np.asarray(value, dtype=np.float64)
