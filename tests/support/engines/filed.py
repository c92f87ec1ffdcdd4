# /// script
# requires-python = ">=3.11"
# dependencies = []
# [tool.crystalmath]
# kind = "engine"
# title = "Lennard-Jones whose depth is the content of a file"
# host = true
# ///
"""An engine with a file of weights: one number, the depth of the well in eV."""

from pathlib import Path

MODELS = {
    "file": {"source": "file", "dtype": "float64", "properties": ["energy", "forces", "stress"]},
}


def setup(model):
    """Make the calculator."""
    from ase.calculators.lj import LennardJones

    return LennardJones(sigma=2.3, epsilon=float(Path(model).read_text()), rc=6.0)
