# /// script
# requires-python = ">=3.11,<3.14"
# dependencies = ["dftd3==1.7.0", "ase==3.29.0"]
# [tool.crystalmath]
# kind = "engine"
# install-mb = 40
# title = "DFT-D3 dispersion, to be added to another engine: mace+dftd3"
# additive = true
# ///
"""Dispersion by Grimme's D3. The model names the functional whose parameters are taken.

Do not add it to an engine that was trained on data with dispersion.
"""

from typing import Any

MODELS = {
    "pbe": {
        "source": "builtin",
        "title": "with the parameters of PBE",
        "license": "LGPL-3.0-or-later",
        "default": True,
        "dtype": "float64",
        "properties": ["energy", "free_energy", "forces", "stress"],
        "elements": (
            "H He Li Be B C N O F Ne Na Mg Al Si P S Cl Ar K Ca Sc Ti V Cr Mn Fe Co Ni Cu Zn Ga Ge "
            "As Se Br Kr Rb Sr Y Zr Nb Mo Tc Ru Rh Pd Ag Cd In Sn Sb Te I Xe Cs Ba La Ce Pr Nd Pm "
            "Sm Eu Gd Tb Dy Ho Er Tm Yb Lu Hf Ta W Re Os Ir Pt Au Hg Tl Pb Bi Po At Rn Fr Ra Ac Th "
            "Pa U Np Pu Am Cm Bk Cf Es Fm Md No Lr"
        ),
        "options": {"damping": "d3bj"},
        "warm": {
            "symbols": ["Cu"],
            "positions": [[0.0, 0.0, 0.0]],
            "cell": [[0.0, 1.8, 1.8], [1.8, 0.0, 1.8], [1.8, 1.8, 0.0]],
            "pbc": [True, True, True],
        },
    },
    "pbesol": {
        "source": "builtin",
        "title": "with the parameters of PBEsol",
        "license": "LGPL-3.0-or-later",
        "default": False,
        "dtype": "float64",
        "properties": ["energy", "free_energy", "forces", "stress"],
        "elements": (
            "H He Li Be B C N O F Ne Na Mg Al Si P S Cl Ar K Ca Sc Ti V Cr Mn Fe Co Ni Cu Zn Ga Ge "
            "As Se Br Kr Rb Sr Y Zr Nb Mo Tc Ru Rh Pd Ag Cd In Sn Sb Te I Xe Cs Ba La Ce Pr Nd Pm "
            "Sm Eu Gd Tb Dy Ho Er Tm Yb Lu Hf Ta W Re Os Ir Pt Au Hg Tl Pb Bi Po At Rn Fr Ra Ac Th "
            "Pa U Np Pu Am Cm Bk Cf Es Fm Md No Lr"
        ),
        "options": {"damping": "d3bj"},
        "warm": {
            "symbols": ["Cu"],
            "positions": [[0.0, 0.0, 0.0]],
            "cell": [[0.0, 1.8, 1.8], [1.8, 0.0, 1.8], [1.8, 1.8, 0.0]],
            "pbc": [True, True, True],
        },
    },
    "rpbe": {
        "source": "builtin",
        "title": "with the parameters of RPBE",
        "license": "LGPL-3.0-or-later",
        "default": False,
        "dtype": "float64",
        "properties": ["energy", "free_energy", "forces", "stress"],
        "elements": (
            "H He Li Be B C N O F Ne Na Mg Al Si P S Cl Ar K Ca Sc Ti V Cr Mn Fe Co Ni Cu Zn Ga Ge "
            "As Se Br Kr Rb Sr Y Zr Nb Mo Tc Ru Rh Pd Ag Cd In Sn Sb Te I Xe Cs Ba La Ce Pr Nd Pm "
            "Sm Eu Gd Tb Dy Ho Er Tm Yb Lu Hf Ta W Re Os Ir Pt Au Hg Tl Pb Bi Po At Rn Fr Ra Ac Th "
            "Pa U Np Pu Am Cm Bk Cf Es Fm Md No Lr"
        ),
        "options": {"damping": "d3bj"},
        "warm": {
            "symbols": ["Cu"],
            "positions": [[0.0, 0.0, 0.0]],
            "cell": [[0.0, 1.8, 1.8], [1.8, 0.0, 1.8], [1.8, 1.8, 0.0]],
            "pbc": [True, True, True],
        },
    },
    "revpbe": {
        "source": "builtin",
        "title": "with the parameters of revPBE",
        "license": "LGPL-3.0-or-later",
        "default": False,
        "dtype": "float64",
        "properties": ["energy", "free_energy", "forces", "stress"],
        "elements": (
            "H He Li Be B C N O F Ne Na Mg Al Si P S Cl Ar K Ca Sc Ti V Cr Mn Fe Co Ni Cu Zn Ga Ge "
            "As Se Br Kr Rb Sr Y Zr Nb Mo Tc Ru Rh Pd Ag Cd In Sn Sb Te I Xe Cs Ba La Ce Pr Nd Pm "
            "Sm Eu Gd Tb Dy Ho Er Tm Yb Lu Hf Ta W Re Os Ir Pt Au Hg Tl Pb Bi Po At Rn Fr Ra Ac Th "
            "Pa U Np Pu Am Cm Bk Cf Es Fm Md No Lr"
        ),
        "options": {"damping": "d3bj"},
        "warm": {
            "symbols": ["Cu"],
            "positions": [[0.0, 0.0, 0.0]],
            "cell": [[0.0, 1.8, 1.8], [1.8, 0.0, 1.8], [1.8, 1.8, 0.0]],
            "pbc": [True, True, True],
        },
    },
    "r2scan": {
        "source": "builtin",
        "title": "with the parameters of r2SCAN",
        "license": "LGPL-3.0-or-later",
        "default": False,
        "dtype": "float64",
        "properties": ["energy", "free_energy", "forces", "stress"],
        "elements": (
            "H He Li Be B C N O F Ne Na Mg Al Si P S Cl Ar K Ca Sc Ti V Cr Mn Fe Co Ni Cu Zn Ga Ge "
            "As Se Br Kr Rb Sr Y Zr Nb Mo Tc Ru Rh Pd Ag Cd In Sn Sb Te I Xe Cs Ba La Ce Pr Nd Pm "
            "Sm Eu Gd Tb Dy Ho Er Tm Yb Lu Hf Ta W Re Os Ir Pt Au Hg Tl Pb Bi Po At Rn Fr Ra Ac Th "
            "Pa U Np Pu Am Cm Bk Cf Es Fm Md No Lr"
        ),
        "options": {"damping": "d3bj"},
        "warm": {
            "symbols": ["Cu"],
            "positions": [[0.0, 0.0, 0.0]],
            "cell": [[0.0, 1.8, 1.8], [1.8, 0.0, 1.8], [1.8, 1.8, 0.0]],
            "pbc": [True, True, True],
        },
    },
    "scan": {
        "source": "builtin",
        "title": "with the parameters of SCAN",
        "license": "LGPL-3.0-or-later",
        "default": False,
        "dtype": "float64",
        "properties": ["energy", "free_energy", "forces", "stress"],
        "elements": (
            "H He Li Be B C N O F Ne Na Mg Al Si P S Cl Ar K Ca Sc Ti V Cr Mn Fe Co Ni Cu Zn Ga Ge "
            "As Se Br Kr Rb Sr Y Zr Nb Mo Tc Ru Rh Pd Ag Cd In Sn Sb Te I Xe Cs Ba La Ce Pr Nd Pm "
            "Sm Eu Gd Tb Dy Ho Er Tm Yb Lu Hf Ta W Re Os Ir Pt Au Hg Tl Pb Bi Po At Rn Fr Ra Ac Th "
            "Pa U Np Pu Am Cm Bk Cf Es Fm Md No Lr"
        ),
        "options": {"damping": "d3bj"},
        "warm": {
            "symbols": ["Cu"],
            "positions": [[0.0, 0.0, 0.0]],
            "cell": [[0.0, 1.8, 1.8], [1.8, 0.0, 1.8], [1.8, 1.8, 0.0]],
            "pbc": [True, True, True],
        },
    },
    "blyp": {
        "source": "builtin",
        "title": "with the parameters of BLYP",
        "license": "LGPL-3.0-or-later",
        "default": False,
        "dtype": "float64",
        "properties": ["energy", "free_energy", "forces", "stress"],
        "elements": (
            "H He Li Be B C N O F Ne Na Mg Al Si P S Cl Ar K Ca Sc Ti V Cr Mn Fe Co Ni Cu Zn Ga Ge "
            "As Se Br Kr Rb Sr Y Zr Nb Mo Tc Ru Rh Pd Ag Cd In Sn Sb Te I Xe Cs Ba La Ce Pr Nd Pm "
            "Sm Eu Gd Tb Dy Ho Er Tm Yb Lu Hf Ta W Re Os Ir Pt Au Hg Tl Pb Bi Po At Rn Fr Ra Ac Th "
            "Pa U Np Pu Am Cm Bk Cf Es Fm Md No Lr"
        ),
        "options": {"damping": "d3bj"},
        "warm": {
            "symbols": ["Cu"],
            "positions": [[0.0, 0.0, 0.0]],
            "cell": [[0.0, 1.8, 1.8], [1.8, 0.0, 1.8], [1.8, 1.8, 0.0]],
            "pbc": [True, True, True],
        },
    },
    "b3lyp": {
        "source": "builtin",
        "title": "with the parameters of B3LYP",
        "license": "LGPL-3.0-or-later",
        "default": False,
        "dtype": "float64",
        "properties": ["energy", "free_energy", "forces", "stress"],
        "elements": (
            "H He Li Be B C N O F Ne Na Mg Al Si P S Cl Ar K Ca Sc Ti V Cr Mn Fe Co Ni Cu Zn Ga Ge "
            "As Se Br Kr Rb Sr Y Zr Nb Mo Tc Ru Rh Pd Ag Cd In Sn Sb Te I Xe Cs Ba La Ce Pr Nd Pm "
            "Sm Eu Gd Tb Dy Ho Er Tm Yb Lu Hf Ta W Re Os Ir Pt Au Hg Tl Pb Bi Po At Rn Fr Ra Ac Th "
            "Pa U Np Pu Am Cm Bk Cf Es Fm Md No Lr"
        ),
        "options": {"damping": "d3bj"},
        "warm": {
            "symbols": ["Cu"],
            "positions": [[0.0, 0.0, 0.0]],
            "cell": [[0.0, 1.8, 1.8], [1.8, 0.0, 1.8], [1.8, 1.8, 0.0]],
            "pbc": [True, True, True],
        },
    },
    "pbe0": {
        "source": "builtin",
        "title": "with the parameters of PBE0",
        "license": "LGPL-3.0-or-later",
        "default": False,
        "dtype": "float64",
        "properties": ["energy", "free_energy", "forces", "stress"],
        "elements": (
            "H He Li Be B C N O F Ne Na Mg Al Si P S Cl Ar K Ca Sc Ti V Cr Mn Fe Co Ni Cu Zn Ga Ge "
            "As Se Br Kr Rb Sr Y Zr Nb Mo Tc Ru Rh Pd Ag Cd In Sn Sb Te I Xe Cs Ba La Ce Pr Nd Pm "
            "Sm Eu Gd Tb Dy Ho Er Tm Yb Lu Hf Ta W Re Os Ir Pt Au Hg Tl Pb Bi Po At Rn Fr Ra Ac Th "
            "Pa U Np Pu Am Cm Bk Cf Es Fm Md No Lr"
        ),
        "options": {"damping": "d3bj"},
        "warm": {
            "symbols": ["Cu"],
            "positions": [[0.0, 0.0, 0.0]],
            "cell": [[0.0, 1.8, 1.8], [1.8, 0.0, 1.8], [1.8, 1.8, 0.0]],
            "pbc": [True, True, True],
        },
    },
    "hse06": {
        "source": "builtin",
        "title": "with the parameters of HSE06",
        "license": "LGPL-3.0-or-later",
        "default": False,
        "dtype": "float64",
        "properties": ["energy", "free_energy", "forces", "stress"],
        "elements": (
            "H He Li Be B C N O F Ne Na Mg Al Si P S Cl Ar K Ca Sc Ti V Cr Mn Fe Co Ni Cu Zn Ga Ge "
            "As Se Br Kr Rb Sr Y Zr Nb Mo Tc Ru Rh Pd Ag Cd In Sn Sb Te I Xe Cs Ba La Ce Pr Nd Pm "
            "Sm Eu Gd Tb Dy Ho Er Tm Yb Lu Hf Ta W Re Os Ir Pt Au Hg Tl Pb Bi Po At Rn Fr Ra Ac Th "
            "Pa U Np Pu Am Cm Bk Cf Es Fm Md No Lr"
        ),
        "options": {"damping": "d3bj"},
        "warm": {
            "symbols": ["Cu"],
            "positions": [[0.0, 0.0, 0.0]],
            "cell": [[0.0, 1.8, 1.8], [1.8, 0.0, 1.8], [1.8, 1.8, 0.0]],
            "pbc": [True, True, True],
        },
    },
}
DEVICES = ["cpu"]
VACUUM_A = 33.0
"""More than the reach of the dispersion, 60 bohr."""
DAMPINGS = ("d3bj", "d3zero", "d3bjm", "d3zerom")


class Refused(ValueError):
    """Tells the worker that the request is at fault."""

    fault_kind = "input_rejected"
    field = "options.damping"

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.hint = hint


def setup(model: str, damping: str = "d3bj") -> Any:
    """Make the calculator.

    Parameters
    ----------
    damping
        ``d3bj`` (Becke-Johnson), ``d3zero``, or their modified forms ``d3bjm``, ``d3zerom``.
    """
    from ase.calculators.calculator import all_changes
    from dftd3.ase import DFTD3
    from dftd3.interface import RationalDampingParam

    if damping not in DAMPINGS:
        raise Refused(f"there is no damping {damping!r}", f"there are {', '.join(DAMPINGS)}")
    if damping == "d3bj":
        RationalDampingParam(method=model)  # raises for a functional without parameters

    class Calculator(DFTD3):  # type: ignore[misc]
        """Gives slabs and wires a periodic cell with vacuum.

        Dftd3 1.7 misses images of a slab that does not lie in the plane of x and y.
        """

        def calculate(
            self, atoms: Any = None, properties: Any = None, changes: Any = all_changes
        ) -> None:
            if atoms.pbc.all() or not atoms.pbc.any():
                super().calculate(atoms, properties, changes)
                return
            wide = _with_vacuum(atoms)
            super().calculate(wide, properties, all_changes)
            if "stress" in self.results and atoms.cell.rank == 3:
                self.results["stress"] *= wide.get_volume() / atoms.get_volume()

    return Calculator(method=model, damping=damping)


def _with_vacuum(atoms: Any) -> Any:
    """The same atoms in a cell that is periodic everywhere, with images out of reach."""
    import numpy as np
    from ase.geometry import complete_cell

    cell = np.where(atoms.pbc[:, None], atoms.cell.array, 0.0)
    full = complete_cell(cell)
    for i in np.flatnonzero(~atoms.pbc):
        along = full[i] / np.linalg.norm(full[i])
        full[i] = along * (np.ptp(atoms.positions @ along) + VACUUM_A)
    wide = atoms.copy()
    wide.cell[:] = full
    wide.pbc = True
    return wide
