"""Which sites of a CIF were listed before: some programs list equivalent atoms, too.

A place is looked for among its neighbours only, so that a cell of many thousand atoms takes no
longer per atom than a small one. Called by ``structures.cif``.
"""

from __future__ import annotations

from itertools import product
from typing import Final

import numpy as np

from crystalmath.structures.formats.cif.operators import SPECIAL_POSITION_A
from crystalmath.structures.formats.cif.sites import Site
from crystalmath.structures.structure import Floats

_MOST_BOXES: Final = 10**6
"""Along one axis; more would not tell atoms apart any better."""

Box = tuple[int, int, int]


class Listed:
    """The places that are taken, in boxes that are at least as wide as two places may differ."""

    def __init__(self, lattice: Floats) -> None:
        self._lattice = lattice
        self._boxes = _boxes_along(lattice)
        self._taken: dict[tuple[str, Box], list[tuple[int, Site, Floats]]] = {}
        self._count = 0

    def add(self, site: Site, images: Floats) -> None:
        """Take the places of a site: fractional coordinates, one row each."""
        for image in images:
            entry = (self._count, site, image)
            self._taken.setdefault((site.symbol, self._box(image)), []).append(entry)
        self._count += 1

    def find(self, site: Site, place: Floats) -> Site | None:
        """The first site of the same element that has this place."""
        box = self._box(place)
        found: tuple[int, Site] | None = None
        for near in self._around(box):
            for number, other, image in self._taken.get((site.symbol, near), ()):
                if (found is None or number < found[0]) and self._same(place, image):
                    found = (number, other)
        return None if found is None else found[1]

    def _around(self, box: Box) -> set[Box]:
        """The box and its neighbours, also through the faces of the cell."""
        a, b, c = (
            {(box[axis] + step) % self._boxes[axis] for step in (-1, 0, 1)} for axis in range(3)
        )
        return set(product(a, b, c))

    def _box(self, place: Floats) -> Box:
        inside = place - np.floor(place)
        a, b, c = (
            int(part * boxes) % boxes for part, boxes in zip(inside, self._boxes, strict=True)
        )
        return a, b, c

    def _same(self, one: Floats, other: Floats) -> bool:
        difference = one - other
        difference -= np.rint(difference)
        return bool(np.linalg.norm(difference @ self._lattice) < SPECIAL_POSITION_A)


def _boxes_along(lattice: Floats) -> Box:
    """How many boxes fit between opposite faces of the cell; one where it is flat."""
    volume = abs(float(np.linalg.det(lattice)))
    counts = []
    for axis in range(3):
        face = np.linalg.norm(np.cross(lattice[(axis + 1) % 3], lattice[(axis + 2) % 3]))
        height = volume / float(face) if face > 0 else 0.0
        counts.append(max(1, min(_MOST_BOXES, int(height / SPECIAL_POSITION_A))))
    return counts[0], counts[1], counts[2]
