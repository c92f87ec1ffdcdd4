"""Crystals for tests: random ones of any space group, and the same ones given otherwise."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np

from crystalmath.errors import InputRejected
from crystalmath.structures.checks import check
from crystalmath.structures.structure import Floats, Structure
from crystalmath.structures.symmetry import settings

Make = Callable[..., dict[str, Any]]


def crystal(
    cell: Any, symbols: list[str], fractions: Any, pbc: tuple[bool, bool, bool] = (True,) * 3
) -> Structure:
    """A structure from a cell in Å (three lengths, or rows) and fractions."""
    lattice = np.asarray(cell, dtype=float)
    lattice = np.diag(lattice) if lattice.ndim == 1 else lattice
    return Structure(lattice, pbc, symbols, np.asarray(fractions, dtype=float) @ lattice)


def hexagonal(a: float, c: float) -> Any:
    return [[a, 0, 0], [-a / 2, a * 3**0.5 / 2, 0], [0, 0, c]]


FACES = [(0, 0, 0), (0, 0.5, 0.5), (0.5, 0, 0.5), (0.5, 0.5, 0)]


def rocksalt(a: float = 4.21, one: str = "Mg", other: str = "O") -> Structure:
    sites = np.array(FACES)
    return crystal([a] * 3, [one] * 4 + [other] * 4, np.vstack([sites, sites + 0.5]))


def rocksalt_primitive(a: float = 4.21) -> Structure:
    cell = np.array([[0, 1, 1], [1, 0, 1], [1, 1, 0]]) * a / 2
    return crystal(cell, ["Mg", "O"], [(0, 0, 0), (0.5, 0.5, 0.5)])


def water() -> Structure:
    positions = np.array([[0, 0, 0.1173], [0, 0.7572, -0.4692], [0, -0.7572, -0.4692]])
    return Structure(None, (False,) * 3, ["O", "H", "H"], positions)


def repeated(given: Structure, steps: tuple[int, int, int]) -> Structure:
    """Make a supercell."""
    cells = list(product(*map(range, steps)))
    fractions = np.concatenate([(given.fractions + cell) / steps for cell in cells])
    lattice = given.cell * np.array(steps)[:, None]
    return Structure(lattice, (True, True, True), given.symbols * len(cells), fractions @ lattice)


def turned(given: Structure, seed: int) -> Structure:
    """Turn a crystal, shift it, and put its atoms into another order."""
    random = np.random.default_rng(seed)
    rotation, _ = np.linalg.qr(random.normal(size=(3, 3)))
    rotation *= np.sign(np.linalg.det(rotation))
    shifted = given.positions + random.normal(size=3)
    moved = Structure(given.cell @ rotation, (True, True, True), given.symbols, shifted @ rotation)
    return moved.take(random.permutation(len(given.symbols)))


def random_crystal(group: int, seed: int) -> Structure:
    """A general and a special position of a group, in its own setting."""
    random = np.random.default_rng(seed)
    a, b, c = 5.0 + 3.0 * random.random(3)
    angles = [90.0, 90.0, 90.0]
    if group <= 2:
        angles = [80.0, 95.0, 105.0]
    elif group <= 15:
        angles = [90.0, 100.0, 90.0]
    elif group >= 75:
        b = a
    if 143 <= group <= 194:
        angles[2] = 120.0
    if group >= 195:
        c = a
    from ase.geometry import cellpar_to_cell

    rotations, translations = settings.operations(settings.hall_number(group))
    room = 1.5 * max(1.0, len(rotations) / 12) ** (1 / 3)
    lattice = np.array(cellpar_to_cell([a, b, c, *angles])) * room
    fractions: list[Floats] = []
    symbols: list[str] = []
    for symbol, place in (("O", random.random(3)), ("Si", random.random(3)), ("C", np.zeros(3))):
        for image in (rotations @ place + translations) % 1.0:
            offset = np.array([image - other for other in fractions] or [[0.5, 0.5, 0.5]])
            offset -= np.rint(offset)
            if np.linalg.norm(offset @ lattice, axis=1).min() > 0.05:
                fractions.append(image)
                symbols.append(symbol)
    return Structure(lattice, (True, True, True), symbols, np.array(fractions) @ lattice)


def roomy_crystal(group: int) -> Structure:
    """A crystal of this group that is read without a warning: no two atoms are near each other."""
    for seed in range(200):
        given = random_crystal(group, seed)
        try:
            check(given)
        except InputRejected:
            continue
        if not given.warnings:
            return given
    raise AssertionError(f"no crystal of group {group}")
