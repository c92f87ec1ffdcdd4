"""Operators of the settings that decks can declare, from the tables of spglib.

Rotations act on columns of fractions of the conventional cell; centring translations are included.
Layer groups are CRYSTAL's: where its axes are exchanged against the International Tables, so are
the operators. Runs in worker processes.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np
import numpy.typing as npt
import spglib

from crystalmath.codes.crystal.tables import groups

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

EXCHANGE: Final = np.array([[0, 1, 0], [1, 0, 0], [0, 0, -1]])
"""a and b exchanged, c reversed: a proper rotation, its own inverse."""
_HALLS: Final = 530


@dataclass(frozen=True, slots=True)
class Setting:
    """The operators of a group in one setting.

    Attributes
    ----------
    rotations
        Shape (n, 3, 3).
    translations
        Shape (n, 3), in [0, 1).
    centring
        Translations of the lattice within the cell, zero first; shape (m, 3).
    letter
        ``P A B C F I R`` of the cell that is declared.
    """

    rotations: Integers
    translations: Floats
    centring: Floats
    letter: str

    @property
    def point_group(self) -> Integers:
        """The rotations, each once."""
        return np.unique(self.rotations, axis=0)


@lru_cache(maxsize=1)
def _halls() -> dict[tuple[int, str], int]:
    """(space group, choice) → spglib's number of the setting; choice "" is the first listed."""
    found: dict[tuple[int, str], int] = {}
    for hall in range(1, _HALLS + 1):
        kind = spglib.get_spacegroup_type(hall)
        if kind is None:
            continue
        found.setdefault((kind.number, ""), hall)
        found.setdefault((kind.number, kind.choice), hall)
    return found


def hall_number(group: int, *, ifhr: int = 0, choice_1: bool = False) -> int:
    """spglib's number of the setting that a deck means by a group.

    Parameters
    ----------
    ifhr
        1: rhombohedral axes, where the group has them.
    choice_1
        The other origin, where the group has two.
    """
    if group in groups.RHOMBOHEDRAL:
        return _halls()[group, "R" if ifhr == 1 else "H"]
    if group in groups.TWO_ORIGINS:
        return _halls()[group, "1" if choice_1 else "2"]
    return _halls()[group, ""]


@lru_cache(maxsize=32)
def space_setting(group: int, ifhr: int = 0, *, choice_1: bool = False) -> Setting:
    """The operators of a space group as a deck declares it."""
    return hall_setting(hall_number(group, ifhr=ifhr, choice_1=choice_1))


@lru_cache(maxsize=32)
def hall_setting(hall: int) -> Setting:
    """The operators of one of spglib's settings; a negative number is that of a layer group."""
    rotations, translations = _database(hall)
    return _setting(rotations, translations)


@lru_cache(maxsize=32)
def layer_setting(group: int) -> Setting:
    """The operators of a layer group by CRYSTAL's number."""
    ite = groups.LAYER_TO_ITE[group]
    rotations, translations = _database(-groups.LAYER_HALL[ite - 1])
    if group in groups.AXES_EXCHANGED:
        rotations = EXCHANGE @ rotations @ EXCHANGE
        translations = translations @ EXCHANGE
    return _setting(rotations, translations)


def _database(hall: int) -> tuple[Integers, Floats]:
    found = spglib.get_symmetry_from_database(hall)
    if found is None:
        raise LookupError(f"spglib has no setting {hall}")
    return found["rotations"].astype(np.int64), found["translations"].astype(float)


def _setting(rotations: Integers, translations: Floats) -> Setting:
    translations = translations - np.floor(translations + 1e-9)
    identity = (rotations == np.eye(3, dtype=int)).all(axis=(1, 2))
    centring = translations[identity]
    centring = centring[np.lexsort(centring.T[::-1])]
    return Setting(rotations, translations, centring, _letter(centring))


def _letter(centring: Floats) -> str:
    if len(centring) == 1:
        return "P"
    if len(centring) == 4:
        return "F"
    if len(centring) == 3:
        return "R"
    half = np.abs(centring[1] - 0.5) < 1e-6
    return {(False, True, True): "A", (True, False, True): "B", (True, True, False): "C"}.get(
        (bool(half[0]), bool(half[1]), bool(half[2])), "I"
    )


PRIMITIVE: Final[dict[str, Floats]] = {
    "P": np.eye(3),
    "A": np.array([[1, 0, 0], [0, 0.5, -0.5], [0, 0.5, 0.5]]),
    "B": np.array([[0.5, 0, -0.5], [0, 1, 0], [0.5, 0, 0.5]]),
    "C": np.array([[0.5, -0.5, 0], [0.5, 0.5, 0], [0, 0, 1]]),
    "F": np.array([[0, 0.5, 0.5], [0.5, 0, 0.5], [0.5, 0.5, 0]]),
    "I": np.array([[-0.5, 0.5, 0.5], [0.5, -0.5, 0.5], [0.5, 0.5, -0.5]]),
    "R": np.array([[2, 1, 1], [-1, 1, 1], [-1, -2, 1]]) / 3,
}
"""Rows: vectors of the primitive cell in those of the conventional one, in the program's order as
far as meshes can tell (the special axis of A, B and C keeps its place)."""
