# /// script
# requires-python = ">=3.11,<3.14"
# dependencies = ["sevenn==0.13.0", "torch==2.13.0", "ase==3.29.0"]
# [tool.crystalmath]
# kind = "engine"
# install-mb = 3000
# title = "SevenNet: universal equivariant potentials, 89 elements, weights included"
# import-first = "sevenn"
# ///
"""SevenNet with the weights that its wheel holds; computes in float32."""

from typing import Any

MODELS = {
    "7net-l3i5": {
        "source": "package",
        "title": "most accurate of the three, trained on MPtrj (PBE)",
        "license": "MIT",
        "default": True,
        "dtype": "float32",
        "properties": ["energy", "free_energy", "forces", "stress", "energies"],
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
    "7net-0": {
        "source": "package",
        "title": "faster, trained on MPtrj (PBE)",
        "license": "MIT",
        "default": False,
        "dtype": "float32",
        "properties": ["energy", "free_energy", "forces", "stress", "energies"],
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
    "7net-mf-0": {
        "source": "package",
        "title": "multi-fidelity: modal PBE or R2SCAN, whose energies have no common zero",
        "license": "MIT",
        "default": False,
        "dtype": "float32",
        "properties": ["energy", "free_energy", "forces", "stress", "energies"],
        "elements": (
            "H He Li Be B C N O F Ne Na Mg Al Si P S Cl Ar K Ca Sc Ti V Cr Mn Fe Co Ni Cu Zn Ga Ge "
            "As Se Br Kr Rb Sr Y Zr Nb Mo Tc Ru Rh Pd Ag Cd In Sn Sb Te I Xe Cs Ba La Ce Pr Nd Pm "
            "Sm Eu Gd Tb Dy Ho Er Tm Yb Lu Hf Ta W Re Os Ir Pt Au Hg Tl Pb Bi Ac Th Pa U Np Pu"
        ),
        "info_keys": ["modal"],
        "options": {"modal": None},
        "warm": {
            "symbols": ["Cu"],
            "positions": [[0.0, 0.0, 0.0]],
            "cell": [[0.0, 1.8, 1.8], [1.8, 0.0, 1.8], [1.8, 1.8, 0.0]],
            "pbc": [True, True, True],
            "info": {"modal": "PBE"},
        },
    },
}
DTYPES = ["float32"]


class Refused(ValueError):
    """Tells the worker that the request is at fault."""

    fault_kind = "input_rejected"

    def __init__(self, message: str, hint: str, field: str) -> None:
        super().__init__(message)
        self.hint = hint
        self.field = field


def setup(model: str, device: str = "cpu", modal: str | None = None) -> Any:
    """Make the calculator.

    Parameters
    ----------
    modal
        Of a multi-fidelity model; a structure's ``info`` may name another.
    """
    from sevenn.calculator import SevenNetCalculator
    from sevenn.util import load_checkpoint

    known = load_checkpoint(model).config.get("_modal_map") or {}
    if modal is not None:
        _check_modal(modal, known)

    class Calculator(SevenNetCalculator):  # type: ignore[misc]
        """Reads the modal of each structure."""

        def calculate(self, atoms: Any = None, properties: Any = None, changes: Any = ()) -> None:
            if known:
                self.modal = atoms.info.get("modal", modal)
                _check_modal(self.modal, known)
            super().calculate(atoms, properties, changes)

    first = next(iter(known), None)
    return Calculator(model, device=device, modal=modal or first)


def _check_modal(modal: str | None, known: Any) -> None:
    names = " or ".join(known)
    if not known:
        raise Refused("this model has no modals", "leave the option modal out", "options.modal")
    if modal is None:
        raise Refused(
            "this model needs a modal", f"give the option modal: {names}", "options.modal"
        )
    if modal not in known:
        raise Refused(f"there is no modal {modal!r}", f"it is {names}", "options.modal")
