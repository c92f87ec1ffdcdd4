# /// script
# requires-python = ">=3.11,<3.14"
# dependencies = ["sevenn==0.13.0", "torch==2.13.0", "ase==3.29.0"]
# [tool.crystalmath]
# kind = "engine"
# title = "SevenNet: universal potential for 89 elements"
# import-first = "sevenn"
# install-mb = 3000
# ///
"""SevenNet (Park et al., JCTC 20, 4857 (2024)); its weights lie in the package."""

MODELS = {
    "7net-l3i5": {
        "source": "package",
        "license": "MIT",
        "default": True,
        "dtype": "float32",
        "properties": ["energy", "free_energy", "forces", "stress", "energies"],
        "warm": {
            "symbols": ["Si", "Si"],
            "positions": [[0.0, 0.0, 0.0], [1.36, 1.36, 1.36]],
            "cell": [[0.0, 2.72, 2.72], [2.72, 0.0, 2.72], [2.72, 2.72, 0.0]],
            "pbc": [True, True, True],
        },
    },
    "7net-0": {
        "source": "package",
        "license": "MIT",
        "dtype": "float32",
        "properties": ["energy", "free_energy", "forces", "stress", "energies"],
        "warm": {
            "symbols": ["Si", "Si"],
            "positions": [[0.0, 0.0, 0.0], [1.36, 1.36, 1.36]],
            "cell": [[0.0, 2.72, 2.72], [2.72, 0.0, 2.72], [2.72, 2.72, 0.0]],
            "pbc": [True, True, True],
        },
    },
    "7net-mf-0": {
        "source": "package",
        "title": "needs the option modal: PBE or R2SCAN",
        "license": "MIT",
        "dtype": "float32",
        "properties": ["energy", "free_energy", "forces", "stress", "energies"],
        "warm": {
            "symbols": ["Si", "Si"],
            "positions": [[0.0, 0.0, 0.0], [1.36, 1.36, 1.36]],
            "cell": [[0.0, 2.72, 2.72], [2.72, 0.0, 2.72], [2.72, 2.72, 0.0]],
            "pbc": [True, True, True],
        },
    },
}
DTYPES = ["float32"]
DEVICES = ["cpu", "cuda"]


def setup(model, device="cpu", modal=None):
    """Load the model; ``modal`` names the data whose energies a multi-fidelity model gives."""
    from ase.data import chemical_symbols
    from sevenn.calculator import SevenNetCalculator

    more = {} if modal is None else {"modal": modal}
    calculator = SevenNetCalculator(model, device=device, **more)
    elements = [chemical_symbols[number] for number in sorted(calculator.type_map)]
    return calculator, {"elements": elements}
