# /// script
# requires-python = ">=3.11"
# dependencies = []
# [tool.crystalmath]
# kind = "engine"
# title = "Lennard-Jones (ASE): one pair potential for all elements, for tests and teaching"
# host = true
# ///
"""Lennard-Jones of ASE; runs with the host's own packages in a process of its own."""

from typing import Any

MODELS = {
    "lj": {
        "source": "builtin",
        "license": "LGPL-2.1-or-later",
        "default": True,
        "dtype": "float64",
        "properties": ["energy", "free_energy", "forces", "stress", "energies", "stresses"],
        "options": {"sigma": 2.3, "epsilon": 0.4, "rc": 6.0, "smooth": False},
        "warm": {
            "symbols": ["Ar", "Ar"],
            "positions": [[0.0, 0.0, 0.0], [2.0, 2.0, 0.0]],
            "cell": [[4.0, 0.0, 0.0], [0.0, 4.0, 0.0], [0.0, 0.0, 4.0]],
            "pbc": [True, True, True],
        },
    },
}
DEVICES = ["cpu"]


def setup(
    model: str, sigma: float = 2.3, epsilon: float = 0.4, rc: float = 6.0, smooth: bool = False
) -> Any:
    """Make the calculator.

    Parameters
    ----------
    sigma, epsilon
        Å, eV.
    rc
        Where the potential is cut off, Å.
    smooth
        Let it go to zero smoothly from two thirds of that on.
    """
    from ase.calculators.lj import LennardJones

    return LennardJones(sigma=sigma, epsilon=epsilon, rc=rc, smooth=smooth)
