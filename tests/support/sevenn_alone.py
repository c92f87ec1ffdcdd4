"""SevenNet with ASE in one process, in its own environment: ``python sevenn_alone.py MODEL``.

Prints an equation of state of primitive silicon as ASE computes it: a relaxation, seven volumes
within 6 %, Birch–Murnaghan; lattice constant (Å), bulk modulus (GPa) and energy per atom (eV).
"""

import json
import sys

import numpy as np
from ase.build import bulk
from ase.eos import EquationOfState
from ase.filters import FrechetCellFilter
from ase.optimize import LBFGS
from ase.units import GPa
from sevenn.calculator import SevenNetCalculator


def silicon(calculator):
    """Lattice constant of the relaxation (Å), bulk modulus (GPa), energy per atom (eV)."""
    atoms = bulk("Si", "diamond", a=5.43)
    atoms.calc = calculator
    LBFGS(FrechetCellFilter(atoms), logfile=None).run(fmax=1e-4, steps=100)
    volumes, energies = [], []
    for factor in np.linspace(0.94, 1.06, 7):
        strained = atoms.copy()
        strained.set_cell(atoms.cell * factor ** (1 / 3), scale_atoms=True)
        strained.calc = calculator
        volumes.append(strained.get_volume())
        energies.append(strained.get_potential_energy())
    _, lowest, modulus = EquationOfState(volumes, energies, eos="birchmurnaghan").fit()
    a = float((4 * atoms.get_volume()) ** (1 / 3))
    return {"a": a, "b0_gpa": float(modulus / GPa), "e0_per_atom": float(lowest / 2)}


def main(model):
    """Compute and print."""
    print(json.dumps(silicon(SevenNetCalculator(model, device="cpu"))))


if __name__ == "__main__":
    main(sys.argv[1])
