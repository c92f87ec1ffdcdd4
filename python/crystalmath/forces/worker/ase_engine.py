"""Any ASE calculator behind the interface of the worker.

One ``Atoms`` is kept and changed in place, and the calculator is told what has really changed:
with everything changed each time, many of them rebuild their neighbour lists.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from ase import Atoms
from ase.calculators.calculator import all_changes

from .faults import Fault
from .structures import Structure

_MOVED = ["positions"]
_STRAINED = ["positions", "cell"]


class AseEngine:
    """See the module docstring.

    Parameters
    ----------
    calculator
        With ``calculate(atoms, properties, changes)`` and ``results``.
    """

    batch = False

    def __init__(self, calculator: Any) -> None:
        if not callable(getattr(calculator, "calculate", None)):
            raise Fault(
                "forces",
                f"setup returned {type(calculator).__name__}, which is no ASE calculator and has "
                "no evaluate",
            )
        self._calculator = calculator
        self._reset = getattr(calculator, "reset", self._clear)
        self._atoms: Any = None
        self._of: Structure | None = None
        self._cell = b""

    @property
    def implemented(self) -> tuple[str, ...]:
        """Properties that the calculator claims."""
        return tuple(getattr(self._calculator, "implemented_properties", ()))

    def evaluate(self, structure: Structure, names: list[str]) -> Mapping[str, Any]:
        """Compute one structure; what comes back may be overwritten by the next call."""
        changes = self._move(structure) if structure is self._of else self._bind(structure)
        self._of = None  # an exception leaves the calculator in a state that nobody knows
        self._reset()
        self._calculator.calculate(self._atoms, names, changes)
        self._of = structure
        return self._calculator.results  # type: ignore[no-any-return]

    def _move(self, structure: Structure) -> list[str]:
        atoms = self._atoms
        atoms.arrays["positions"][...] = structure.positions
        cell = structure.cell.tobytes()
        if cell == self._cell:
            return _MOVED
        self._cell = cell
        atoms.cell.array[...] = structure.cell
        return _STRAINED

    def _bind(self, structure: Structure) -> list[str]:
        """Make the kept atoms those of another structure, keeping what is equal."""
        atoms, known = self._atoms, self._of is not None
        self._cell = structure.cell.tobytes()
        if not known or len(atoms) != len(structure) or atoms.info != structure.info:
            self._atoms = Atoms(
                numbers=structure.numbers,
                positions=structure.positions,
                cell=structure.cell,
                pbc=structure.pbc,
                info=dict(structure.info),
            )
            return list(all_changes)
        changes = ["positions"]
        atoms.arrays["positions"][...] = structure.positions
        for name, mine, other in (
            ("numbers", atoms.arrays["numbers"], structure.numbers),
            ("cell", atoms.cell.array, structure.cell),
            ("pbc", atoms.pbc, structure.pbc),
        ):
            if not np.array_equal(mine, other):
                mine[...] = other
                changes.append(name)
        return changes

    def _clear(self) -> None:
        self._calculator.results = {}
