"""One choice of origin and representatives, whichever the crystal was given with.

Shifting the origin by half an axis often gives the same operators; the deck takes the shift and the
images that come first in the order of their coordinates, so that a primitive and a conventional
cell of one crystal end in the same text.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Final

import numpy as np

from crystalmath.codes.crystal.cell.expand import inside
from crystalmath.codes.crystal.cell.settings import Setting
from crystalmath.structures.structure import Floats, Integers

_STEPS: Final = 1_000_000
"""Places are told apart to this part of an axis."""


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


def _codes(fractions: Floats, periodic: tuple[bool, bool, bool], *, upwards: bool) -> Integers:
    """One whole number for each place, in the order in which places are preferred.

    Shape (…, 3) becomes (…). x counts first, then y, then z; of a layer the distance from the
    middle plane, and then the side.
    """
    places = inside(fractions, periodic)
    steps = np.rint(places * _STEPS).astype(np.int64)
    steps[..., list(periodic)] %= _STEPS
    x, y, z = np.moveaxis(steps, -1, 0)
    if upwards:
        z = 2 * np.abs(z) + (z < 0)
    return np.asarray((x * _STEPS + y) * 4 * _STEPS + z)


def representative(
    members: Floats, periodic: tuple[bool, bool, bool], *, upwards: bool = False
) -> tuple[int, int]:
    """The member of an orbit that is written, and its place in the order.

    Parameters
    ----------
    upwards
        Prefer atoms above the middle plane of a layer.
    """
    codes = _codes(members, periodic, upwards=upwards)
    at = int(codes.argmin())
    return at, int(codes[at])


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
    candidates = shifts(setting, along_c=periodic[2])
    ordered = sorted(orbits, key=lambda orbit: (orbit[0], len(orbit[1])))
    members = np.concatenate([fractions for _, fractions in ordered])
    counts = [len(fractions) for _, fractions in ordered]
    codes = _codes(candidates[:, None, :] + members, periodic, upwards=not periodic[2])
    first = np.minimum.reduceat(codes, np.cumsum([0, *counts[:-1]]), axis=1)
    # within one element and multiplicity the order of the orbits means nothing
    kinds = [(rank, len(fractions)) for rank, fractions in ordered]
    for kind in set(kinds):
        same = [index for index, other in enumerate(kinds) if other == kind]
        first[:, same] = np.sort(first[:, same], axis=1)
    return np.asarray(candidates[int(np.lexsort(first.T[::-1])[0])])
