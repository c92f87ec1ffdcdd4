"""What the symmetry of a crystal leaves free when its volume is kept. Used by ``eos``."""

from __future__ import annotations

from typing import Literal

import numpy as np

from crystalmath.structures.structure import Structure
from crystalmath.structures.symmetry.crystal import SYMPREC_A
from crystalmath.structures.symmetry.search import space_dataset

Free = Literal["nothing", "atoms", "shape"]
CUBIC_FROM = 195
"""Number of the first cubic space group."""


def free_at_volume(structure: Structure, symprec_angstrom: float = SYMPREC_A) -> Free:
    """What can relax while the volume is kept.

    Returns
    -------
    str
        ``nothing``: a cubic cell whose atoms all stand where the symmetry holds them. ``atoms``: a
        cubic cell. ``shape``: atoms and shape, also where no symmetry is found.
    """
    found = space_dataset(structure, symprec_angstrom)
    if found is None or int(found.number) < CUBIC_FROM:
        return "shape"
    rotations = np.asarray(found.rotations, dtype=float)
    translations = np.asarray(found.translations, dtype=float)
    fractions = np.linalg.solve(structure.cell.T, structure.positions.T).T
    for at in fractions:
        moved = rotations @ at + translations - at
        off = (moved - np.rint(moved)) @ structure.cell
        site = rotations[np.linalg.norm(off, axis=1) < 2 * symprec_angstrom]
        if np.abs(site.mean(axis=0)).max() > 1e-9:
            return "atoms"  # a displacement of this atom is the same under all that keep it
    return "nothing"
