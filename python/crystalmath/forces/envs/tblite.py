# /// script
# requires-python = ">=3.11,<3.14"
# dependencies = ["tblite==0.8.0", "ase==3.29.0"]
# [tool.crystalmath]
# kind = "engine"
# install-mb = 60
# title = "xTB (tblite): semi-empirical, for molecules and large molecular cells"
# ///
"""GFN1-xTB and GFN2-xTB. Of a periodic structure it sees the Γ point alone.

In a cell with a short axis its numbers are wrong, so such a cell is refused unless ``short_axes``
insists on it.
"""
# fmt: off

from typing import Any

MODELS = {
    "GFN2-xTB": {
        "source": "builtin",
        "title": "the newer one, without halogen bonds of its own",
        "license": "LGPL-3.0-or-later",
        "default": True,
        "dtype": "float64",
        "properties": [
            "energy", "free_energy", "forces", "stress", "energies", "charges", "dipole",
        ],
        "elements": (
            "H He Li Be B C N O F Ne Na Mg Al Si P S Cl Ar K Ca Sc Ti V Cr Mn Fe Co Ni Cu Zn Ga Ge "
            "As Se Br Kr Rb Sr Y Zr Nb Mo Tc Ru Rh Pd Ag Cd In Sn Sb Te I Xe Cs Ba La Ce Pr Nd Pm "
            "Sm Eu Gd Tb Dy Ho Er Tm Yb Lu Hf Ta W Re Os Ir Pt Au Hg Tl Pb Bi Po At Rn"
        ),
        "info_keys": ["charge", "spin"],
        "options": {"short_axes": False, "electronic_temperature_k": 300.0},
        "warm": {
            "symbols": ["O", "H", "H"],
            "positions": [[0.0, 0.0, 0.12], [0.0, 0.76, -0.48], [0.0, -0.76, -0.48]],
            "cell": [[15.0, 0.0, 0.0], [0.0, 15.0, 0.0], [0.0, 0.0, 15.0]],
            "pbc": [True, True, True],
        },
    },
    "GFN1-xTB": {
        "source": "builtin",
        "title": "the older one",
        "license": "LGPL-3.0-or-later",
        "default": False,
        "dtype": "float64",
        "properties": [
            "energy", "free_energy", "forces", "stress", "energies", "charges", "dipole",
        ],
        "elements": (
            "H He Li Be B C N O F Ne Na Mg Al Si P S Cl Ar K Ca Sc Ti V Cr Mn Fe Co Ni Cu Zn Ga Ge "
            "As Se Br Kr Rb Sr Y Zr Nb Mo Tc Ru Rh Pd Ag Cd In Sn Sb Te I Xe Cs Ba La Ce Pr Nd Pm "
            "Sm Eu Gd Tb Dy Ho Er Tm Yb Lu Hf Ta W Re Os Ir Pt Au Hg Tl Pb Bi Po At Rn"
        ),
        "info_keys": ["charge", "spin"],
        "options": {"short_axes": False, "electronic_temperature_k": 300.0},
        "warm": {
            "symbols": ["O", "H", "H"],
            "positions": [[0.0, 0.0, 0.12], [0.0, 0.76, -0.48], [0.0, -0.76, -0.48]],
            "cell": [[15.0, 0.0, 0.0], [0.0, 15.0, 0.0], [0.0, 0.0, 15.0]],
            "pbc": [True, True, True],
        },
    },
}
# fmt: on
DEVICES = ["cpu"]
SHORTEST_A = 15.0


class Refused(ValueError):
    """Tells the worker that the request is at fault."""

    fault_kind = "input_rejected"

    def __init__(self, message: str, hint: str, field: str) -> None:
        super().__init__(message)
        self.hint = hint
        self.field = field


def setup(model: str, short_axes: bool = False, electronic_temperature_k: float = 300.0) -> Any:
    """Make the calculator.

    Parameters
    ----------
    short_axes
        Compute cells with a periodic axis shorter than 15 Å all the same.
    """
    from tblite.ase import TBLite

    class Calculator(TBLite):  # type: ignore[misc]
        """Refuses short axes; charge and spin come from each structure's ``info``.

        Every structure starts from scratch: a converged state that is carried over would make the
        numbers depend on what was computed before, and for whom.
        """

        def calculate(self, atoms: Any = None, properties: Any = None, changes: Any = ()) -> None:
            if not short_axes:
                _refuse_short(atoms)
            charge, spin = atoms.info.get("charge", 0), atoms.info.get("spin", 1)
            if int(charge) != charge or int(spin) != spin or spin < 1:
                raise Refused(
                    f"charge {charge} and spin {spin} are not whole numbers from 1 on",
                    "charge is in e, spin is the multiplicity 2S+1",
                    "info.charge",
                )
            if (self.parameters.charge, self.parameters.multiplicity) != (charge, spin):
                self.set(charge=int(charge), multiplicity=int(spin))
            super().calculate(atoms, properties, list(changes))

    calculator = Calculator(
        method=model,
        verbosity=0,
        cache_api=False,
        charge=0,
        multiplicity=1,
        electronic_temperature=electronic_temperature_k,
    )
    note = "short periodic axes were insisted on: only the Γ point is seen, the numbers are wrong"
    return calculator, {"notes": [note] if short_axes else []}


def _refuse_short(atoms: Any) -> None:
    for axis, length in zip("abc", atoms.cell.lengths()[:3], strict=True):
        if atoms.pbc["abc".index(axis)] and length < SHORTEST_A:
            raise Refused(
                f"the periodic axis {axis} is {length:.2f} Å long: this method sees the Γ point "
                f"alone, so an axis below {SHORTEST_A:g} Å gives wrong numbers",
                "take another engine, a larger cell, or insist with the option short_axes",
                "structure",
            )
