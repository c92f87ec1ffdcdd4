"""Evaluates in the engine's own environment, in one process: ``python in_process.py ENGINE MODEL``.

Prints, for silicon (8 atoms, rattled), the energy in eV and the largest force component in eV/Å as
JSON. What a worker gives is compared with this.
"""

import json
import sys


def calculator(engine, model):
    """Make the engine's calculator as its authors show it."""
    if engine == "sevenn":
        from sevenn.calculator import SevenNetCalculator

        return SevenNetCalculator(model, device="cpu")
    from mace.calculators import MACECalculator

    return MACECalculator(model_paths=model, device="cpu", default_dtype="float64")


def main(engine, model):
    """Evaluate once and print."""
    made = calculator(engine, model)
    import numpy as np
    from ase.build import bulk

    atoms = bulk("Si", "diamond", a=5.43, cubic=True)
    atoms.rattle(0.02, seed=1)
    atoms.calc = made
    forces = atoms.get_forces()
    print(json.dumps([float(atoms.get_potential_energy()), float(np.abs(forces).max())]))


if __name__ == "__main__":
    main(*sys.argv[1:])
