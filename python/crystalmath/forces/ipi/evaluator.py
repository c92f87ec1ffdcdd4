"""An ASE calculator, the lean one included, as what ``serve`` asks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from crystalmath.forces.ipi.template import Structure
from crystalmath.forces.worker import wire

if TYPE_CHECKING:
    from ase import Atoms

_FULL: Final = ((0, 5, 4), (5, 1, 3), (4, 3, 2))


class Evaluator:
    """Evaluates structures that differ in positions and cell only, on one ``Atoms`` kept for it.

    Parameters
    ----------
    calculator
        Anything with ASE's ``get_property``.
    """

    def __init__(self, calculator: Any) -> None:
        self._calculator = calculator
        self._atoms: Atoms | None = None

    def __call__(self, structure: Structure, mask: int) -> dict[str, Any]:
        """Return the properties of the mask; the stress as 3 by 3."""
        atoms = self._atoms
        if atoms is None:
            from ase import Atoms

            atoms = self._atoms = Atoms(
                structure.numbers, pbc=structure.pbc, info=dict(structure.info)
            )
        atoms.cell.array[...] = structure.cell
        atoms.arrays["positions"][...] = structure.positions
        # the stress first: whoever computes it then has the rest already
        names = sorted(wire.names_of(mask), key="stress".__ne__)
        found = {name: self._calculator.get_property(name, atoms) for name in names}
        if "stress" in found:
            stress = np.asarray(found["stress"])
            found["stress"] = stress[np.array(_FULL)] if stress.shape == (6,) else stress
        return found
