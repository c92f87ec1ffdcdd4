"""Which of the settings of a group is meant here: always the same one, never the library's choice.

Origin choice 2 for the groups with two, hexagonal axes for the rhombohedral groups, the first
setting listed otherwise (unique axis b, cell choice 1; the axes of the International Tables).
"""

from __future__ import annotations

from functools import cache
from typing import Final

import numpy as np

from crystalmath.structures.structure import Floats, Integers
from crystalmath.structures.symmetry import search

TWO_ORIGINS: Final = frozenset(
    {48, 50, 59, 68, 70, 85, 86, 88, 125, 126, 129, 130, 133, 134, 137, 138, 141, 142}
    | {201, 203, 222, 224, 227, 228}
)
"""Groups with two origin choices (International Tables A)."""

RHOMBOHEDRAL: Final = frozenset({146, 148, 155, 160, 161, 166, 167})
"""Groups described on hexagonal or on rhombohedral axes."""

PRIMITIVE: Final[dict[str, Floats]] = {
    "P": np.eye(3),
    "A": np.array([[1, 0, 0], [0, 0.5, -0.5], [0, 0.5, 0.5]]),
    "B": np.array([[0.5, 0, -0.5], [0, 1, 0], [0.5, 0, 0.5]]),
    "C": np.array([[0.5, -0.5, 0], [0.5, 0.5, 0], [0, 0, 1]]),
    "F": np.array([[0, 0.5, 0.5], [0.5, 0, 0.5], [0.5, 0.5, 0]]),
    "I": np.array([[-0.5, 0.5, 0.5], [0.5, -0.5, 0.5], [0.5, 0.5, -0.5]]),
    "R": np.array([[2, 1, 1], [-1, 1, 1], [-1, -2, 1]]) / 3,
}
"""Rows: vectors of the primitive cell in those of the conventional one (obverse setting of R).
The special axis of A, B and C keeps its place."""

_HALL_NUMBERS: Final = range(1, 531)


@cache
def hall_number(group: int) -> int:
    """Return the number in spglib's list of the setting that is used here.

    Parameters
    ----------
    group
        Number of the space group.
    """
    settings = _settings()[group]
    wanted = "2" if group in TWO_ORIGINS else "H" if group in RHOMBOHEDRAL else None
    # 48, 50 … have permuted axes, too: "2" is the first of theirs, before "2cab" and the like
    return next((hall for hall, choice in settings if choice == wanted), settings[0][0])


@cache
def _settings() -> dict[int, list[tuple[int, str]]]:
    """Per space group, number and choice of its settings, in spglib's order."""
    found: dict[int, list[tuple[int, str]]] = {}
    for hall in _HALL_NUMBERS:
        kind = search.setting(hall)
        if kind is not None:
            found.setdefault(int(kind.number), []).append((hall, str(kind.choice)))
    return found


@cache
def operations(hall: int) -> tuple[Integers, Floats]:
    """Return rotations (n, 3, 3) and translations (n, 3) of a setting, centrings included.

    Parameters
    ----------
    hall
        Number in spglib's list.
    """
    import numpy as np

    found = search.table(hall)
    if found is None:
        raise ValueError(f"there is no setting {hall}")
    rotations, translations = found["rotations"], found["translations"]
    return np.asarray(rotations, dtype=np.int64), np.asarray(translations, dtype=float)


@cache
def has_hands(group: int) -> bool:
    """Whether a crystal of this space group differs from its mirror image: 65 groups."""
    import numpy as np

    rotations, _ = operations(hall_number(group))
    return bool((np.linalg.det(rotations) > 0).all())
