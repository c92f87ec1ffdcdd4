"""What the deck of a wave function fixes for its properties: axes, mesh, atoms, orbitals.

What cannot be told from the deck alone is None. Used by the linter and the generator of ``.d3``
decks, in worker processes.
"""

from __future__ import annotations

from dataclasses import dataclass

from crystalmath.codes.crystal.basis.shells import ORBITALS, BasisProblem, read_species
from crystalmath.codes.crystal.cell.declared import PERIODIC, Declared, NotDeclared, declared
from crystalmath.codes.crystal.cell.mesh import primitive_cell
from crystalmath.codes.crystal.deck.parse import parse_deck
from crystalmath.codes.crystal.deck.records import Deck
from crystalmath.codes.crystal.deck.shrink import Shrink, read_shrink
from crystalmath.codes.crystal.tables.keywords import SAME_CRYSTAL
from crystalmath.structures.structure import Floats


@dataclass(frozen=True, slots=True)
class Wave:
    """A wave function as its deck describes it.

    Attributes
    ----------
    kind
        ``CRYSTAL``, ``SLAB``, ``POLYMER``, ``MOLECULE``, ``EXTERNAL`` or what stands there.
    axes
        Along which it repeats, the first ones.
    crystal
        What the records declare, unless a keyword changes it.
    primitive
        Row vectors of the primitive cell, Å.
    n_atoms, n_orbitals
        Of the primitive cell.
    """

    kind: str
    axes: int | None
    crystal: Declared | None
    primitive: Floats | None
    shrink: Shrink | None
    n_atoms: int | None
    n_orbitals: int | None


def wave_of(text: str) -> Wave:
    """Read the deck of a wave function."""
    deck = parse_deck(text)
    kind = deck.geometry.kind
    is_changed = any(item.keyword not in SAME_CRYSTAL for item in deck.geometry.items)
    axes = sum(PERIODIC[kind]) if kind in PERIODIC and not is_changed else None
    item = deck.scf_item("SHRINK")
    shrink = None if item is None else read_shrink(item.data, 3 if axes is None else axes)
    crystal = None
    counts: tuple[int, ...] | None = None
    if axes is not None:
        try:
            crystal = declared(deck)
            per_cell = len(crystal.setting.centring)
            counts = tuple(many // per_cell for many in crystal.expand().multiplicities)
        except (NotDeclared, ValueError):
            crystal = None
    return Wave(
        kind=kind,
        axes=axes,
        crystal=crystal,
        primitive=None if crystal is None else primitive_cell(crystal.cell, crystal.setting),
        shrink=shrink,
        n_atoms=None if counts is None else sum(counts),
        n_orbitals=None if counts is None or crystal is None else _orbitals(deck, crystal, counts),
    )


def _orbitals(deck: Deck, crystal: Declared, counts: tuple[int, ...]) -> int | None:
    """Of an inline basis set; those of a library are known to the program alone."""
    if not deck.basis.shells:
        return None
    try:
        species = read_species(deck.basis.shells)
    except BasisProblem:
        return None
    of_label = {one.nat: sum(ORBITALS[shell.lat] for shell in one.shells) for one in species}
    if any(nat not in of_label for nat in crystal.numbers):
        return None
    return sum(count * of_label[nat] for nat, count in zip(crystal.numbers, counts, strict=True))
