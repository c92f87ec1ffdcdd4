"""Trains a small MACE model of copper on energies of EMT: ``python train_mace.py FOLDER``.

To be run in MACE's environment; takes about a minute, best with OMP_NUM_THREADS=1. Leaves
``copper.model`` in the folder, which knows copper alone, and its forces are those of EMT to some
hundredths of eV/Å.
"""

# mace first: it sets what e3nn 0.4.4 needs to load with a newer torch
from mace.cli.run_train import main as train  # isort: skip

import os
import sys

import numpy as np
from ase import Atoms
from ase.build import bulk
from ase.calculators.emt import EMT
from ase.io import write

CELLS = 40
SETTINGS = {
    "name": "copper",
    "train_file": "train.xyz",
    "valid_fraction": "0.1",
    "model": "MACE",
    "hidden_irreps": "8x0e",
    "r_max": "4.0",
    "correlation": "2",
    "E0s": "average",
    "loss": "stress",
    "energy_key": "REF_energy",
    "forces_key": "REF_forces",
    "stress_key": "REF_stress",
    "max_num_epochs": "30",
    "batch_size": "5",
    "device": "cpu",
    "default_dtype": "float64",
    "seed": "0",
}


def labelled():
    """Give strained and rattled cells with the numbers of EMT."""
    alone = Atoms("Cu", positions=[[0, 0, 0]], cell=[20] * 3, pbc=True)
    alone.info.update(config_type="IsolatedAtom", REF_energy=0.0)
    alone.arrays["REF_forces"] = np.zeros((1, 3))
    yield alone
    random = np.random.default_rng(0)
    for _ in range(CELLS):
        cell = bulk("Cu", "fcc", a=3.6 * (1 + 0.03 * random.standard_normal()), cubic=True)
        cell.rattle(0.08, rng=random)
        cell.calc = EMT()
        numbers = cell.get_potential_energy(), cell.get_stress()
        cell.arrays["REF_forces"] = cell.get_forces()
        cell.calc = None
        cell.info.update(zip(("REF_energy", "REF_stress"), numbers, strict=True))
        yield cell


if __name__ == "__main__":
    os.chdir(sys.argv[1])
    write("train.xyz", list(labelled()))
    sys.argv[1:] = [part for key, value in SETTINGS.items() for part in (f"--{key}", value)]
    train()
