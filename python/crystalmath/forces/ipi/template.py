"""A structure from a file: species, which i-PI does not carry, and their order."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np

from crystalmath.errors import InputRejected
from crystalmath.forces.ipi.words import Array

_FLAT: Final = 1e-9


@dataclass(frozen=True, slots=True)
class Structure:
    """Atoms in Å; rows of the cell are its vectors, zeros where nothing is periodic."""

    numbers: np.ndarray[Any, np.dtype[np.int32]]
    positions: Array
    cell: Array
    pbc: np.ndarray[Any, np.dtype[np.bool_]]
    info: Mapping[str, Any] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.numbers)

    def symbols(self) -> list[str]:
        """Chemical symbol of every atom."""
        from ase.data import chemical_symbols

        return [chemical_symbols[number] for number in self.numbers]

    @property
    def volume_angstrom3(self) -> float:
        """Volume of the cell."""
        return abs(float(np.linalg.det(self.cell)))

    def has_stress(self) -> bool:
        """Whether it has a volume and a periodic direction."""
        edges = float(np.prod(np.linalg.norm(self.cell, axis=1)))
        return bool(self.pbc.any()) and self.volume_angstrom3 > _FLAT * edges


def read_template(
    path: Path, info_keys: Collection[str] = (), *, file_format: str | None = None
) -> Structure:
    """Read the last structure of a file with ASE.

    Parameters
    ----------
    info_keys
        What the engine understands of the structure's ``info``; the rest is left out.
    file_format
        As ASE calls it; by default it finds out.

    Raises
    ------
    InputRejected
        The file cannot be read, or has no atoms; ``field`` is ``template``.
    """
    from ase import Atoms
    from ase.io import read

    try:
        atoms = read(path, index=-1, format=file_format)
    except Exception as error:  # noqa: BLE001 - a reader of ASE raises whatever it meets
        raise InputRejected(
            f"{path} cannot be read as a structure: {str(error) or type(error).__name__}",
            field="template",
        ) from None
    assert isinstance(atoms, Atoms)
    if len(atoms) == 0:
        raise InputRejected(f"{path} has no atoms", field="template")
    periodic = bool(atoms.pbc.any())
    return Structure(
        atoms.numbers.astype(np.int32),
        np.array(atoms.positions, np.float64),
        np.array(atoms.cell.array, np.float64) if periodic else np.zeros((3, 3)),
        atoms.pbc.astype(bool),
        {key: value for key, value in atoms.info.items() if key in info_keys},
    )
