# /// script
# requires-python = ">=3.11"
# dependencies = []
# [tool.crystalmath]
# kind = "engine"
# title = "effective medium theory (ASE): fast, for fcc metals and their alloys"
# host = true
# ///
"""Effective medium theory of ASE; runs with the host's own packages in a process of its own."""

from typing import Any

MODELS = {
    "emt": {
        "source": "builtin",
        "license": "LGPL-2.1-or-later",
        "default": True,
        "dtype": "float64",
        "properties": ["energy", "free_energy", "forces", "stress", "energies"],
        "elements": ["Al", "Cu", "Ag", "Au", "Ni", "Pd", "Pt"],
        "toy_elements": ["H", "C", "N", "O"],
        "warm": {
            "symbols": ["Cu"],
            "positions": [[0.0, 0.0, 0.0]],
            "cell": [[0.0, 1.8, 1.8], [1.8, 0.0, 1.8], [1.8, 1.8, 0.0]],
            "pbc": [True, True, True],
        },
    },
}
DEVICES = ["cpu"]


def setup(model: str) -> Any:
    """Make the calculator; the published potential has no options."""
    from ase.calculators.emt import EMT

    return EMT()
