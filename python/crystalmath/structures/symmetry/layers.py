"""Layer groups: what spglib says of a layer, with the operators in the standard setting.

spglib has no table of the operators of layer groups, so they are carried from the input's cell into
the standard one, where their translations are multiples of 1/24. Called by ``symmetry.crystal``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product
from typing import Any, Final

import numpy as np

from crystalmath.errors import InputRejected
from crystalmath.structures.structure import Floats, Integers, Structure
from crystalmath.structures.symmetry.search import layer_dataset

_STEPS: Final = 24
"""In the standard settings every translation is a multiple of 1/24."""
_ROUNDING: Final = 1e-3


def layer_operations(found: Any) -> tuple[Integers, Floats]:
    """Return all operators of the standard cell, centrings included.

    Raises
    ------
    InputRejected
        They are not those of a standard setting.
    """
    change = np.array(found.transformation_matrix, dtype=float)
    shift = np.array(found.origin_shift, dtype=float)
    back = np.linalg.inv(change)
    centrings = _centrings(change)
    known: dict[tuple[int, ...], tuple[Floats, Floats]] = {}
    for rotation, translation in zip(found.rotations, found.translations, strict=True):
        turned = change @ rotation @ back
        whole = np.rint(turned)
        moved = change @ translation + shift - turned @ shift
        moved[2] = _rounded_z(moved[2], whole[2, 2])
        if np.abs(turned - whole).max() > _ROUNDING:
            continue  # maps a supercell onto itself, but not the standard cell
        for centring in centrings:
            steps = np.rint((moved + centring) * _STEPS)
            if np.abs(steps - (moved + centring) * _STEPS)[:2].max() > 0.1:
                raise _off_the_setting(found)
            steps[:2] %= _STEPS
            key = (*whole.astype(int).ravel().tolist(), *steps.astype(int).tolist())
            known[key] = (whole, steps / _STEPS)
    rotations = np.array([item[0] for item in known.values()], dtype=np.int64)
    translations = np.array([item[1] for item in known.values()], dtype=float)
    return rotations, translations


def _rounded_z(value: float, turns: float) -> float:
    """Along c a layer does not repeat: what is left after the origin has been set is nothing.

    Parameters
    ----------
    turns
        What becomes of z: 1 or -1.
    """
    whole = float(np.rint(value))
    if turns > 0 or abs(value - whole) < _ROUNDING:
        return 0.0
    return float(value)


def _centrings(change: Floats) -> list[Floats]:
    """The lattice vectors of the input within the standard cell: 0 and the centrings."""
    found: dict[tuple[int, ...], Floats] = {}
    for steps in product(range(-2, 3), repeat=2):
        vector = change @ np.array([*steps, 0.0])
        inside = vector - np.floor(vector + _ROUNDING)
        inside[2] = 0.0
        found[tuple(np.rint(inside * _STEPS).astype(int).tolist())] = inside
    return list(found.values())


def _off_the_setting(found: Any) -> InputRejected:
    return InputRejected(
        f"the layer group {found.international} ({found.number}) was found in a setting that is "
        "not the standard one",
        hint="try another tolerance, or no symmetry",
        field="structure",
    )


@dataclass(frozen=True, slots=True)
class PrimitiveLayer:
    """A layer in its smallest cell.

    Attributes
    ----------
    structure
        With the shortest axes in the plane; an atom is at the mean place of all that repeat it.
    atoms
        Per atom of the layer it was made of, the atom here that stands for it.
    """

    structure: Structure
    atoms: tuple[int, ...]


def primitive_layer(structure: Structure, symprec_angstrom: float) -> PrimitiveLayer:
    """Reduce a layer to its smallest cell.

    Parameters
    ----------
    structure
        A layer of ``dimensionality.isolate``.

    Raises
    ------
    InputRejected
        No symmetry can be found with this tolerance.
    """
    short = replace(structure, lattice=_with_short_axes(structure.cell))
    found = layer_dataset(short, symprec_angstrom)
    if found is None:
        raise no_symmetry(symprec_angstrom)
    a, b = _shortest(short.cell, _pure_translations(found))
    first = np.sort(np.unique(found.mapping_to_primitive, return_index=True)[1])
    place = {int(found.mapping_to_primitive[atom]): i for i, atom in enumerate(first.tolist())}
    atoms = np.array([place[int(p)] for p in found.mapping_to_primitive])
    lattice = np.array([a, b, short.cell[2]])
    fractions = np.linalg.solve(lattice.T, short.positions.T).T
    offset = fractions - fractions[first][atoms]
    offset[:, :2] -= np.rint(offset[:, :2])
    mean = np.zeros((len(first), 3))
    np.add.at(mean, atoms, offset)
    mean = fractions[first] + mean / np.bincount(atoms)[:, None]
    mean[:, :2] -= np.floor(mean[:, :2] + _ROUNDING**2)
    reduced = short.take(first)
    reduced.lattice, reduced.positions = lattice, mean @ lattice
    return PrimitiveLayer(reduced, tuple(atoms.tolist()))


def no_symmetry(symprec_angstrom: float) -> InputRejected:
    """What is said when spglib finds nothing."""
    return InputRejected(
        f"no symmetry can be found with a tolerance of {symprec_angstrom:g} Å",
        hint="a smaller tolerance tells atoms apart that a large one takes for one",
        field="structure",
    )


def _pure_translations(found: Any) -> Floats:
    """Fractional, in the plane, each the shortest of its kind; nothing is one of them."""
    pure = (found.rotations == np.eye(3)).all(axis=(1, 2))
    translations: Floats = np.array(found.translations, dtype=float)[pure]
    translations -= np.rint(translations)
    translations[:, 2] = 0.0
    return translations


def _shortest(cell: Floats, translations: Floats) -> tuple[Floats, Floats]:
    """The two shortest vectors that span all translations of a layer, right-handed about c.

    Parameters
    ----------
    cell
        With short axes; they are kept where nothing is shorter.
    """
    area = float(np.linalg.norm(np.cross(cell[0], cell[1]))) / len(translations)
    steps = sorted(
        product((-1, 0, 1), (-1, 0, 1), (0,)), key=lambda s: (abs(s[0] * s[1]), -s[0], -s[1])
    )
    vectors = (translations[:, None, :] + np.array(steps)).reshape(-1, 3) @ cell
    lengths = np.round(np.linalg.norm(vectors, axis=1), 4)
    vectors = vectors[np.argsort(lengths, kind="stable")][int((lengths == 0).sum()) :]
    first = vectors[0]
    areas = np.cross(first, vectors) @ cell[2] / np.linalg.norm(cell[2])
    fitting = vectors[np.abs(areas - area) < 0.01 * area]
    obtuse = fitting[fitting @ first < _ROUNDING]  # as in the International Tables
    return first, (obtuse if len(obtuse) else fitting)[0]


def _with_short_axes(cell: Floats) -> Floats:
    """The same lattice of a layer with the two shortest vectors in the plane (Gauss)."""
    a, b = cell[0], cell[1]
    while True:
        steps = np.rint(a @ b / (a @ a))
        shorter = b - steps * a
        if steps and shorter @ shorter < b @ b - _ROUNDING**2:
            b = shorter
        elif b @ b < a @ a - _ROUNDING**2:
            a, b = b, -a
        else:
            return np.array([a, b, cell[2]])
