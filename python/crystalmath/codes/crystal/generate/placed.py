"""A structure as the geometry section of a deck: group, lattice record, irreducible sites.

Made by ``generate.space``, ``generate.layer`` and ``generate.plain``; ``generate.check`` compares
the text that comes of it with the structure.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from crystalmath.structures.structure import Floats, Structure

DECIMALS = 10


@dataclass(frozen=True, slots=True)
class Site:
    """One line of the list of sites.

    Attributes
    ----------
    coordinates
        As they are written: fractions, or Å along an axis that does not repeat.
    multiplicity
        Atoms of the primitive cell that it stands for.
    atoms
        Indices in the structure as it was given.
    nat
        Its label where that is not the atomic number.
    """

    z: int
    coordinates: tuple[float, float, float]
    multiplicity: int
    atoms: tuple[int, ...]
    nat: int | None = None

    def line(self) -> str:
        """The record."""
        x, y, z = (f"{value:{DECIMALS + 4}.{DECIMALS}f}" for value in self.coordinates)
        return f"{self.nat or self.z:3d} {x} {y} {z}"


@dataclass(frozen=True, slots=True)
class Placed:
    """The geometry of a deck, and how it comes from the structure.

    Attributes
    ----------
    dimension
        ``CRYSTAL``, ``SLAB``, ``POLYMER`` or ``MOLECULE``.
    group
        In CRYSTAL's list of this dimension.
    lattice
        The numbers of the lattice record.
    compared
        The structure that the deck is compared with: whole, in its own axes.
    transformation, shift
        From fractions of ``compared`` to those of the deck's conventional cell, where Å of an axis
        that does not repeat are divided by 500.
    """

    dimension: str
    group: int
    lattice: tuple[float, ...]
    sites: tuple[Site, ...]
    compared: Structure
    transformation: Floats
    shift: Floats
    symbol: str | None = None
    number: int | None = None
    hall: str | None = None
    max_displacement_angstrom: float = 0.0
    tolerance_angstrom: float = 0.01
    warnings: tuple[str, ...] = ()
    symmetry: object | None = field(default=None, repr=False)

    def lines(self) -> list[str]:
        """The records from the dimension to the last site."""
        head = [self.dimension]
        if self.dimension == "CRYSTAL":
            head.append("0 0 0")
        head.append(str(self.group))
        if self.lattice:
            head.append(" ".join(_short(number) for number in self.lattice))
        return [*head, str(len(self.sites)), *(site.line() for site in self.sites)]

    @property
    def n_atoms_primitive(self) -> int:
        """Atoms of the primitive cell, which is what the program computes."""
        return sum(site.multiplicity for site in self.sites)

    @property
    def electrons(self) -> int:
        """Of the neutral primitive cell, all of them."""
        return sum(site.z * site.multiplicity for site in self.sites)


def _short(number: float) -> str:
    """Eight decimals without the zeros behind."""
    text = f"{number:.8f}".rstrip("0")
    return f"{text}0" if text.endswith(".") else text


def written(values: Floats, *, whole_turns: tuple[bool, bool, bool]) -> tuple[float, float, float]:
    """Coordinates as ten decimals keep them, in [0, 1) along the axes that repeat."""
    rounded = np.round(values, DECIMALS)
    for axis in range(3):
        if whole_turns[axis]:
            rounded[axis] = np.round(rounded[axis] - np.floor(rounded[axis]), DECIMALS)
            rounded[axis] = 0.0 if rounded[axis] >= 1.0 else rounded[axis]
    x, y, z = (float(value) + 0.0 for value in rounded)
    return x, y, z
