"""A structure as the worker sees it: arrays over the bytes of a request. Needs numpy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from .elements import symbol_of

Floats = npt.NDArray[np.float64]

_FLAT = 1e-9
"""A cell whose volume is a smaller part of the product of its edges has none."""


class Structure:
    """What an engine gets; read it, do not write to it, and do not keep it.

    Attributes
    ----------
    numbers
        Atomic numbers, shape (n,).
    positions
        Å, shape (n, 3).
    cell
        Lattice vectors as rows, Å; zeros for a molecule.
    pbc
        Along each vector.
    info
        charge, spin, modal … as far as the engine declares them.
    """

    __slots__ = ("cell", "info", "numbers", "pbc", "positions")

    def __init__(
        self,
        numbers: npt.NDArray[np.int32],
        positions: Floats,
        cell: Floats,
        pbc: npt.NDArray[np.bool_],
        info: Mapping[str, Any],
    ) -> None:
        self.numbers = numbers
        self.positions = positions
        self.cell = cell
        self.pbc = pbc
        self.info = info

    def __len__(self) -> int:
        return len(self.numbers)

    def symbols(self) -> list[str]:
        """Symbols of its elements, each once, in the order of their numbers."""
        return [symbol_of(int(number)) for number in np.unique(self.numbers)]

    def has_stress(self) -> bool:
        """Whether it has a volume and a periodic direction."""
        if not self.pbc.any():
            return False
        edges = float(np.prod(np.linalg.norm(self.cell, axis=1)))
        return edges > 0.0 and abs(float(np.linalg.det(self.cell))) > _FLAT * edges


def read_only(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The same memory, not to be written through."""
    view = array.view()
    view.flags.writeable = False
    return view
