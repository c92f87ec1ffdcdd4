"""Random crystals of any setting, random layers of any group, and the same ones given otherwise."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np
import spglib

from crystalmath.codes.crystal.tables import groups
from crystalmath.structures.structure import Floats, Integers, Structure

_ATOM_A3: Final = 14.0
"""Å³ that an atom is given."""
_APART_A: Final = 1.0
_SAME_A: Final = 1e-4
_TRIES: Final = 300
_MANY: Final = 96
"""Operators from which on one general position is enough."""
_VACUUM_A: Final = 25.0
_THICK_A: Final = 2.0
Generator = np.random.Generator


def random_crystal(hall: int, rng: Generator) -> Structure:
    """Atoms on general positions and on one that may be special, in setting ``hall`` of spglib."""
    table = spglib.get_symmetry_from_database(hall)
    assert table is not None, f"there is no setting {hall}"
    rotations, translations = table["rotations"], table["translations"]
    general = 1 if len(rotations) >= _MANY else 2
    atoms = len(rotations) * (general + 1)
    shape = _invariant_cell(rotations, rng, flat=False)
    cell = shape * (atoms * _ATOM_A3 / abs(np.linalg.det(shape))) ** (1 / 3)

    def place() -> Floats:
        return rng.random(3)

    fractions, symbols = _filled(rotations, translations, cell, place, general, (True,) * 3)
    return Structure(cell, (True, True, True), symbols, fractions @ cell)


def random_layer(number: int, rng: Generator) -> Structure:
    """The same for a layer group of the International Tables, in a cell with vacuum."""
    table = spglib.get_symmetry_from_database(-groups.LAYER_HALL[number - 1])
    assert table is not None, f"there is no layer group {number}"
    rotations, translations = table["rotations"], table["translations"]
    atoms = len(rotations) * 3
    cell = _invariant_cell(rotations, rng, flat=True)
    area = float(np.linalg.norm(np.cross(cell[0], cell[1])))
    cell[:2] *= np.sqrt(max(atoms, 4) * _ATOM_A3 / (2 * _THICK_A) / area)
    cell[2] = [0.0, 0.0, _VACUUM_A + 2 * _THICK_A]
    half = _THICK_A / float(cell[2, 2])

    def place() -> Floats:
        return np.array([*rng.random(2), rng.uniform(-half, half)])

    fractions, symbols = _filled(rotations, translations, cell, place, 2, (True, True, False))
    fractions[:, 2] %= 1.0
    return Structure(cell, (True, True, True), symbols, fractions @ cell)


def _invariant_cell(rotations: Integers, rng: Generator, *, flat: bool) -> Floats:
    """A cell whose lengths and angles are as random as the rotations let them be."""
    skew = np.diag(rng.uniform(0.8, 1.25, 3)) + rng.uniform(-0.15, 0.15, (3, 3))
    if flat:
        skew[2, :2] = skew[:2, 2] = 0.0
    metric = skew @ skew.T
    same = np.mean([w.T @ metric @ w for w in rotations], axis=0)
    return np.asarray(np.linalg.cholesky(same))


def _filled(
    rotations: Integers, translations: Floats, cell: Floats, place: Callable[[], Floats],
    general: int, periodic: tuple[bool, ...],
) -> tuple[Floats, list[str]]:  # fmt: skip
    """Orbits of random places, no two atoms of which are near each other."""
    turns = np.array(periodic)
    fractions = np.zeros((0, 3))
    symbols: list[str] = []
    wanted = [*(("Si", False), ("O", False))[:general], ("C", True)]
    for symbol, is_special in wanted:
        for attempt in range(_TRIES):
            at = np.zeros(3) if is_special and attempt == 0 else place()
            images = rotations @ at + translations
            images -= np.where(turns, np.floor(images + 1e-9), 0.0)
            images = different(images, cell, turns, _SAME_A)
            if _nearest(np.vstack([fractions, images]), len(fractions), cell, turns) > _APART_A:
                fractions = np.vstack([fractions, images])
                symbols += [symbol] * len(images)
                break
    assert symbols, "no room for an atom"
    return fractions, symbols


def different(images: Floats, cell: Floats, turns: Floats, within_a: float) -> Floats:
    """The images without those that are nearer than this (Å) to an earlier one.

    Parameters
    ----------
    turns
        Along which axes the crystal repeats.
    """
    gap = images[:, None] - images[None]
    gap -= np.where(turns, np.rint(gap), 0.0)
    near = np.linalg.norm(gap @ cell, axis=2) < within_a
    return np.asarray(images[near.argmax(axis=1) == np.arange(len(images))])


def _nearest(fractions: Floats, known: int, cell: Floats, turns: Floats) -> float:
    """Smallest distance of one of the new points to any other."""
    gap = fractions[known:, None] - fractions[None]
    gap -= np.where(turns, np.rint(gap), 0.0)
    distance = np.linalg.norm(gap @ cell, axis=2)
    distance[np.arange(len(fractions) - known), np.arange(known, len(fractions))] = np.inf
    return float(distance.min())


def given_otherwise(
    structure: Structure, rng: Generator, *, is_layer: bool = False, basis: bool = True
) -> Structure:
    """The crystal turned, shifted, with its atoms in another order and on another basis."""
    lattice = structure.cell
    if basis:
        lattice = _unimodular(rng, is_layer=is_layer) @ lattice
    turn = proper_rotation(rng)
    positions = structure.positions + rng.uniform(-5, 5, 3) @ lattice
    order = rng.permutation(len(structure.symbols))
    moved = Structure(
        lattice @ turn, structure.pbc, list(structure.symbols), positions @ turn
    ).take(order)
    fractions = moved.fractions
    moved.positions = (fractions - np.floor(fractions)) @ moved.cell
    return moved


def proper_rotation(rng: Generator) -> Floats:
    """A random rotation."""
    turn, upper = np.linalg.qr(rng.normal(size=(3, 3)))
    turn = turn * np.sign(np.diag(upper))
    return np.asarray(turn * np.sign(np.linalg.det(turn)))


def _unimodular(rng: Generator, *, is_layer: bool) -> Integers:
    """Another basis of the same lattice, right-handed; c stays that of a layer."""
    change = np.eye(3, dtype=np.int64)
    axes = 2 if is_layer else 3
    for _ in range(2):
        one, other = rng.choice(axes, 2, replace=False)
        change[one] += int(rng.integers(-1, 2)) * change[other]
    return change
