# /// script
# requires-python = ">=3.11"
# dependencies = []
# [tool.crystalmath]
# kind = "engine"
# title = "computes several structures at once, and runs out of memory like a GPU"
# host = true
# ///
"""Lennard-Jones in batches, with the failures of batches: memory, and one culprit among many."""

from pathlib import Path

MODELS = {
    "batching": {
        "source": "builtin",
        "default": True,
        "dtype": "float64",
        "properties": ["energy", "free_energy", "forces"],
    },
}


def setup(model, most_atoms=1_000_000, log=""):
    """Make the engine.

    Parameters
    ----------
    most_atoms
        More atoms at once are too many.
    log
        File to which the number of atoms of each attempt is written.
    """
    import numpy as np
    from ase import Atoms
    from ase.calculators.lj import LennardJones

    class Batching:
        batch = True
        properties = ("energy", "free_energy", "forces")

        def evaluate(self, structures, names):
            atoms = sum(len(s) for s in structures)
            if log:
                with Path(log).open("a", encoding="ascii") as file:
                    file.write(f"{atoms}\n")
            if atoms > most_atoms:
                raise RuntimeError("CUDA out of memory. Tried to allocate 20.00 MiB")
            if any(s.positions[0, 0] > 50 for s in structures):
                raise RuntimeError("the graph has no edges")
            return [self.one(s) for s in structures]

        def one(self, structure):
            atoms = Atoms(structure.numbers, structure.positions, cell=structure.cell,
                          pbc=structure.pbc)  # fmt: skip
            calc = LennardJones(sigma=2.3, epsilon=0.4, rc=6.0)
            calc.calculate(atoms, ["energy", "forces"])
            energy = calc.results["energy"]
            return {"energy": energy, "free_energy": energy,
                    "forces": np.array(calc.results["forces"])}  # fmt: skip

    return Batching()
