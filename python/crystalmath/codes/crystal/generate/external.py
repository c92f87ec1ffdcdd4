"""The geometry file of an EXTERNAL deck, and the check of it.

The primitive cell of what was placed, with the operators in Cartesian coordinates.
"""

from __future__ import annotations

import numpy as np

from crystalmath.codes.crystal.cell.declared import declared
from crystalmath.codes.crystal.cell.expand import inside, wrap
from crystalmath.codes.crystal.deck.parse import parse_deck
from crystalmath.codes.crystal.generate.placed import Placed
from crystalmath.errors import InputRejected
from crystalmath.structures.formats.gui import (
    CENTRINGS,
    cartesian_operators,
    kind_of_lattice,
    read_gui,
    write_gui,
)
from crystalmath.structures.structure import Floats, Structure
from crystalmath.structures.symmetry.settings import PRIMITIVE


def external_geometry(placed: Placed) -> str:
    """Write the ``.gui`` of what was placed.

    Raises
    ------
    InputRejected
        It could not be read back as the same atoms.
    """
    text = "\n".join(["geometry", *placed.lines(), "END", ""])
    read = declared(parse_deck(text))
    expanded = read.expand()
    lattice = read.cell.copy()
    axes = [axis for axis in range(3) if read.periodic[axis]]
    basis = PRIMITIVE[read.setting.letter]
    lattice = basis @ lattice
    fractions = expanded.fractions @ np.linalg.inv(basis)
    kept = _different(inside(fractions, read.periodic), lattice, read.periodic)
    atoms = inside(fractions, read.periodic)[kept]
    everywhere = read.symbols(expanded)
    symbols = [everywhere[atom] for atom in kept]
    structure = Structure(lattice, read.periodic, symbols, atoms @ lattice)
    operators = cartesian_operators(read.setting.rotations, read.setting.translations, read.cell)
    if placed.dimension != "CRYSTAL" and len(axes) < 2:
        operators = operators[:1]
    gui = write_gui(
        structure,
        operators,
        centring=CENTRINGS.index(read.setting.letter) + 1,
        kind=kind_of_lattice(placed.group) if placed.dimension == "CRYSTAL" else 1,
        group=placed.group,
    )
    again = read_gui(gui, "structure")
    if len(again.symbols) != len(symbols):
        raise InputRejected(
            "the geometry file would not be the structure: its operators make "
            f"{len(again.symbols)} atoms of {len(symbols)}",
            hint="take `options.dimension` auto instead of external",
            field="structure",
        )
    return gui


def _different(fractions: Floats, lattice: Floats, periodic: tuple[bool, bool, bool]) -> list[int]:
    """Indices of atoms that are no images of an earlier one by the primitive lattice."""
    kept: list[int] = []
    for index, fraction in enumerate(fractions):
        offset = wrap(fractions[kept] - fraction, periodic) @ lattice if kept else None
        if offset is None or np.linalg.norm(offset, axis=1).min() > 1e-3:
            kept.append(index)
    return kept
