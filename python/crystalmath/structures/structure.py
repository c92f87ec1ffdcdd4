"""A structure as everything here works on it: arrays and names, no object of a library.

Made by the readers of this room and by :func:`of_document`; never leaves the worker process. What
the daemon passes on is its JSON form, :meth:`Structure.document`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from crystalmath.domain.moments import moments_of_elements, starting_moments
from crystalmath.structures.formula import reduced_formula

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class SiteData:
    """What a file says of its atoms beside element and place; None where it says nothing.

    Attributes
    ----------
    oxidation_states
        Charges in units of e. They never change an element.
    moments
        Magnetic moments in μB.
    mass_numbers
        Of isotopes: 2 for deuterium.
    labels
        What the file calls the atoms.
    """

    oxidation_states: tuple[float | None, ...] | None = None
    moments: tuple[float | None, ...] | None = None
    mass_numbers: tuple[int | None, ...] | None = None
    labels: tuple[str | None, ...] | None = None

    def take(self, indices: Sequence[int]) -> SiteData:
        """Return the data of some atoms, in this order."""
        return SiteData(
            **{name: tuple(values[i] for i in indices) for name, values in self.given().items()}
        )

    def given(self) -> dict[str, tuple[Any, ...]]:
        """What is known, by name."""
        found = {item.name: getattr(self, item.name) for item in fields(self)}
        return {name: values for name, values in found.items() if values is not None}


@dataclass(slots=True)
class Structure:
    """One structure; every site is fully occupied by one element.

    Attributes
    ----------
    lattice
        Three row vectors in Å, or None for a molecule. Where ``pbc`` is False the vector only
        completes the cell.
    pbc
        Periodicity along the three axes.
    symbols
        Elements, one per atom.
    positions
        Cartesian, Å, shape (n_atoms, 3).
    reader
        Name and version of what read it.
    sites
        What else is known of the atoms.
    source
        Where it came from: file, block, sha256 of the text …
    order
        Index of each atom in the file it came from.
    """

    lattice: Floats | None
    pbc: tuple[bool, bool, bool]
    symbols: list[str]
    positions: Floats
    reader: str = ""
    source: dict[str, str] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    sites: SiteData = field(default_factory=SiteData)
    order: Integers = field(default_factory=lambda: np.empty(0, dtype=np.int64))

    def __post_init__(self) -> None:
        if self.order.size == 0:
            self.order = np.arange(len(self.symbols))

    @property
    def is_crystal(self) -> bool:
        """Whether it repeats in three directions."""
        return self.lattice is not None and all(self.pbc)

    @property
    def cell(self) -> Floats:
        """The lattice of what has one.

        Raises
        ------
        ValueError
            A molecule has none.
        """
        if self.lattice is None:
            raise ValueError("a molecule has no cell")
        return self.lattice

    @property
    def fractions(self) -> Floats:
        """Fractional coordinates, not wrapped into the cell, shape (n_atoms, 3)."""
        return np.asarray(np.linalg.solve(self.cell.T, self.positions.T).T, dtype=np.float64)

    @property
    def moments(self) -> tuple[float, ...] | None:
        """Magnetic moments in μB to start from; None where there are none."""
        return starting_moments(self.sites.moments)

    @property
    def has_uneven_moments(self) -> bool:
        """Whether atoms of one element differ in theirs: symmetry finds them equal nonetheless."""
        return self.moments is not None and moments_of_elements(self.symbols, self.moments) is None

    @property
    def numbers(self) -> Integers:
        """Atomic numbers."""
        from ase.data import atomic_numbers

        return np.array([atomic_numbers[symbol] for symbol in self.symbols], dtype=np.int64)

    @property
    def spglib_cell(self) -> Any:
        """Lattice, fractional coordinates and atomic numbers, as spglib takes them."""
        return self.cell, self.fractions, self.numbers

    @property
    def volume(self) -> float:
        """Of the cell, Å³."""
        return abs(float(np.linalg.det(self.cell)))

    @property
    def formula(self) -> str:
        """The reduced formula in Hill order."""
        return reduced_formula(self.symbols)

    def take(self, indices: Sequence[int] | Integers) -> Structure:
        """Return some atoms in another order; all that is known of an atom follows it."""
        chosen = [int(i) for i in indices]
        return replace(
            self,
            symbols=[self.symbols[i] for i in chosen],
            positions=self.positions[chosen],
            sites=self.sites.take(chosen),
            order=self.order[chosen],
            source=dict(self.source),
            warnings=list(self.warnings),
        )

    def document(self) -> dict[str, Any]:
        """Return the fields of ``services.ports.StructureData`` as JSON values."""
        return {
            "lattice": None if self.lattice is None else self.lattice.tolist(),
            "pbc": list(self.pbc),
            "symbols": self.symbols,
            "positions": self.positions.tolist(),
            "formula": self.formula,
            "source": {**self.source, "reader": self.reader},
            "warnings": self.warnings,
            "sites": {name: list(values) for name, values in self.sites.given().items()},
        }


def of_document(document: Mapping[str, Any]) -> Structure:
    """Make a structure of its JSON form: a stored one, or what a job ended with."""
    lattice = document.get("lattice")
    x, y, z = document["pbc"]
    source = dict(document.get("source") or {})
    return Structure(
        lattice=None if lattice is None else np.array(lattice, dtype=float),
        pbc=(bool(x), bool(y), bool(z)),
        symbols=list(document["symbols"]),
        positions=np.array(document["positions"], dtype=float).reshape(-1, 3),
        reader=source.pop("reader", ""),
        source=source,
        warnings=list(document.get("warnings") or ()),
        sites=SiteData(
            **{name: tuple(values) for name, values in (document.get("sites") or {}).items()}
        ),
    )
