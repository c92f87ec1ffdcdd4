"""Who is how far from whom: the shells of neighbours around the independent atoms.

Called by ``structures.report`` in a worker process.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from crystalmath.structures.structure import Floats, Structure

_REACH: Final = 1.3
"""Times the sum of the covalent radii: what is nearer is a neighbour."""
_SAME_A: Final = 0.005
"""Å: distances that differ by no more are one shell; a distortion is larger."""
_FURTHEST_A: Final = 6.0
_SHELLS: Final = 12


def shells(structure: Structure, atoms: Sequence[int]) -> list[list[dict[str, Any]]]:
    """Return, per atom asked for, its shells from the nearest to the furthest.

    A shell holds neighbours of one element at one distance: ``symbol``, ``distance_angstrom``
    (their mean) and ``count``. An atom without a neighbour within the sum of the covalent radii has
    the nearest shell within 6 Å.
    """
    cell, positions = structure.lattice, structure.positions
    if cell is None:
        positions = positions - positions.min(axis=0)
        cell = np.diag(positions.max(axis=0) + 1.0)
    found = []
    for near, distances in _around(structure, cell, positions, atoms):
        rows: list[dict[str, Any]] = []
        for symbol in dict.fromkeys(near):
            own = np.sort(distances[[name == symbol for name in near]])
            rows += [{"symbol": symbol, **shell} for shell in _grouped(own)]
        rows.sort(key=lambda row: (row["distance_angstrom"], row["symbol"]))
        found.append(rows[:_SHELLS])
    return found


def _around(
    structure: Structure, cell: Floats, positions: Floats, atoms: Sequence[int]
) -> list[tuple[list[str], Floats]]:
    from ase import Atoms
    from ase.data import covalent_radii
    from ase.geometry import complete_cell
    from ase.neighborlist import primitive_neighbor_list

    model = Atoms(structure.symbols, positions, cell=complete_cell(cell), pbc=structure.pbc)
    radii = covalent_radii[model.numbers]
    i, j, d = primitive_neighbor_list(
        "ijd", model.pbc, model.cell.array, model.positions, (_REACH * radii).tolist()
    )
    found = []
    for atom in atoms:
        mine = i == atom
        near, distances = j[mine], d[mine]
        if near.size == 0 and len(structure.symbols) <= _MOST_FAR:
            i_far, j_far, d_far = primitive_neighbor_list(
                "ijd", model.pbc, model.cell.array, model.positions, _FURTHEST_A
            )
            far = i_far == atom
            if far.any():
                first = far & (d_far <= d_far[far].min() + _SAME_A)
                near, distances = j_far[first], d_far[first]
        found.append(([structure.symbols[k] for k in near], distances))
    return found


_MOST_FAR: Final = 500
"""Atoms: looking 6 Å far around all of more would take long."""


def _grouped(distances: Floats) -> list[dict[str, Any]]:
    """Sorted distances as shells, none wider than :data:`_SAME_A`."""
    rows = []
    start = 0
    for end in range(1, len(distances) + 1):
        if end == len(distances) or distances[end] - distances[start] > _SAME_A:
            mean = float(distances[start:end].mean())
            rows.append({"distance_angstrom": round(mean, 6), "count": end - start})
            start = end
    return rows
