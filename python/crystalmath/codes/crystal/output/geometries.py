"""Geometries of a results document: as printed, and as a structure in Å. Pure."""

from __future__ import annotations

from typing import Any, Final

from crystalmath.codes.crystal.output.run import Atom, Cell, Geometry
from crystalmath.codes.lattice import Matrix, Vector, cartesian, vectors_of
from crystalmath.domain.elements import SYMBOLS
from crystalmath.structures.formula import reduced_formula

LABELS_PER_ELEMENT: Final = 100
"""The atomic number is the rest of an atom's label by this."""
ECP_LABELS: Final = 200
"""Labels above this have an effective core potential."""
MAX_ARRAY_ATOMS: Final = 1000
"""Arrays per atom of larger systems stay in the output."""
FORMAL_ANGSTROM: Final = 500.0
"""What CRYSTAL prints for the length along a direction that is not periodic."""


def geometry_document(
    geometry: Geometry, dimensionality: int | None, n_operators: int | None = None
) -> dict[str, Any]:
    """A geometry as printed; members that it does not have are None."""
    document: dict[str, Any] = {
        "atoms": geometry.n_atoms,
        "atoms_primitive": geometry.n_atoms,
        "atoms_asymmetric": geometry.n_asymmetric,
        "symmetry_operators": n_operators,
        "shortest_distance_angstrom": geometry.shortest,
    }
    if dimensionality is not None:
        document["pbc"] = list(_pbc(dimensionality))
    if geometry.cell is not None and dimensionality:
        if dimensionality == 3:
            document |= _cell("primitive", geometry.cell)
            document |= _cell("conventional", _conventional(geometry))
        else:
            document["abc_angstrom"] = list(geometry.cell.lengths)
            document["angles_deg"] = list(geometry.cell.angles)
    if dimensionality == 2 and geometry.atoms:
        document["z_angstrom_first_atom"] = geometry.atoms[0].place[2]
    return document


def _pbc(dimensionality: int) -> tuple[bool, bool, bool]:
    return dimensionality > 0, dimensionality > 1, dimensionality > 2


def _conventional(geometry: Geometry) -> Cell | None:
    if geometry.conventional is None and geometry.centring == 1:
        return geometry.cell
    return geometry.conventional


def _cell(name: str, cell: Cell | None) -> dict[str, Any]:
    if cell is None:
        return {}
    document: dict[str, Any] = {
        f"{name}_abc_angstrom": list(cell.lengths),
        f"{name}_angles_deg": list(cell.angles),
        f"volume_{name}_angstrom3": cell.volume,
    }
    if name == "conventional":
        document[f"{name}_a_angstrom"] = cell.lengths[0]
        document[f"{name}_gamma_deg"] = cell.angles[2]
    return document


def element_of(atom: Atom) -> str:
    """The symbol of an atom; ``X`` for a place without one."""
    number = atom.label % LABELS_PER_ELEMENT
    return SYMBOLS[number] if number < len(SYMBOLS) else "X"


def formula_of(geometry: Geometry) -> str | None:
    """The reduced formula; None while not all atoms are known."""
    if not geometry.complete:
        return None
    return reduced_formula([element_of(atom) for atom in geometry.atoms])


def labels_of(geometry: Geometry) -> list[int]:
    """The labels of the deck, each once, in their order."""
    return list(dict.fromkeys(atom.label for atom in geometry.atoms))


def lattice_of(geometry: Geometry) -> Matrix | None:
    """The primitive vectors in Å: as printed, else from lengths and angles."""
    if len(geometry.vectors) == 3:
        a, b, c = geometry.vectors
        return a, b, c
    if geometry.cell is None:
        return None
    return vectors_of(geometry.cell.lengths, geometry.cell.angles)


def structure_document(geometry: Geometry, dimensionality: int | None) -> dict[str, Any] | None:
    """The primitive cell as a structure, Cartesian in Å; None when it is not all known."""
    if not geometry.complete or dimensionality is None or len(geometry.atoms) > MAX_ARRAY_ATOMS:
        return None
    lattice = None if dimensionality == 0 else lattice_of(geometry)
    if lattice is None and dimensionality:
        return None
    symbols = [element_of(atom) for atom in geometry.atoms]
    return {
        "lattice": None if lattice is None else [list(vector) for vector in lattice],
        "pbc": list(_pbc(dimensionality)),
        "symbols": symbols,
        "positions": [list(_place(a, lattice, dimensionality)) for a in geometry.atoms],
        "formula": reduced_formula(symbols),
    }


def _place(atom: Atom, lattice: Matrix | None, dimensionality: int) -> Vector:
    """Fractions along what is periodic; the rest is printed in Å already."""
    if lattice is None:
        return atom.place
    x, y, z = atom.place
    fractions = (x, y if dimensionality > 1 else 0.0, z if dimensionality > 2 else 0.0)
    px, py, pz = cartesian(fractions, lattice)
    # + 0.0 turns -0.0 into 0.0
    return (
        px + 0.0,
        (py if dimensionality > 1 else py + y) + 0.0,
        (pz if dimensionality > 2 else pz + z) + 0.0,
    )
