"""From irreducible sites to all atoms of the cell, and the orbits among given atoms.

Fractions of the conventional cell; along an axis that does not repeat the coordinate is a length in
Å over the 500 Å that stand for it, and is never wrapped. Runs in worker processes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crystalmath.codes.crystal.cell.settings import Setting
from crystalmath.structures.structure import Floats, Integers

SAME_SITE_A = 1e-3
"""Å. Images nearer than this are the same atom: ten decimals of a deck are far finer."""


@dataclass(frozen=True, slots=True)
class Expanded:
    """All atoms of a conventional cell.

    Attributes
    ----------
    fractions
        Shape (n, 3).
    site
        Index of the listed site that each atom comes from.
    multiplicities
        Atoms that each listed site makes.
    """

    fractions: Floats
    site: Integers
    multiplicities: tuple[int, ...]


def wrap(difference: Floats, periodic: tuple[bool, bool, bool] = (True, True, True)) -> Floats:
    """The shortest of equivalent differences, along the axes that repeat."""
    turns = np.rint(difference)
    turns[..., [not axis for axis in periodic]] = 0.0
    return np.asarray(difference - turns)


def inside(fractions: Floats, periodic: tuple[bool, bool, bool] = (True, True, True)) -> Floats:
    """The same points within the cell, [0, 1) along the axes that repeat."""
    floor = np.floor(fractions + 1e-9)
    floor[..., [not axis for axis in periodic]] = 0.0
    return np.asarray(fractions - floor)


def orbit(
    site: Floats,
    setting: Setting,
    cell: Floats,
    periodic: tuple[bool, bool, bool] = (True, True, True),
) -> Floats:
    """All different images of a site."""
    images = setting.rotations @ site + setting.translations
    images = inside(images, periodic)
    gap = wrap(images[:, None, :] - images[None, :, :], periodic)
    near = np.linalg.norm(gap @ cell, axis=2) < SAME_SITE_A
    # the first of each group of coinciding images
    first = near.argmax(axis=1) == np.arange(len(images))
    return np.asarray(images[first])


def expand(
    sites: Floats,
    setting: Setting,
    cell: Floats,
    periodic: tuple[bool, bool, bool] = (True, True, True),
) -> Expanded:
    """All atoms that these sites make."""
    if len(setting.rotations) == 1:  # the identity
        count = len(sites)
        return Expanded(inside(sites, periodic), np.arange(count), (1,) * count)
    orbits = [orbit(site, setting, cell, periodic) for site in sites]
    counts = tuple(len(members) for members in orbits)
    fractions = np.vstack(orbits) if orbits else np.zeros((0, 3))
    return Expanded(fractions, np.repeat(np.arange(len(orbits)), counts), counts)
