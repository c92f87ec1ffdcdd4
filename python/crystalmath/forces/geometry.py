"""A structure as the bytes that identify it, taken from ``ase.Atoms`` without copying it.

Comparing bytes is faster than comparing arrays, and stricter: equal bytes are equal numbers.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

import numpy as np

from crystalmath.errors import InputRejected
from crystalmath.forces.worker.elements import symbol_of

_FLAT: Final = 1e-9
FAR_ANGSTROM: Final = 1e8
_DESCRIPTIVE: Final = frozenset(
    {"adsorbate_info", "spacegroup", "unit_cell", "occupancy", "name", "comment", "source", "title"}
)
"""Keys of ``info`` that readers and builders of structures leave there; no engine reads them."""


class Geometry(NamedTuple):
    """Bytes of the arrays of a structure: float64, float64, int64, bool; and its info as JSON."""

    positions: bytes
    cell: bytes
    numbers: bytes
    pbc: bytes
    info: str


_as_geometry = tuple.__new__


def geometry_of(atoms: Any, ignored: frozenset[str] = frozenset()) -> Geometry:
    """Take what identifies a structure.

    Parameters
    ----------
    ignored
        Keys of ``info`` that do not matter.
    """
    arrays, info = atoms.arrays, atoms.info
    parts = (
        arrays["positions"].tobytes(),
        atoms.cell.array.tobytes(),
        arrays["numbers"].tobytes(),
        atoms.pbc.tobytes(),
        info_text(info, ignored) if info else "{}",
    )
    return _as_geometry(Geometry, parts)  # half the time of calling Geometry


def info_text(info: Mapping[str, Any], ignored: frozenset[str] = frozenset()) -> str:
    """Write ``info`` as canonical JSON, without what only describes the structure.

    Raises
    ------
    InputRejected
        A value is nothing that can be sent.
    """
    kept = {k: v for k, v in info.items() if k not in _DESCRIPTIVE and k not in ignored}
    if not kept:
        return "{}"
    try:
        return json.dumps(kept, sort_keys=True, allow_nan=False, default=_plain)
    except (TypeError, ValueError) as error:
        raise InputRejected(
            f"the info of the structure cannot be sent: {error}",
            hint="numbers, strings and lists of them can; remove the rest, or give ignore_info",
            field="info",
        ) from error


def _plain(value: object) -> Any:
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} is neither number nor text")


def check_arrays(atoms: Any, where: str = "structure") -> None:
    """Refuse a structure whose arrays are not what they should be; raises ``InputRejected``."""
    if not hasattr(atoms, "arrays"):
        raise InputRejected(
            f"{type(atoms).__name__} is no structure", hint="give ase.Atoms", field=where
        )
    numbers, positions = atoms.arrays["numbers"], atoms.arrays["positions"]
    if len(numbers) == 0:
        raise InputRejected("the structure has no atoms", field=where)
    if numbers.dtype.kind not in "iu" or numbers.min() < 1:
        raise InputRejected("an atom of the structure is of no element", field=f"{where}.numbers")
    if positions.dtype != np.float64 or positions.shape != (len(numbers), 3):
        raise InputRejected(
            f"the positions are {positions.dtype} of shape {positions.shape}",
            field=f"{where}.positions",
        )


def check_finite(atoms: Any, where: str = "structure") -> None:
    """Find the number that is not finite; raises ``InputRejected`` naming atom and component."""
    for name, array in (("positions", atoms.arrays["positions"]), ("cell", atoms.cell.array)):
        wrong = np.argwhere(~np.isfinite(array))
        if not len(wrong):
            continue
        row, column = (int(i) for i in wrong[0])
        what = (
            f"{'xyz'[column]} of atom {row} ({symbol_of(int(atoms.arrays['numbers'][row]))})"
            if name == "positions"
            else f"{'xyz'[column]} of lattice vector {row}"
        )
        raise InputRejected(
            f"{what} is {array[row, column]}", field=f"{where}.{name}.{row}.{column}"
        )


def check_near(atoms: Any, where: str = "structure") -> None:
    """Refuse coordinates so large that the distances between atoms are lost in their rounding."""
    far = np.argwhere(~(abs(atoms.arrays["positions"]) < FAR_ANGSTROM))
    if len(far):
        row, column = (int(i) for i in far[0])
        value = atoms.arrays["positions"][row, column]
        raise InputRejected(
            f"{'xyz'[column]} of atom {row} is {value:.3g} Å: distances are lost in its rounding",
            hint="wrap the atoms into the cell",
            field=f"{where}.positions.{row}.{column}",
        )


def check_cell(cell: bytes, pbc: bytes, where: str = "structure") -> None:
    """Refuse lattice vectors of periodic directions that span nothing."""
    rows = np.frombuffer(cell, np.float64).reshape(3, 3)[np.frombuffer(pbc, np.bool_)]
    edges = math.prod(float(np.linalg.norm(row)) for row in rows)
    spanned = math.sqrt(max(0.0, float(np.linalg.det(rows @ rows.T)))) if len(rows) else 1.0
    if spanned <= _FLAT * edges:
        raise InputRejected(
            "the lattice vectors of the periodic directions are zero or depend on each other",
            hint="give a cell, or set pbc to False where there is no repetition",
            field=f"{where}.cell",
        )


def has_stress(cell: bytes, pbc: bytes) -> bool:
    """Whether there is a periodic direction and a volume."""
    if not any(pbc):
        return False
    rows = np.frombuffer(cell, np.float64).reshape(3, 3)
    edges = math.prod(float(np.linalg.norm(row)) for row in rows)
    return edges > 0.0 and abs(float(np.linalg.det(rows))) > _FLAT * edges
