# /// script
# requires-python = ">=3.11,<3.14"
# dependencies = ["chgnet==0.4.2", "torch==2.13.0", "ase==3.29.0"]
# [tool.crystalmath]
# kind = "engine"
# install-mb = 3000
# title = "CHGNet: universal potential with magnetic moments, weights included"
# ///
"""CHGNet with the weights that its wheel holds; computes in float32.

Takes much memory: 18 GB for 1000 atoms on the CPU.
"""

from typing import Any

MODELS = {
    "0.3.0": {
        "source": "package",
        "title": "trained on MPtrj (PBE)",
        "license": "BSD-3-Clause",
        "default": True,
        "dtype": "float32",
        "properties": ["energy", "free_energy", "forces", "stress", "energies", "magmoms"],
        "elements": (
            "H He Li Be B C N O F Ne Na Mg Al Si P S Cl Ar K Ca Sc Ti V Cr Mn Fe Co Ni Cu Zn Ga Ge "
            "As Se Br Kr Rb Sr Y Zr Nb Mo Tc Ru Rh Pd Ag Cd In Sn Sb Te I Xe Cs Ba La Ce Pr Nd Pm "
            "Sm Eu Gd Tb Dy Ho Er Tm Yb Lu Hf Ta W Re Os Ir Pt Au Hg Tl Pb Bi Ac Th Pa U Np Pu"
        ),
        "warm": {
            "symbols": ["Cu"],
            "positions": [[0.0, 0.0, 0.0]],
            "cell": [[0.0, 1.8, 1.8], [1.8, 0.0, 1.8], [1.8, 1.8, 0.0]],
            "pbc": [True, True, True],
        },
    },
    "0.2.0": {
        "source": "package",
        "title": "older, trained on MPtrj (PBE)",
        "license": "BSD-3-Clause",
        "default": False,
        "dtype": "float32",
        "properties": ["energy", "free_energy", "forces", "stress", "energies", "magmoms"],
        "elements": (
            "H He Li Be B C N O F Ne Na Mg Al Si P S Cl Ar K Ca Sc Ti V Cr Mn Fe Co Ni Cu Zn Ga Ge "
            "As Se Br Kr Rb Sr Y Zr Nb Mo Tc Ru Rh Pd Ag Cd In Sn Sb Te I Xe Cs Ba La Ce Pr Nd Pm "
            "Sm Eu Gd Tb Dy Ho Er Tm Yb Lu Hf Ta W Re Os Ir Pt Au Hg Tl Pb Bi Ac Th Pa U Np Pu"
        ),
        "warm": {
            "symbols": ["Cu"],
            "positions": [[0.0, 0.0, 0.0]],
            "cell": [[0.0, 1.8, 1.8], [1.8, 0.0, 1.8], [1.8, 1.8, 0.0]],
            "pbc": [True, True, True],
        },
    },
    "r2scan": {
        "source": "package",
        "title": "transferred to r2SCAN: another energy zero than the others",
        "license": "BSD-3-Clause",
        "default": False,
        "dtype": "float32",
        "properties": ["energy", "free_energy", "forces", "stress", "energies", "magmoms"],
        "elements": (
            "H He Li Be B C N O F Ne Na Mg Al Si P S Cl Ar K Ca Sc Ti V Cr Mn Fe Co Ni Cu Zn Ga Ge "
            "As Se Br Kr Rb Sr Y Zr Nb Mo Tc Ru Rh Pd Ag Cd In Sn Sb Te I Xe Cs Ba La Ce Pr Nd Pm "
            "Sm Eu Gd Tb Dy Ho Er Tm Yb Lu Hf Ta W Re Os Ir Pt Au Hg Tl Pb Bi Ac Th Pa U Np Pu"
        ),
        "warm": {
            "symbols": ["Cu"],
            "positions": [[0.0, 0.0, 0.0]],
            "cell": [[0.0, 1.8, 1.8], [1.8, 0.0, 1.8], [1.8, 1.8, 0.0]],
            "pbc": [True, True, True],
        },
    },
}
DTYPES = ["float32"]


def setup(model: str, device: str = "cpu") -> Any:
    """Make the calculator."""
    from chgnet.model import CHGNet
    from chgnet.model.dynamics import CHGNetCalculator

    loaded = CHGNet.load(model_name=model, use_device=device, verbose=False)
    return CHGNetCalculator(
        loaded, use_device=device, return_site_energies=True, on_isolated_atoms="ignore"
    )
