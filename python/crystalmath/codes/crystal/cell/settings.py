"""Operators of the settings that decks can declare, from the tables of spglib.

Rotations act on columns of fractions of the conventional cell; centring translations are included.
Layer groups are CRYSTAL's: where its axes are exchanged against the International Tables, so are
the operators. Runs in worker processes.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Final

import numpy as np
import spglib

from crystalmath.codes.crystal.tables import groups
from crystalmath.structures.structure import Floats, Integers
from crystalmath.structures.symmetry.settings import (
    RHOMBOHEDRAL,
    TWO_ORIGINS,
    hall_number,
    operations,
)

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


@cache
def _other_choice(group: int, choice: str) -> int:
    """Number in spglib's list of a setting that is not the one structures are standardised to."""
    for hall in range(1, _HALLS + 1):
        kind = spglib.get_spacegroup_type(hall)
        if kind is not None and (kind.number, kind.choice) == (group, choice):
            return hall
    raise LookupError(f"space group {group} has no choice {choice}")


def declared_hall(group: int, *, ifhr: int = 0, choice_1: bool = False) -> int:
    """Number in spglib's list of the setting that a deck means by a group.

    Parameters
    ----------
    ifhr
        1: rhombohedral axes, where the group has them.
    choice_1
        The other origin, where the group has two.
    """
    if group in RHOMBOHEDRAL and ifhr == 1:
        return _other_choice(group, "R")
    if group in TWO_ORIGINS and choice_1:
        return _other_choice(group, "1")
    return hall_number(group)


@lru_cache(maxsize=32)
def space_setting(group: int, ifhr: int = 0, *, choice_1: bool = False) -> Setting:
    """The operators of a space group as a deck declares it."""
    return hall_setting(declared_hall(group, ifhr=ifhr, choice_1=choice_1))


@lru_cache(maxsize=32)
def hall_setting(hall: int) -> Setting:
    """The operators of one of spglib's settings; a negative number is that of a layer group."""
    rotations, translations = operations(hall)
    return _setting(rotations, translations)


@lru_cache(maxsize=32)
def layer_setting(group: int) -> Setting:
    """The operators of a layer group by CRYSTAL's number."""
    ite = groups.LAYER_TO_ITE[group]
    rotations, translations = operations(-groups.LAYER_HALL[ite - 1])
    if group in groups.AXES_EXCHANGED:
        rotations = EXCHANGE @ rotations @ EXCHANGE
        translations = translations @ EXCHANGE
    return _setting(rotations, translations)


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
