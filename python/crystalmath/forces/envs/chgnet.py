# /// script
# requires-python = ">=3.11,<3.14"
# dependencies = ["chgnet==0.4.2", "torch==2.13.0", "ase==3.29.0"]
# [tool.crystalmath]
# kind = "engine"
# title = "CHGNet: universal potential with magnetic moments"
# import-first = "chgnet"
# install-mb = 3000
# ///
"""CHGNet (Deng et al., Nat. Mach. Intell. 5, 1031 (2023)); its weights lie in the package.

The energies of ``r2scan`` have another zero than those of the others: never mix them.
"""

MODELS = {
    "0.3.0": {
        "source": "package",
        "license": "BSD-3-Clause",
        "default": True,
        "dtype": "float32",
        "properties": ["energy", "forces", "stress", "magmoms"],
        "warm": {
            "symbols": ["Si", "Si"],
            "positions": [[0.0, 0.0, 0.0], [1.36, 1.36, 1.36]],
            "cell": [[0.0, 2.72, 2.72], [2.72, 0.0, 2.72], [2.72, 2.72, 0.0]],
            "pbc": [True, True, True],
        },
    },
    "0.2.0": {
        "source": "package",
        "license": "BSD-3-Clause",
        "dtype": "float32",
        "properties": ["energy", "forces", "stress", "magmoms"],
        "warm": {
            "symbols": ["Si", "Si"],
            "positions": [[0.0, 0.0, 0.0], [1.36, 1.36, 1.36]],
            "cell": [[0.0, 2.72, 2.72], [2.72, 0.0, 2.72], [2.72, 2.72, 0.0]],
            "pbc": [True, True, True],
        },
    },
    "r2scan": {
        "source": "package",
        "title": "energies of the functional r2SCAN, with another zero",
        "license": "BSD-3-Clause",
        "dtype": "float32",
        "properties": ["energy", "forces", "stress", "magmoms"],
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


def setup(model, device="cpu"):
    """Load the model."""
    from chgnet.model import CHGNet
    from chgnet.model.dynamics import CHGNetCalculator

    net = CHGNet.load(model_name=model, use_device=device, verbose=False)
    return CHGNetCalculator(net, use_device=device)
