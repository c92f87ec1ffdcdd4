"""The space or layer group of a structure, with its cell and sites in the standard setting.

What comes out is idealised, and says how far: the largest displacement of an atom and the group
that a tenth of the tolerance gives. Called in worker processes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from crystalmath.structures.structure import Floats, Integers, Structure
from crystalmath.structures.symmetry import settings
from crystalmath.structures.symmetry.layers import (
    PrimitiveLayer,
    layer_operations,
    no_symmetry,
    primitive_layer,
)
from crystalmath.structures.symmetry.orbits import Orbit, orbits_of
from crystalmath.structures.symmetry.search import layer_dataset, space_dataset

SYMPREC_A: Final = 0.01
"""Å, the tolerance that is used when none is asked for."""
MANY_ATOMS: Final = 600
"""So many atoms in a primitive cell without symmetry are warned of."""


@dataclass(frozen=True, slots=True)
class Group:
    """A space group (1–230), or a layer group in the list of the International Tables E (1–80)."""

    number: int
    symbol: str


@dataclass(frozen=True, slots=True)
class Symmetry:
    """A group, and the structure in its standard setting.

    Attributes
    ----------
    kind
        ``space`` or ``layer``.
    hall_number, hall, choice
        The setting: number in spglib's list (negative for layers), Hall symbol, and ``2``, ``H``,
        ``b1`` … or nothing.
    point_group
        Of the crystal, Hermann-Mauguin.
    symprec_angstrom
        The tolerance of the search.
    transformation, origin_shift
        x(standard) = transformation · x(input) + origin_shift, fractional; determinant > 0.
    rotation
        Cartesian, proper: turns the input's axes into those of ``lattice``.
    lattice
        Idealised conventional cell, row vectors, Å.
    symbols, fractions
        All atoms of that cell, idealised.
    input_atoms
        Per atom of that cell, the atoms of the input that it stands for: several in a supercell.
    wyckoffs, site_symmetries
        Per atom of that cell.
    atoms_primitive_cell
        How many atoms the primitive cell has.
    rotations, translations
        All operators of the setting, centrings included; exact.
    orbits
        The symmetry-independent sites.
    max_displacement_angstrom
        How far the atom that moves most is from its idealised place.
    max_strain
        Largest relative change of a length that idealising the cell makes.
    tighter
        The group at a tenth of the tolerance when that is another one.
    """

    kind: str
    number: int
    symbol: str
    hall_number: int
    hall: str
    choice: str
    point_group: str
    symprec_angstrom: float
    transformation: Floats
    origin_shift: Floats
    rotation: Floats
    lattice: Floats
    symbols: tuple[str, ...]
    fractions: Floats
    input_atoms: tuple[tuple[int, ...], ...]
    wyckoffs: tuple[str, ...]
    site_symmetries: tuple[str, ...]
    atoms_primitive_cell: int
    rotations: Integers
    translations: Floats
    orbits: tuple[Orbit, ...]
    max_displacement_angstrom: float
    max_strain: float
    tighter: Group | None = None

    @property
    def group(self) -> Group:
        """Number and symbol."""
        return Group(self.number, self.symbol)

    def warnings(self) -> list[str]:
        """Sentences on what the tolerance decides."""
        said = []
        if self.number == 1 and self.atoms_primitive_cell >= MANY_ATOMS:
            said.append(
                f"{self.atoms_primitive_cell} atoms without symmetry: no symmetry saves any work, "
                "so a calculation may take very long"
            )
        if self.tighter is None:
            return said
        found = f"{self.symbol} ({self.number}) at {self.symprec_angstrom:g} Å"
        closer = (
            f"{self.tighter.symbol} ({self.tighter.number}) at {self.symprec_angstrom / 10:g} Å"
        )
        return [*said, f"the symmetry depends on the tolerance: {found}, {closer}"]


def find_symmetry(structure: Structure, symprec_angstrom: float = SYMPREC_A) -> Symmetry:
    """Find the space group of a structure that is periodic in three directions.

    Parameters
    ----------
    symprec_angstrom
        How far an atom may be from its idealised place.

    Raises
    ------
    InputRejected
        No symmetry can be found with this tolerance.
    """
    found = _space_dataset(structure, symprec_angstrom, hall=0)
    at_tenth = _space_dataset(structure, symprec_angstrom / 10, hall=0)
    hall = settings.hall_number(int(found.number))
    used = symprec_angstrom
    if _says_the_same(at_tenth, found):
        found, used = at_tenth, symprec_angstrom / 10
    if int(found.hall_number) != hall:
        found = _space_dataset(structure, used, hall)
    return _symmetry(
        "space", structure, found, settings.operations(hall), symprec_angstrom, _group(at_tenth)
    )


def find_layer_symmetry(structure: Structure, symprec_angstrom: float = SYMPREC_A) -> Symmetry:
    """Find the layer group of a structure that ``dimensionality.isolate`` has made a layer.

    Parameters
    ----------
    structure
        Periodic along a and b, with c perpendicular to them, not wrapped across c = 0.

    Raises
    ------
    InputRejected
        No symmetry can be found with this tolerance.
    """
    primitive = primitive_layer(structure, symprec_angstrom)
    found = layer_dataset(primitive.structure, symprec_angstrom)
    if found is None:
        raise no_symmetry(symprec_angstrom)
    at_tenth = layer_dataset(primitive.structure, symprec_angstrom / 10)
    tighter = Group(1, "p1") if at_tenth is None else _group(at_tenth)
    if at_tenth is not None and _says_the_same(at_tenth, found):
        found = at_tenth
    symmetry = _symmetry(
        "layer", primitive.structure, found, layer_operations(found), symprec_angstrom, tighter
    )
    return _for_all_atoms(symmetry, structure, primitive)


def _for_all_atoms(symmetry: Symmetry, structure: Structure, primitive: PrimitiveLayer) -> Symmetry:
    """What was found for the smallest cell of a layer, in terms of the cell as it was given."""
    to_primitive = np.linalg.solve(primitive.structure.cell.T, structure.cell.T)
    members: dict[int, list[int]] = {}
    for atom, at in enumerate(primitive.atoms):
        members.setdefault(at, []).append(atom)
    input_atoms = tuple(
        tuple(atom for at in atoms for atom in members[at]) for atoms in symmetry.input_atoms
    )
    found = replace(
        symmetry,
        transformation=symmetry.transformation @ to_primitive,
        input_atoms=input_atoms,
    )
    return replace(found, max_displacement_angstrom=_displacement(structure, found))


def _space_dataset(structure: Structure, symprec: float, hall: int) -> Any:
    found = space_dataset(structure, symprec, hall)
    if found is None:
        raise no_symmetry(symprec)
    return found


def _says_the_same(at_tenth: Any, found: Any) -> bool:
    """Whether a tenth of the tolerance gives the same group and primitive cell.

    Then its sites are the better ones: within the tolerance spglib takes the first operator that
    fits, which may stand some mÅ beside the one that fits exactly.
    """
    return _group(at_tenth) == _group(found) and _primitive_atoms(at_tenth) == _primitive_atoms(
        found
    )


def _primitive_atoms(dataset: Any) -> int:
    return len(set(dataset.mapping_to_primitive.tolist()))


def _group(dataset: Any) -> Group:
    return Group(int(dataset.number), str(dataset.international))


def _symmetry(
    kind: str,
    structure: Structure,
    found: Any,
    operations: tuple[Integers, Floats],
    symprec: float,
    tighter: Group,
) -> Symmetry:
    from ase.data import chemical_symbols

    input_atoms = _input_atoms(found)
    lattice = np.array(found.std_lattice, dtype=float)
    fractions = np.array(found.std_positions, dtype=float)
    numbers = np.array(found.std_types, dtype=np.int64)
    symmetry = Symmetry(
        kind=kind,
        number=int(found.number),
        symbol=str(found.international),
        hall_number=int(found.hall_number),
        hall=str(found.hall),
        choice=str(found.choice),
        point_group=str(found.pointgroup),
        symprec_angstrom=symprec,
        transformation=np.array(found.transformation_matrix, dtype=float),
        origin_shift=np.array(found.origin_shift, dtype=float),
        rotation=np.array(found.std_rotation_matrix, dtype=float),
        lattice=lattice,
        symbols=tuple(chemical_symbols[number] for number in numbers),
        fractions=fractions,
        input_atoms=input_atoms,
        wyckoffs=tuple(str(found.wyckoffs[atoms[0]]) for atoms in input_atoms),
        site_symmetries=tuple(str(found.site_symmetry_symbols[a[0]]) for a in input_atoms),
        atoms_primitive_cell=len(set(found.std_mapping_to_primitive.tolist())),
        rotations=operations[0],
        translations=operations[1],
        orbits=orbits_of(lattice, fractions, numbers, operations, _periodic(kind)),
        max_displacement_angstrom=0.0,
        max_strain=_strain(structure.cell, found),
        tighter=None if tighter == _group(found) else tighter,
    )
    return replace(symmetry, max_displacement_angstrom=_displacement(structure, symmetry))


def _periodic(kind: str) -> npt.NDArray[np.bool_]:
    """Along which axes the standard cell repeats."""
    return np.array([True, True, kind == "space"])


def _input_atoms(found: Any) -> tuple[tuple[int, ...], ...]:
    members: dict[int, list[int]] = {}
    for atom, primitive in enumerate(found.mapping_to_primitive.tolist()):
        members.setdefault(primitive, []).append(atom)
    return tuple(tuple(members[p]) for p in found.std_mapping_to_primitive.tolist())


def _displacement(structure: Structure, symmetry: Symmetry) -> float:
    """Largest distance (Å) of an input atom from the nearest idealised one that it stands for."""
    moved = structure.fractions @ symmetry.transformation.T + symmetry.origin_shift
    nearest = np.full(len(structure.symbols), np.inf)
    for fraction, atoms in zip(symmetry.fractions, symmetry.input_atoms, strict=True):
        members = np.array(atoms)
        offset = moved[members] - fraction
        offset -= np.where(_periodic(symmetry.kind), np.rint(offset), 0.0)
        distance = np.linalg.norm(offset @ symmetry.lattice, axis=1)
        nearest[members] = np.minimum(nearest[members], distance)
    return float(nearest.max())


def _strain(lattice: Floats, found: Any) -> float:
    """Largest relative difference between the cell as given and as idealised.

    The singular values of the map from one to the other are the stretches of all directions.
    """
    given = np.linalg.inv(np.array(found.transformation_matrix)).T @ lattice
    stretches = np.linalg.svd(np.linalg.solve(given, found.std_lattice), compute_uv=False)
    return float(np.abs(stretches - 1.0).max())
