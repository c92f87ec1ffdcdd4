"""The engine under examination: what it gives, and how exact its numbers can be."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from crystalmath.forces.lean import LeanCalculator


class Bounds(NamedTuple):
    """What may differ where nothing should.

    Attributes
    ----------
    energy
        eV per atom.
    forces
        eV/Å.
    stress
        eV/Å³.
    epsilon
        Relative step of the numbers that it computes with.
    together
        Relative difference of a structure alone and among others.
    """

    energy: float
    forces: float
    stress: float
    epsilon: float
    together: float


DOUBLE: Final = Bounds(1e-6, 1e-5, 1e-7, float(np.finfo(np.float64).eps), 1e-8)
SINGLE: Final = Bounds(2e-5, 5e-4, 2e-5, float(np.finfo(np.float32).eps), 1e-4)


class Subject:
    """See the module docstring.

    Attributes
    ----------
    properties
        What it gives.
    energy
        Name of the energy that the forces are the gradient of.
    device, dtype
        Where and in which precision it computes.
    """

    def __init__(self, lean: LeanCalculator) -> None:
        self.lean = lean
        self.properties = tuple(lean.implemented_properties)
        self.energy = "free_energy" if "free_energy" in self.properties else "energy"
        (capabilities,) = lean.capabilities
        self.capabilities = capabilities
        self.dtype = str(capabilities["dtype"])
        self.device = str(capabilities["device"])
        self.bounds = DOUBLE if self.dtype == "float64" else SINGLE

    @property
    def elements(self) -> Sequence[str] | None:
        """Those it knows, None: any."""
        found = self.capabilities.get("elements")
        return None if found is None else [str(symbol) for symbol in found]

    def gives(self, *names: str) -> list[str]:
        """Those of the names that it gives."""
        return [name for name in names if name in self.properties]

    def compute(self, atoms: Any, *names: str) -> dict[str, Any]:
        """Properties of one structure; raises what the engine says."""
        (found,) = self.lean.evaluate([atoms], names)
        return found  # type: ignore[no-any-return]

    def energies(self, many: Sequence[Any]) -> list[float]:
        """The energy that goes with the forces, for each structure."""
        return [float(one[self.energy]) for one in self.lean.evaluate(many, [self.energy])]
