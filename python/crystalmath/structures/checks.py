"""What every structure must satisfy, whatever file it came from.

Refuses what no calculation can mean, warns of what is unusual. Called by ``structures.read`` in a
worker process after a reader.
"""

from __future__ import annotations

import numpy as np

from crystalmath.errors import InputRejected
from crystalmath.structures.structure import Structure

MIN_DISTANCE_A = 0.5
"""Atoms closer than this (Å) are duplicates: the shortest bond, H2, has 0.74 Å."""
MAX_LENGTH_A = 1e5
"""Å, 10 µm: no cell of atoms is longer; beyond, the numbers overflow."""
MIN_VOLUME_A3 = 1.0
MAX_ATOMS = 100_000
"""More than any code here can take; looking at their distances would outlast the deadline."""
SHORT_BOND = 0.7
"""Times the sum of the covalent radii: shorter distances are warned of."""


def check(raw: Structure) -> None:
    """Refuse or warn, and make the cell right-handed.

    Raises
    ------
    InputRejected
        No atoms, a number that is not finite, a flat cell, or atoms on top of each other.
    """
    if not raw.symbols:
        _refuse("the structure has no atoms")
    check_count(len(raw.symbols))
    bad = np.flatnonzero(~np.isfinite(raw.positions).all(axis=1))
    if bad.size:
        index = int(bad[0])
        _refuse(
            f"{raw.symbols[index]} {index + 1} is at {raw.positions[index].tolist()}",
            "the file holds what is no number: was the program that wrote it stopped?",
        )
    _check_cell(raw)
    _check_distances(raw)


def check_count(atoms: int) -> None:
    """Refuse more atoms than can be handled.

    Raises
    ------
    InputRejected
    """
    if atoms > MAX_ATOMS:
        _refuse(
            f"the structure has {atoms} atoms or more; {MAX_ATOMS} can be read", "give a part of it"
        )


def _refuse(message: str, hint: str | None = None) -> None:
    raise InputRejected(message, hint=hint, field="structure")


def _check_cell(raw: Structure) -> None:
    if raw.lattice is None:
        return
    if not np.isfinite(raw.lattice).all():
        _refuse(f"the lattice holds a number that is not finite: {raw.lattice.tolist()}")
    longest = float(np.abs(raw.lattice).max())
    if longest > MAX_LENGTH_A:
        _refuse(f"an axis of the cell is {longest:.3g} Å long", "are the lengths in Å?")
    volume = float(np.linalg.det(raw.lattice))
    if abs(volume) < MIN_VOLUME_A3:
        _refuse(f"the volume of the cell is {abs(volume):.3g} Å³", "are the lengths in Å?")
    if volume < 0:
        # All three axes, so that lengths and angles stay; the lattice is the same set of points.
        raw.lattice = -raw.lattice
        raw.warnings.append("the cell was left-handed; its axes are reversed")


def _check_distances(raw: Structure) -> None:
    from ase import Atoms
    from ase.data import covalent_radii
    from ase.neighborlist import neighbor_list

    cell, positions = raw.lattice, raw.positions
    if cell is None:
        # Without a cell every atom would be compared with every other one.
        positions = positions - positions.min(axis=0)
        cell = np.diag(positions.max(axis=0) + 1.0)
    atoms = Atoms(raw.symbols, positions, cell=cell, pbc=raw.pbc)
    radii = covalent_radii[atoms.numbers]
    reach = np.maximum(MIN_DISTANCE_A / 2, SHORT_BOND * radii)
    first, second, distance = neighbor_list("ijd", atoms, reach.tolist())
    if distance.size == 0:
        return
    at = int(np.argmin(distance))
    i, j = sorted((int(first[at]), int(second[at])))
    shortest = float(distance[at])
    one, other = f"{raw.symbols[i]} {i + 1}", f"{raw.symbols[j]} {j + 1}"
    if shortest < MIN_DISTANCE_A:
        _refuse(
            f"{one} and {other} are {shortest:.3f} Å apart"
            if i != j
            else f"{one} and its own periodic image are {shortest:.3f} Å apart",
            "delete the duplicate, or merge the two" if i != j else "are the lengths in Å?",
        )
    short = distance < SHORT_BOND * (radii[first] + radii[second])
    if short.any():
        at = int(np.argmin(np.where(short, distance, np.inf)))
        pair = sorted((int(first[at]), int(second[at])))
        names = " and ".join(f"{raw.symbols[k]} {k + 1}" for k in pair)
        raw.warnings.append(f"{names} are only {float(distance[at]):.3f} Å apart")
