"""The lattice record of a deck, and the cell that it stands for.

Row vectors in Å; a along x, b in the plane of x and y. Runs in worker processes.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from crystalmath.codes.crystal.tables import groups
from crystalmath.structures.structure import Floats

NOT_PERIODIC_A = 500.0
"""What CRYSTAL writes for the length of an axis along which nothing repeats."""
SQUARE_LAYERS = range(49, 65)


def cell_of(lengths: Sequence[float], angles: Sequence[float]) -> Floats:
    """The cell with these lengths (Å) and angles (degrees).

    Raises
    ------
    ValueError
        There is no such cell.
    """
    a, b, c = lengths
    cos_a, cos_b, cos_g = (np.cos(np.radians(angle)) for angle in angles)
    sin_g = float(np.sin(np.radians(angles[2])))
    if min(lengths) <= 0 or sin_g <= 1e-9:
        raise ValueError("a length or angle is not above zero")
    x = float(cos_b)
    y = float((cos_a - cos_b * cos_g) / sin_g)
    rest = 1 - x * x - y * y
    if rest <= 1e-12:
        raise ValueError("there is no cell with these angles")
    return np.array(
        [
            [a, 0.0, 0.0],
            [b * float(cos_g), b * sin_g, 0.0],
            [c * x, c * y, c * float(np.sqrt(rest))],
        ]
    )


def cell_from_record(dimension: str, group: int, numbers: Sequence[float], ifhr: int = 0) -> Floats:
    """The conventional cell of a deck.

    Raises
    ------
    ValueError
        The record has too few numbers, or there is no such cell.
    """
    names = groups.lattice_names(dimension, group, ifhr)
    given = dict(zip(names, numbers, strict=False))
    if len(numbers) < len(names):
        raise ValueError(f"the lattice record needs {' '.join(names)}")
    a = given.get("a", NOT_PERIODIC_A)
    if dimension == "POLYMER":
        return cell_of((a, NOT_PERIODIC_A, NOT_PERIODIC_A), (90, 90, 90))
    if dimension == "SLAB":
        hexagonal = group >= 65
        gamma = given.get("gamma", 120.0 if hexagonal else 90.0)
        return cell_of((a, given.get("b", a), NOT_PERIODIC_A), (90, 90, gamma))
    if "alpha" in given and len(names) == 2:
        alpha = given["alpha"]
        return cell_of((a, a, a), (alpha, alpha, alpha))
    angles = (
        given.get("alpha", 90.0),
        given.get("beta", 90.0),
        given.get("gamma", 120.0 if 143 <= group <= 194 else 90.0),
    )
    return cell_of((a, given.get("b", a), given.get("c", a)), angles)


def record_of(dimension: str, group: int, cell: Floats) -> tuple[float, ...]:
    """The numbers of the lattice record for a conventional cell in hexagonal axes."""
    values = parameters(cell)
    return tuple(values[name] for name in groups.lattice_names(dimension, group))


def parameters(cell: Floats) -> dict[str, float]:
    """Lengths in Å and angles in degrees by name."""
    a, b, c = (float(np.linalg.norm(row)) for row in cell)

    def angle(first: int, second: int) -> float:
        product = float(cell[first] @ cell[second])
        lengths = np.linalg.norm(cell[first]) * np.linalg.norm(cell[second])
        return float(np.degrees(np.arccos(np.clip(product / lengths, -1, 1))))

    return {
        "a": a, "b": b, "c": c,
        "alpha": angle(1, 2), "beta": angle(0, 2), "gamma": angle(0, 1),
    }  # fmt: skip
