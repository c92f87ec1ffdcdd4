"""One choice of origin and representatives, whichever the crystal was given with.

Shifting the origin by half an axis often gives the same operators; the deck takes the shift and the
images that come first in the order of their coordinates, so that a primitive and a conventional
cell of one crystal end in the same text.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

from crystalmath.codes.crystal.cell.expand import inside
from crystalmath.codes.crystal.cell.settings import Setting
from crystalmath.structures.structure import Floats

MAX_ATOMS = 200
"""Beyond, the origin that the symmetry search found is taken."""
_PLACES = 6

Key = tuple[tuple[float, ...], ...]


def shifts(setting: Setting, *, along_c: bool = True) -> Floats:
    """Shifts of the origin that leave all operators as they are; none first."""
    steps = (0.0, 0.25, 0.5, 0.75)
    third = [(1 / 3, 2 / 3), (2 / 3, 1 / 3)]
    heights = steps if along_c else (0.0,)
    grid = [(x, y, z) for x, y, z in itertools.product(steps, steps, heights)]
    grid += [(x, y, z) for (x, y), z in itertools.product(third, heights)]
    candidates = np.array(grid)
    moved = np.einsum("nij,sj->sni", setting.point_group - np.eye(3), candidates)
    offset = moved[:, :, None, :] - setting.centring[None, None, :, :]
    offset -= np.rint(offset)
    kept = (np.abs(offset).max(axis=3).min(axis=2) < 1e-6).all(axis=1)
    return np.asarray(candidates[kept])


def representative(
    members: Floats, periodic: tuple[bool, bool, bool], *, upwards: bool = False
) -> tuple[int, tuple[float, ...]]:
    """The member of an orbit that is written, and its place in the order.

    Parameters
    ----------
    upwards
        Prefer atoms above the middle plane of a layer.
    """
    keys = np.round(inside(members, periodic), _PLACES)
    keys[:, list(periodic)] %= 1.0
    order = [tuple(float(v) + 0.0 for v in key) for key in keys]
    if upwards:
        order = [(x, y, abs(z), -z) for x, y, z in order]
    at = min(range(len(order)), key=order.__getitem__)
    return at, order[at]


def best_shift(
    orbits: Sequence[tuple[int, Floats]],
    setting: Setting,
    periodic: tuple[bool, bool, bool],
) -> Floats:
    """The shift of the origin whose list of sites comes first.

    Parameters
    ----------
    orbits
        Rank of the element and fractions of the members of each orbit.
    """
    if sum(len(members) for _, members in orbits) > MAX_ATOMS:
        return np.zeros(3)

    def key(shift: Floats) -> Key:
        found = []
        for rank, members in orbits:
            _, first = representative(members + shift, periodic, upwards=not periodic[2])
            found.append((float(rank), float(len(members)), *first))
        return tuple(sorted(found))

    candidates = shifts(setting, along_c=periodic[2])
    return np.asarray(min(candidates, key=key))
