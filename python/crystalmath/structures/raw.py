"""What a reader hands on: numbers and names as the file has them, before the checks.

Made by the readers of this room, finished by ``structures.checks``; never leaves the worker.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


@dataclass(slots=True)
class RawStructure:
    """One structure.

    Attributes
    ----------
    lattice
        Three row vectors in Å, or None for a molecule.
    positions
        Cartesian, Å, shape (n_atoms, 3).
    reader
        Name and version of what read it.
    """

    lattice: Floats | None
    pbc: tuple[bool, bool, bool]
    symbols: list[str]
    positions: Floats
    reader: str
    source: dict[str, str] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)


def number(value: Any) -> float | None:
    """Return a finite float, or None for anything else (text, ``?``, NaN, infinity)."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        result = float(value)
    except ValueError:
        return None
    if isinstance(value, str) and "_" in value:  # 1_000 is a number in Python alone
        return None
    return result if np.isfinite(result) else None


def ase_version() -> str:
    """``ase 3.29.0`` and the like."""
    import ase

    return f"ase {ase.__version__}"
