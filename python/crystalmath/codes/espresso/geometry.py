"""From the units of pw.x to Å: cells and positions. Pure, plain floats."""

from __future__ import annotations

from typing import Any

from crystalmath.codes.espresso.elements import element_of_label
from crystalmath.codes.espresso.run import Cell, Matrix, Positions, Vector
from crystalmath.codes.lattice import cartesian
from crystalmath.structures.formula import reduced_formula
from crystalmath.units import BOHR_ANGSTROM


def lattice_angstrom(cell: Cell) -> Matrix | None:
    """The cell vectors in Å; None when their unit is not known."""
    scale = _unit_angstrom(cell.unit, cell.alat_bohr)
    if scale is None:
        return None
    a, b, c = (_scaled(vector, scale) for vector in cell.vectors)
    return a, b, c


def positions_angstrom(positions: Positions, cell: Cell) -> tuple[Vector, ...] | None:
    """The atoms in Å, Cartesian."""
    if positions.unit == "crystal":
        lattice = lattice_angstrom(cell)
        if lattice is None:
            return None
        return tuple(cartesian(fractions, lattice) for fractions in positions.coordinates)
    scale = _unit_angstrom(positions.unit, cell.alat_bohr)
    if scale is None:
        return None
    return tuple(_scaled(place, scale) for place in positions.coordinates)


def structure_document(cell: Cell | None, positions: Positions | None) -> dict[str, Any] | None:
    """A geometry as a results document has it: Å, Cartesian; None when it is not all known."""
    if cell is None or positions is None:
        return None
    lattice = lattice_angstrom(cell)
    places = positions_angstrom(positions, cell)
    symbols = [element_of_label(label) for label in positions.labels]
    if lattice is None or places is None or None in symbols:
        return None
    return {
        "lattice": [list(vector) for vector in lattice],
        "pbc": [True, True, True],
        "symbols": symbols,
        "positions": [list(place) for place in places],
        "formula": reduced_formula([str(symbol) for symbol in symbols]),
    }


def _unit_angstrom(unit: str, alat_bohr: float | None) -> float | None:
    if unit == "angstrom":
        return 1.0
    if unit == "bohr":
        return BOHR_ANGSTROM
    if unit == "alat" and alat_bohr is not None:
        return alat_bohr * BOHR_ANGSTROM
    return None


def _scaled(vector: Vector, scale: float) -> Vector:
    # + 0.0 turns -0.0 into 0.0
    return vector[0] * scale + 0.0, vector[1] * scale + 0.0, vector[2] * scale + 0.0
