"""Whether two structures are the same: a hash for caches, a fingerprint for candidates, a match.

Mirror images are different crystals here. Called in worker processes.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from crystalmath.errors import InputRejected
from crystalmath.structures.structure import Structure
from crystalmath.structures.symmetry import settings
from crystalmath.structures.symmetry.crystal import find_symmetry

_DECIMALS: Final = 6
_VOLUME: Final = 0.01
"""Relative difference of the volumes per atom of candidates."""


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """What two descriptions of one crystal have in common.

    Attributes
    ----------
    space_group
        Number at 0.01 Å; 0 for what is not periodic in three directions.
    atoms
        In the primitive cell; in the molecule.
    volume_per_atom_angstrom3
        0 for what is not periodic in three directions.
    """

    formula: str
    space_group: int
    atoms: int
    volume_per_atom_angstrom3: float

    def may_be(self, other: Fingerprint) -> bool:
        """Whether the two are candidates for being the same structure."""
        mine, others = self.volume_per_atom_angstrom3, other.volume_per_atom_angstrom3
        return (self.formula, self.space_group, self.atoms) == (
            other.formula,
            other.space_group,
            other.atoms,
        ) and abs(mine - others) <= _VOLUME * max(mine, others)


def content_hash(structure: Structure) -> str:
    """Return the sha256 of a structure as it is given: cell, atoms in their order, their data.

    Lattice and fractions are rounded to 1e-6, and fractions taken modulo 1 where it is periodic.
    """
    content = {
        "lattice": None if structure.lattice is None else _rounded(structure.lattice),
        "pbc": list(structure.pbc),
        "symbols": structure.symbols,
        "sites": {
            name: list(values)
            for name, values in structure.sites.given().items()
            if name != "labels"  # what atoms are called does not change what they are
        },
    }
    if structure.lattice is None:
        content["positions"] = _rounded(structure.positions)
    else:
        fractions = np.round(structure.fractions, _DECIMALS)
        content["fractions"] = _rounded(np.where(structure.pbc, fractions % 1.0, fractions))
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def fingerprint(structure: Structure) -> Fingerprint:
    """Return what tells candidates from other structures.

    Raises
    ------
    InputRejected
        No symmetry can be found.
    """
    if not structure.is_crystal:
        return Fingerprint(structure.formula, 0, len(structure.symbols), 0.0)
    found = find_symmetry(structure)
    volume = structure.volume / len(structure.symbols)
    return Fingerprint(structure.formula, found.number, found.atoms_primitive_cell, volume)


def is_same(one: Structure, other: Structure) -> bool:
    """Whether two crystals are the same, up to the tolerances of the matcher.

    In a group without improper operations the map from one to the other must be a rotation:
    enantiomorphs are two structures.

    Raises
    ------
    InputRejected
        One is not periodic in three directions, or no symmetry can be found.
    """
    for structure in (one, other):
        if not structure.is_crystal:
            raise InputRejected(
                "only structures that are periodic in three directions are compared",
                field="structure",
            )
    first, second = fingerprint(one), fingerprint(other)
    if not first.may_be(second):
        return False
    return bool(_matcher(settings.has_hands(first.space_group)).fit(_crystal(one), _crystal(other)))


def _crystal(structure: Structure) -> Any:
    from pymatgen.core.lattice import Lattice
    from pymatgen.core.structure import Structure as Crystal

    return Crystal(Lattice(structure.cell), structure.symbols, structure.fractions)


def _matcher(proper: bool) -> Any:
    """The matcher; ``proper`` leaves out the maps that turn a hand into its mirror image."""
    from pymatgen.analysis.structure_matcher import StructureMatcher

    class Proper(StructureMatcher):
        _all_lattices: Any = StructureMatcher._get_lattices  # noqa: SLF001 - the one place of maps

        def _get_lattices(self, *args: Any, **kwargs: Any) -> Any:
            for lattice, matrix in self._all_lattices(*args, **kwargs):
                if np.linalg.det(matrix) > 0:
                    yield lattice, matrix

    kind = Proper if proper else StructureMatcher
    return kind(ltol=0.2, stol=0.3, angle_tol=5, primitive_cell=True, scale=False)


def _rounded(values: Any) -> list[list[float]]:
    # adding 0.0 makes -0.0 the same as 0.0
    found: list[list[float]] = (np.round(values, _DECIMALS) + 0.0).tolist()
    return found
