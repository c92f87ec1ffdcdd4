"""What must be computed for phonons: supercells with one atom displaced, as few as symmetry allows.

A plan is complete in itself: stored, it says years later which forces belong to which displacement.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from crystalmath.analysis.phonons.phonopy_object import phonopy_of
from crystalmath.analysis.phonons.supercell import check_supercell
from crystalmath.analysis.point_group import periodic
from crystalmath.domain.elements import SYMBOLS
from crystalmath.errors import InputRejected
from crystalmath.structures.structure import Floats, SiteData, Structure, of_document
from crystalmath.structures.symmetry.crystal import SYMPREC_A
from crystalmath.structures.symmetry.layers import no_symmetry

DISTANCE_ANGSTROM: Final = 0.01
"""Cartesian, on an atom of the supercell."""


@dataclass(frozen=True, slots=True)
class Displacement:
    """One atom of the supercell (from 0) and by how much it is moved, Å."""

    atom: int
    vector: tuple[float, float, float]


@dataclass(frozen=True, slots=True, eq=False)
class DisplacementPlan:
    """Everything that must be known to compute forces, and to make phonons of them.

    Attributes
    ----------
    structure
        The relaxed cell.
    sizes
        Repetitions of the cell in the supercell.
    primitive_matrix
        Columns: vectors of a primitive cell in those of ``structure``, in its axes.
    symprec_angstrom
        The tolerance that decided which displacements are equivalent.
    """

    structure: Structure
    sizes: tuple[int, int, int]
    primitive_matrix: Floats
    displacements: tuple[Displacement, ...]
    symprec_angstrom: float

    @property
    def primitive_lattice(self) -> Floats:
        """Row vectors (Å) of the primitive cell, in the axes of the structure."""
        return np.asarray((self.structure.cell.T @ self.primitive_matrix).T, dtype=np.float64)

    def supercell(self) -> Structure:
        """The supercell with all atoms at rest, in phonopy's order."""
        cell = phonopy_of(self).supercell
        return replace(
            self.structure,
            lattice=np.array(cell.cell, dtype=float),
            symbols=[SYMBOLS[number] for number in cell.numbers],
            positions=np.array(cell.positions, dtype=float),
            sites=_sites(self.structure, cell.s2u_map, cell.u2u_map),
            order=np.empty(0, dtype=np.int64),
        )

    def displaced(self) -> list[Structure]:
        """The supercells whose forces are wanted, one for each displacement."""
        at_rest = self.supercell()
        found = []
        for item in self.displacements:
            positions = at_rest.positions.copy()
            positions[item.atom] += item.vector
            found.append(replace(at_rest, positions=positions))
        return found

    def document(self) -> dict[str, Any]:
        """The plan as JSON values."""
        return {
            "structure": self.structure.document(),
            "sizes": list(self.sizes),
            "primitive_matrix": self.primitive_matrix.tolist(),
            "displacements": [
                {"atom": item.atom, "vector_angstrom": list(item.vector)}
                for item in self.displacements
            ],
            "symprec_angstrom": self.symprec_angstrom,
        }


def plan_of_document(document: Mapping[str, Any]) -> DisplacementPlan:
    """Make a plan of its JSON form."""
    a, b, c = (int(size) for size in document["sizes"])
    items = []
    for item in document["displacements"]:
        x, y, z = (float(value) for value in item["vector_angstrom"])
        items.append(Displacement(int(item["atom"]), (x, y, z)))
    return DisplacementPlan(
        structure=of_document(document["structure"]),
        sizes=(a, b, c),
        primitive_matrix=np.array(document["primitive_matrix"], dtype=float),
        displacements=tuple(items),
        symprec_angstrom=float(document["symprec_angstrom"]),
    )


def plan_displacements(
    structure: Structure,
    sizes: Sequence[int],
    distance_angstrom: float = DISTANCE_ANGSTROM,
    symprec_angstrom: float = SYMPREC_A,
) -> DisplacementPlan:
    """Choose the displacements of a crystal.

    Parameters
    ----------
    sizes
        Repetitions of the cell along its three vectors (``supercell.supercell_sizes``).
    distance_angstrom
        Cartesian length.

    Raises
    ------
    InputRejected
    SymmetryBroken
        The supercell loses rotations of the crystal.
    """
    if not 1e-4 <= distance_angstrom <= 0.2:
        raise InputRejected(
            "the displacement must be between 0.0001 and 0.2 Å", field="distance_angstrom"
        )
    crystal = periodic(structure, "phonons")
    check_supercell(crystal, sizes, symprec_angstrom)
    a, b, c = (int(size) for size in sizes)
    matrix = primitive_matrix(crystal, symprec_angstrom)
    bare = DisplacementPlan(crystal, (a, b, c), matrix, (), symprec_angstrom)
    phonopy = phonopy_of(bare)
    phonopy.generate_displacements(distance=distance_angstrom)
    items = []
    for found in phonopy.dataset["first_atoms"]:
        x, y, z = (float(value) for value in found["displacement"])
        items.append(Displacement(int(found["number"]), (x, y, z)))
    return replace(bare, displacements=tuple(items))


def primitive_matrix(structure: Structure, symprec_angstrom: float = SYMPREC_A) -> Floats:
    """Columns: the vectors of a primitive cell in those of a cell, neither turned nor idealised.

    Raises
    ------
    InputRejected
        No symmetry can be found with this tolerance.
    """
    import spglib

    # magnetic moments make atoms of one element different
    kinds = _kinds(structure)
    lattice, fractions, _ = structure.spglib_cell
    found = spglib.standardize_cell(
        (lattice, fractions, kinds), to_primitive=True, no_idealize=True, symprec=symprec_angstrom
    )
    if found is None:
        raise no_symmetry(symprec_angstrom)
    matrix = np.linalg.solve(structure.cell.T, np.asarray(found[0]).T)
    cells = round(1 / abs(float(np.linalg.det(matrix))))
    return np.ascontiguousarray(np.rint(matrix * cells) / cells, dtype=np.float64)


def _kinds(structure: Structure) -> list[int]:
    moments = structure.moments or (0.0,) * len(structure.symbols)
    keys = list(zip(structure.symbols, moments, strict=True))
    names = {key: index for index, key in enumerate(dict.fromkeys(keys), start=1)}
    return [names[key] for key in keys]


def _sites(structure: Structure, s2u: Any, u2u: Mapping[int, int]) -> SiteData:
    return structure.sites.take([int(u2u[int(atom)]) for atom in s2u])
