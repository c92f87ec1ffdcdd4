# /// script
# requires-python = ">=3.11,<3.14"
# dependencies = ["dftd3==1.7.0", "ase==3.29.0"]
# [tool.crystalmath]
# kind = "engine"
# title = "DFT-D3 dispersion, to be added to another engine: mace+dftd3"
# additive = true
# install-mb = 40
# ///
"""DFT-D3 of Grimme with the dampings of Becke and Johnson, and of zero (simple-dftd3).

J. Chem. Phys. 132, 154104 (2010); J. Comput. Chem. 32, 1456 (2011). The model is the functional and
its damping. Add it only to a model that was trained without dispersion.
"""

MODELS = {
    "pbe-d3bj": {
        "source": "builtin",
        "license": "LGPL-3.0-or-later",
        "default": True,
        "dtype": "float64",
        "properties": ["energy", "free_energy", "forces", "stress"],
    },
    "pbesol-d3bj": {
        "source": "builtin",
        "license": "LGPL-3.0-or-later",
        "dtype": "float64",
        "properties": ["energy", "free_energy", "forces", "stress"],
    },
    "rpbe-d3bj": {
        "source": "builtin",
        "license": "LGPL-3.0-or-later",
        "dtype": "float64",
        "properties": ["energy", "free_energy", "forces", "stress"],
    },
    "r2scan-d3bj": {
        "source": "builtin",
        "license": "LGPL-3.0-or-later",
        "dtype": "float64",
        "properties": ["energy", "free_energy", "forces", "stress"],
    },
    "b3lyp-d3bj": {
        "source": "builtin",
        "license": "LGPL-3.0-or-later",
        "dtype": "float64",
        "properties": ["energy", "free_energy", "forces", "stress"],
    },
    "revpbe-d3bj": {
        "source": "builtin",
        "license": "LGPL-3.0-or-later",
        "dtype": "float64",
        "properties": ["energy", "free_energy", "forces", "stress"],
    },
    "pbe-d3zero": {
        "source": "builtin",
        "license": "LGPL-3.0-or-later",
        "dtype": "float64",
        "properties": ["energy", "free_energy", "forces", "stress"],
    },
}
DEVICES = ["cpu"]


def setup(model):
    """Make the calculator of a functional and a damping."""
    from dftd3.ase import DFTD3

    functional, _, damping = model.rpartition("-")
    return DFTD3(method=functional, damping=damping)
