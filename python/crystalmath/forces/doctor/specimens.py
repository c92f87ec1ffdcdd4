"""The structures on which an engine is checked, as far as it knows their elements.

Crystals are rattled, so that no force is zero by symmetry. Their lattice constants are near those
of experiment, which every engine of use describes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any, Final

import numpy as np
from ase import Atoms
from ase.build import bulk, molecule
from ase.data import atomic_numbers, covalent_radii

CRYSTALS: Final[dict[str, tuple[str, float]]] = {
    "Cu": ("fcc", 3.60),
    "Si": ("diamond", 5.43),
    "NaCl": ("rocksalt", 5.64),
    "MgO": ("rocksalt", 4.21),
}
"""Name → structure and cubic lattice constant in Å."""

_SKEW: Final = np.array([[1.03, 0.11, 0.05], [-0.08, 0.98, 0.07], [0.04, -0.06, 1.01]])
_STRAIN: Final = np.array([[-0.02, 0.01, 0.015], [0.01, 0.015, -0.012], [0.015, -0.012, -0.01]])
_VACUUM_A: Final = 6.0


def specimens(elements: Collection[str] | None) -> Iterator[tuple[str, Atoms]]:
    """Give names and structures; ``elements`` are those that the engine knows, None: any."""
    crystals = {
        name: atoms
        for name, (kind, a) in CRYSTALS.items()
        if known(atoms := bulk(name, kind, a=a, cubic=True), elements)
    }
    if not crystals and elements:
        symbol = min(elements, key=lambda s: atomic_numbers[s])
        if not known(molecule("H2O"), elements):
            crystals[symbol] = _close_packed(symbol)
    for name, atoms in crystals.items():
        atoms.rattle(0.02, seed=1)
        yield name, atoms
    if crystals:
        name, first = next(iter(crystals.items()))
        yield "skewed", _skewed(first)
        yield "slab", _slab(first)
    yield from _molecule(elements, crystals)


def known(atoms: Atoms, elements: Collection[str] | None) -> bool:
    """Whether all elements of a structure are among those."""
    return elements is None or set(atoms.symbols) <= set(elements)


def strained(atoms: Atoms) -> Atoms:
    """The same under a strain with all six components, so that its stress is far from zero."""
    found = atoms.copy()
    found.set_cell(atoms.cell.array @ (np.eye(3) + _STRAIN), scale_atoms=True)
    return found  # type: ignore[no-any-return]


def _close_packed(symbol: str) -> Atoms:
    distance = 2.3 * covalent_radii[atomic_numbers[symbol]]
    return bulk(symbol, "fcc", a=distance * 2**0.5, cubic=True)


def _skewed(crystal: Atoms) -> Atoms:
    """A cell with nine entries that are not zero."""
    atoms: Any = crystal.copy()
    atoms.set_cell(crystal.cell.array @ _SKEW, scale_atoms=True)
    atoms.rattle(0.03, seed=2)
    return atoms  # type: ignore[no-any-return]


def _slab(crystal: Atoms) -> Atoms:
    """Periodic in two directions."""
    atoms: Any = crystal.copy()
    atoms.center(vacuum=_VACUUM_A, axis=2)
    atoms.pbc = [True, True, False]
    atoms.rattle(0.03, seed=3)
    return atoms  # type: ignore[no-any-return]


def _molecule(
    elements: Collection[str] | None, crystals: dict[str, Atoms]
) -> Iterator[tuple[str, Atoms]]:
    """Water where it is known; else a piece of a crystal, alone in space."""
    if elements is not None and known(molecule("H2O"), elements):
        atoms = molecule("H2O")
    elif crystals:
        atoms = next(iter(crystals.values())).copy()
        atoms.pbc = False
        atoms.cell[:] = 0.0
    else:
        return
    atoms.rattle(0.03, seed=4)
    yield "molecule", atoms
