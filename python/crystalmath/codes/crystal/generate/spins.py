"""Spins of atoms: they lower the symmetry, and follow the atoms into the order of the deck.

Atoms of one element with different spins are no images of each other. While the symmetry is looked
for, each kind stands under the symbol of an element that the structure does not hold.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final, Literal

from crystalmath.contract.d12 import D12Options, OpenShell
from crystalmath.domain.moments import outweighed_by
from crystalmath.errors import InvalidParams
from crystalmath.structures.structure import Structure

FIELD = "options.spin.atom_spins"
_LEAST_PART: Final = 0.1
"""Of the largest moment: what is smaller follows from the others and is no spin to start from."""


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


def with_moments(asked: D12Options, structure: Structure) -> tuple[D12Options, list[str]]:
    """The options with the spins that the moments of a structure say, and what to tell of it.

    CRYSTAL starts from directions: 1, −1 or 0 for each atom.
    """
    moments, spin = structure.moments, asked.spin
    if moments is None:
        return asked, []
    if spin == "closed":
        return asked, [outweighed_by("`options.spin`")]
    detailed = spin if isinstance(spin, OpenShell) else OpenShell()
    if detailed.atom_spins is not None:
        return asked, [outweighed_by(f"`{FIELD}`")]
    least = _LEAST_PART * max(map(abs, moments))
    signs: dict[str, Literal[-1, 0, 1]] = {
        str(atom): 1 if moment > 0 else -1
        for atom, moment in enumerate(moments, start=1)
        if abs(moment) >= least
    }
    said = (
        "an open shell, because the structure has magnetic moments: CRYSTAL starts from their "
        "directions (ATOMSPIN), not from their sizes"
    )
    found = detailed.model_copy(update={"atom_spins": signs})
    return asked.model_copy(update={"spin": found}), [said]


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
