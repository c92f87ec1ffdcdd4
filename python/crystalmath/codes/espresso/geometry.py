"""From the units of pw.x to Å: cells, positions, lattice constants. Pure, plain floats."""

from __future__ import annotations

from math import acos, degrees, sqrt
from typing import Any

from crystalmath.codes.espresso.elements import element_of_label
from crystalmath.codes.espresso.run import Cell, Matrix, Positions, Vector
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
        return tuple(_combined(fractions, lattice) for fractions in positions.coordinates)
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


def lattice_parameters(lattice: Matrix) -> dict[str, float]:
    """Lengths (Å) and angles (degrees)."""
    a, b, c = lattice
    lengths = [sqrt(_dot(v, v)) for v in (a, b, c)]
    pairs = {"alpha_deg": (b, c), "beta_deg": (a, c), "gamma_deg": (a, b)}
    angles = {
        name: degrees(acos(max(-1.0, min(1.0, _dot(v, w) / sqrt(_dot(v, v) * _dot(w, w))))))
        for name, (v, w) in pairs.items()
    }
    names = ("a_angstrom", "b_angstrom", "c_angstrom")
    return {**dict(zip(names, lengths, strict=True)), **angles}


def volume_angstrom3(lattice: Matrix) -> float:
    """Volume of the cell."""
    a, b, c = lattice
    cross = (b[1] * c[2] - b[2] * c[1], b[2] * c[0] - b[0] * c[2], b[0] * c[1] - b[1] * c[0])
    return abs(_dot(a, cross))


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


def _combined(fractions: Vector, lattice: Matrix) -> Vector:
    x, y, z = (
        sum(f * vector[i] for f, vector in zip(fractions, lattice, strict=True)) for i in range(3)
    )
    return x, y, z


def _dot(v: Vector, w: Vector) -> float:
    return v[0] * w[0] + v[1] * w[1] + v[2] * w[2]
