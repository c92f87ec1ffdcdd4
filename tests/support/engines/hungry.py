# /// script
# requires-python = ">=3.11"
# dependencies = []
# [tool.crystalmath]
# kind = "engine"
# title = "EMT that needs memory for each atom"
# host = true
# ///
"""EMT that fills memory in proportion to its atoms, as graph networks do."""

MODELS = {
    "hungry": {
        "source": "builtin",
        "default": True,
        "dtype": "float64",
        "properties": ["energy", "free_energy", "forces"],
        "elements": ["Cu"],
    },
}
KIB_PER_ATOM = 512


def setup(model):
    """Make the calculator."""
    import numpy as np
    from ase.calculators.emt import EMT

    class Hungry(EMT):
        def calculate(self, atoms=None, properties=("energy",), system_changes=()):
            held = np.ones(len(atoms) * KIB_PER_ATOM * 128)
            super().calculate(atoms, properties, system_changes)
            self.results["energy"] += 0.0 * held[-1]

    return Hungry()
