# /// script
# requires-python = ">=3.11"
# dependencies = []
# [tool.crystalmath]
# kind = "engine"
# title = "EMT that ends after some calls"
# host = true
# ///
"""EMT that ends after some calls."""

MODELS = {
    "dying": {
        "source": "builtin",
        "default": True,
        "dtype": "float64",
        "properties": ["energy", "free_energy", "forces", "stress"],
        "elements": ["Cu"],
    },
}


def setup(model, after=1):
    """Make the calculator; its process ends in the call after ``after`` of them."""
    import os

    from ase.calculators.emt import EMT

    left = [after]

    class Dying(EMT):
        def calculate(self, atoms=None, properties=("energy",), system_changes=()):
            left[0] -= 1
            if left[0] < 0:
                os._exit(3)
            super().calculate(atoms, properties, system_changes)

    return Dying()
