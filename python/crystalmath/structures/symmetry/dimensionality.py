"""How many directions a structure repeats in, told by the empty space in its cell.

A layer in a file is mostly a crystal with vacuum. The space is measured between atoms, modulo the
cell, so that a layer that is cut by the cell's face counts as one. Called in worker processes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final, Literal

import numpy as np

from crystalmath.errors import InputRejected
from crystalmath.structures.structure import Floats, Structure

VACUUM_A: Final = 8.0
"""Å: so much empty space along an axis means that the structure does not repeat there."""

Kind = Literal["crystal", "slab", "polymer", "molecule"]
KINDS: Final[tuple[Kind, ...]] = ("molecule", "polymer", "slab", "crystal")
"""By the number of directions."""

_ALONE_A: Final = 15.0
"""Å of empty space that an isolated layer or rod is given in its cell."""


@dataclass(frozen=True, slots=True)
class Dimensionality:
    """In how many directions, which, and how that was decided.

    Attributes
    ----------
    kind
        ``crystal``, ``slab``, ``polymer`` or ``molecule``.
    periodic
        Which of the axes of the file the structure repeats along.
    gaps_angstrom
        The largest empty space along each axis, between planes of atoms parallel to the other two;
        infinite along an axis that the file does not repeat along.
    cuts
        Where the empty space ends along each axis: the fraction at which a cell may begin.
    decided_by
        ``request``, ``file`` (it says where it repeats) or ``vacuum``.
    """

    kind: Kind
    periodic: tuple[bool, bool, bool]
    gaps_angstrom: tuple[float, float, float] | None
    cuts: tuple[float, float, float] | None
    decided_by: Literal["request", "file", "vacuum"]

    @property
    def dimensions(self) -> int:
        """0 to 3."""
        return sum(self.periodic)

    def warnings(self) -> list[str]:
        """A sentence where the request and the empty space disagree."""
        if self.decided_by != "request" or self.gaps_angstrom is None:
            return []
        gaps = self.gaps_angstrom
        narrow = [i for i in range(3) if not self.periodic[i] and gaps[i] < VACUUM_A]
        wide = [i for i in range(3) if self.periodic[i] and gaps[i] >= VACUUM_A]
        found = [
            f"only {gaps[i]:.2f} Å are empty along {'abc'[i]}, which is taken as not periodic"
            for i in narrow
        ]
        found += [
            f"{gaps[i]:.2f} Å are empty along {'abc'[i]}, which is taken as periodic" for i in wide
        ]
        return found


def dimensionality(structure: Structure, wanted: Kind | None = None) -> Dimensionality:
    """Decide what a structure is.

    Parameters
    ----------
    wanted
        What the user says that it is; None lets the file and the empty space decide.

    Raises
    ------
    InputRejected
        What is wanted needs more directions than the file has.
    """
    if structure.lattice is None:
        return _of_molecule(wanted)
    measured = [_gap(structure, axis) for axis in range(3)]
    gaps = (measured[0][0], measured[1][0], measured[2][0])
    cuts = (measured[0][1], measured[1][1], measured[2][1])
    if wanted is not None:
        return Dimensionality(wanted, _chosen(structure.pbc, gaps, wanted), gaps, cuts, "request")
    x, y, z = (repeats and gap < VACUUM_A for repeats, gap in zip(structure.pbc, gaps, strict=True))
    periodic = (x, y, z)
    by_file = periodic == structure.pbc and not all(periodic)
    return Dimensionality(
        KINDS[sum(periodic)], periodic, gaps, cuts, "file" if by_file else "vacuum"
    )


def isolate(structure: Structure, found: Dimensionality) -> Structure:
    """Return the layer, rod or molecule by itself, whole and in the middle of its cell.

    A layer has c perpendicular to it, a rod has a along it and b and c perpendicular; the axes that
    repeat are those of the file, renamed in cyclic order, and the atoms keep their order. A crystal
    is returned as it is, a molecule without a cell.
    """
    if structure.lattice is None or found.dimensions == 3:
        return structure
    whole = _unwrapped(structure, found)
    if found.dimensions == 0:
        return replace(structure, lattice=None, pbc=(False, False, False), positions=whole)
    first = _first_axis(found)
    axes = [(first + step) % 3 for step in range(3)]
    lattice = structure.lattice[axes]
    lattice = _layer_axes(lattice, whole) if found.dimensions == 2 else _rod_axes(lattice, whole)
    periodic = (True, found.dimensions == 2, False)
    moved = replace(structure, lattice=lattice, pbc=periodic, positions=whole)
    fractions = moved.fractions
    for axis in range(3):
        if not periodic[axis]:
            fractions[:, axis] += 0.5 - (fractions[:, axis].max() + fractions[:, axis].min()) / 2
    return replace(moved, positions=fractions @ lattice)


def _of_molecule(wanted: Kind | None) -> Dimensionality:
    if wanted not in (None, "molecule"):
        raise InputRejected(
            f"the structure has no cell, so it is no {wanted}",
            hint="give a file with the lattice",
            field="structure",
        )
    by: Literal["request", "file"] = "request" if wanted else "file"
    return Dimensionality("molecule", (False, False, False), None, None, by)


def _chosen(
    pbc: tuple[bool, bool, bool], gaps: tuple[float, float, float], wanted: Kind
) -> tuple[bool, bool, bool]:
    """Let the axes with the least empty space repeat, as many as are wanted."""
    allowed = sorted((axis for axis in range(3) if pbc[axis]), key=lambda axis: (gaps[axis], axis))
    count = KINDS.index(wanted)
    if count > len(allowed):
        raise InputRejected(
            f"the file repeats in {len(allowed)} directions, so it is no {wanted}",
            field="structure",
        )
    chosen = allowed[:count]
    return (0 in chosen, 1 in chosen, 2 in chosen)


def _gap(structure: Structure, axis: int) -> tuple[float, float]:
    """The largest empty interval along an axis (Å, perpendicular) and the fraction at its end."""
    if not structure.pbc[axis]:
        return np.inf, 0.0
    lattice = structure.cell
    one, two = (lattice[(axis + step) % 3] for step in (1, 2))
    height = structure.volume / float(np.linalg.norm(np.cross(one, two)))
    places = np.sort(structure.fractions[:, axis] % 1.0)
    spaces = np.diff(np.append(places, places[0] + 1.0))
    widest = int(np.argmax(spaces))
    return float(spaces[widest]) * height, float(places[(widest + 1) % len(places)])


def _unwrapped(structure: Structure, found: Dimensionality) -> Floats:
    """Cartesian positions with every atom on the same side of the empty space."""
    fractions = structure.fractions
    cuts = found.cuts or (0.0, 0.0, 0.0)
    for axis in range(3):
        if not found.periodic[axis] and structure.pbc[axis]:
            # slightly before the first atom: one that lies there by rounding stays at this side
            start = cuts[axis] - 1e-6
            fractions[:, axis] = start + (fractions[:, axis] - start) % 1.0
    positions: Floats = fractions @ structure.cell
    return positions


def _first_axis(found: Dimensionality) -> int:
    """The axis of the file that becomes a."""
    if found.dimensions == 1:
        return found.periodic.index(True)
    return (found.periodic.index(False) + 1) % 3


def _layer_axes(lattice: Floats, positions: Floats) -> Floats:
    normal = np.cross(lattice[0], lattice[1])
    normal /= np.linalg.norm(normal)
    if normal @ lattice[2] < 0:  # cannot be for a right-handed cell
        normal = -normal
    return np.array([lattice[0], lattice[1], normal * _room(positions @ normal)])


def _rod_axes(lattice: Floats, positions: Floats) -> Floats:
    along = lattice[0] / np.linalg.norm(lattice[0])
    second = lattice[1] - (lattice[1] @ along) * along
    second /= np.linalg.norm(second)
    third = np.cross(along, second)
    return np.array(
        [lattice[0], second * _room(positions @ second), third * _room(positions @ third)]
    )


def _room(heights: Floats) -> float:
    """A length (Å) in which nothing of this extent is near its image."""
    extent = float(np.ptp(heights))
    return 2.0 * extent + _ALONE_A
