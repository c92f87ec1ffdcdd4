"""Energies, forces and stresses of EMT, computed in this process with ASE: a fast honest engine.

EMT knows Al Cu Ag Au Ni Pd Pt. The same potential is used for all numbers that tests compare, so
they are properties of EMT, not of the metals.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from ase import Atoms
from ase.build import bulk
from ase.calculators.emt import EMT
from scipy.optimize import minimize_scalar

from crystalmath.structures.structure import Floats, Structure


def structure_of(atoms: Atoms) -> Structure:
    """The same crystal as the project holds it."""
    return Structure(
        np.array(atoms.cell), (True,) * 3, atoms.get_chemical_symbols(), atoms.positions.copy()
    )


def atoms_of(structure: Structure) -> Atoms:
    """The same crystal with EMT attached."""
    atoms = Atoms(structure.symbols, structure.positions, cell=structure.cell, pbc=True)
    atoms.calc = EMT()
    return atoms


def relaxed_fcc(metal: str, *, cubic: bool = False) -> Structure:
    """An fcc metal in the cell of lowest energy: its lattice constant is all that is free."""
    return structure_of(bulk(metal, a=_lattice_constant(metal), cubic=cubic))


@cache
def _lattice_constant(metal: str) -> float:
    usual = float(bulk(metal, cubic=True).cell[0, 0])

    def energy_at(a: float) -> float:
        return energy(structure_of(bulk(metal, a=a)))

    found = minimize_scalar(energy_at, bounds=(0.95 * usual, 1.05 * usual), options={"xatol": 1e-7})
    return float(found.x)


def energy(structure: Structure) -> float:
    return float(atoms_of(structure).get_potential_energy())


def forces(structure: Structure) -> Floats:
    return np.asarray(atoms_of(structure).get_forces())


def stress(structure: Structure) -> Floats:
    """Cauchy stress, 3×3, eV/Å³, positive under tension."""
    return np.asarray(atoms_of(structure).get_stress(voigt=False))
