"""The check of a deck before it leaves: it is read back, expanded, and compared with the structure.

The atoms of the structure are carried into the deck's cell by the transformation of the symmetry
search, a proper rotation, so that a mirror image does not pass. A difference is refused.
"""

from __future__ import annotations

import numpy as np

from crystalmath.codes.crystal.cell.declared import Declared, NotDeclared, declared
from crystalmath.codes.crystal.cell.expand import Expanded, inside, wrap
from crystalmath.codes.crystal.cell.lattice import parameters
from crystalmath.codes.crystal.deck.parse import parse_deck
from crystalmath.codes.crystal.generate.placed import Placed
from crystalmath.errors import InputRejected
from crystalmath.structures.structure import Floats

SITE_A = 0.02
"""Å by which a site may differ; more only if the tolerance of the symmetry search is larger."""
VOLUME = 1e-3
"""Relative; more only where the tolerance of the search lets the cell change more."""


def check_deck(text: str, placed: Placed) -> Expanded:
    """Compare a deck with the structure that it was made of.

    Returns
    -------
    Expanded
        All atoms that the deck makes.

    Raises
    ------
    InputRejected
        With the first difference.
    """
    try:
        read = declared(parse_deck(text))
        expanded = read.expand()
        _compare(read, expanded, placed)
    except NotDeclared as error:
        raise _mismatch(f"the deck cannot be read back: {error}") from None
    return expanded


def _mismatch(what: str) -> InputRejected:
    return InputRejected(
        f"the deck would not be the structure: {what}",
        hint="try another tolerance of the symmetry search; nothing was written",
        field="structure",
    )


def _compare(read: Declared, expanded: Expanded, placed: Placed) -> None:
    structure = placed.compared
    limit = max(SITE_A, placed.tolerance_angstrom)
    change = placed.transformation
    determinant = float(np.linalg.det(change))
    if determinant <= 0:
        raise _mismatch("its axes are those of the mirror image")
    if structure.lattice is None:
        fractions = structure.positions @ np.linalg.inv(read.cell)
    else:
        _compare_cells(read, placed, limit)
        fractions = structure.fractions
    carried = fractions @ change.T + placed.shift
    # how much of the deck's cell is one cell of the structure, along the axes that repeat
    share = _share(change, read.periodic)
    wanted = len(carried) / share
    if abs(len(expanded.fractions) - wanted) > 0.01:
        raise _mismatch(f"it makes {len(expanded.fractions)} atoms, not {wanted:g}")
    points = _all_images(carried, change, read.periodic)
    numbers = np.tile(structure.numbers, len(points) // len(carried))
    offset = wrap(points[:, None, :] - expanded.fractions[None, :, :], read.periodic)
    distance = np.linalg.norm(offset @ read.cell, axis=2)
    distance[numbers[:, None] != read.elements(expanded)[None, :]] = np.inf
    nearest = distance.argmin(axis=1)
    far = distance[np.arange(len(points)), nearest]
    worst = int(far.argmax())
    if far[worst] > limit:
        atom = worst % len(carried)
        where = "no atom of its element" if np.isinf(far[worst]) else f"{far[worst]:.3f} Å away"
        raise _mismatch(f"{structure.symbols[atom]} {atom + 1} has {where}")
    if len(set(nearest.tolist())) != len(expanded.fractions):
        raise _mismatch("it makes atoms that the structure does not have")


def _share(change: Floats, periodic: tuple[bool, bool, bool]) -> float:
    axes = [axis for axis in range(3) if periodic[axis]]
    return abs(float(np.linalg.det(change[np.ix_(axes, axes)]))) if axes else 1.0


def _compare_cells(read: Declared, placed: Placed, limit: float) -> None:
    """Compare lengths and angles along the axes that repeat."""
    given = np.linalg.inv(placed.transformation).T @ placed.compared.cell
    one, other = parameters(given), parameters(read.cell)
    angles = {"alpha": (1, 2), "beta": (0, 2), "gamma": (0, 1)}
    for axis, name in enumerate("abc"):
        if read.periodic[axis] and abs(one[name] - other[name]) > limit:
            raise _mismatch(f"{name} is {other[name]:.4f}, not {one[name]:.4f} Å")
    for name, (first, second) in angles.items():
        if not (read.periodic[first] and read.periodic[second]):
            continue
        length = min(one["abc"[first]], one["abc"[second]])
        if np.radians(abs(one[name] - other[name])) * length > limit:
            raise _mismatch(f"{name} is {other[name]:.3f}, not {one[name]:.3f}°")
    if all(read.periodic):
        before, after = (abs(float(np.linalg.det(cell))) for cell in (given, read.cell))
        strain = 3 * limit / min(one["a"], one["b"], one["c"])
        if abs(after / before - 1) > max(VOLUME, strain if limit > SITE_A else 0.0):
            raise _mismatch(f"its volume is {after:.3f}, not {before:.3f} Å³")


def _all_images(carried: Floats, change: Floats, periodic: tuple[bool, bool, bool]) -> Floats:
    """The atoms, repeated by the structure's own lattice until the deck's cell is full."""
    translations = [np.zeros(3)]
    vectors = [change[:, axis] for axis in range(3) if periodic[axis]]
    at = 0
    while at < len(translations):
        for vector in vectors:
            moved = inside(translations[at] + vector, periodic)
            known = wrap(np.array(translations) - moved, periodic)
            if np.abs(known).max(axis=1).min() > 1e-3:
                translations.append(moved)
        at += 1
        if len(translations) > 1000:
            raise _mismatch("its cell does not fit the lattice of the structure")
    return np.vstack([carried + translation for translation in translations])
