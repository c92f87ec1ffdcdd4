"""Spins of atoms: they lower the symmetry, and follow the atoms into the order of the deck.

Atoms of one element with different spins are no images of each other. While the symmetry is looked
for, each kind stands under the symbol of an element that the structure does not hold.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from crystalmath.errors import InvalidParams
from crystalmath.structures.structure import Structure

FIELD = "options.spin.atom_spins"


@dataclass(frozen=True, slots=True)
class SpinLabels:
    """Spin of each atom that has one.

    Attributes
    ----------
    of_atom
        Index in the structure → ±1 or 0.
    stand_in
        Symbol used during the search → the element.
    """

    of_atom: Mapping[int, int]
    stand_in: Mapping[str, str]
    symbols: tuple[str, ...]

    def told_apart(self, structure: Structure) -> Structure:
        """The structure with a symbol of its own for each element and spin."""
        return replace(structure, symbols=list(self.symbols)) if self.stand_in else structure

    def element(self, symbol: str) -> str:
        """The element behind a symbol of the search."""
        return self.stand_in.get(symbol, symbol)


def spin_labels(structure: Structure, given: Mapping[str, int] | None) -> SpinLabels:
    """Label the atoms.

    Parameters
    ----------
    given
        Atom of the structure, from 1, as text → spin.

    Raises
    ------
    InvalidParams
        There is no such atom.
    """
    from ase.data import chemical_symbols

    of_atom: dict[int, int] = {}
    for atom, spin in (given or {}).items():
        if int(atom) > len(structure.symbols):
            raise InvalidParams(
                f"there is no atom {atom}: the structure has {len(structure.symbols)}",
                field=f"{FIELD}.{atom}",
            )
        of_atom[int(atom) - 1] = spin
    free = [symbol for symbol in reversed(chemical_symbols[1:]) if symbol not in structure.symbols]
    names: dict[tuple[str, int], str] = {}
    symbols = []
    for index, symbol in enumerate(structure.symbols):
        spin = of_atom.get(index, 0)
        if spin == 0:
            symbols.append(symbol)
            continue
        symbols.append(names.setdefault((symbol, spin), free[len(names) % len(free)]))
    stand_in = {name: element for (element, _), name in names.items()}
    return SpinLabels(of_atom, stand_in, tuple(symbols))
