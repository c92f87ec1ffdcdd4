"""A subclass of ``ase.calculators.calculator.Calculator``, for code that tests for it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

from ase.calculators.calculator import Calculator, all_changes

from crystalmath.forces.lean import LeanCalculator


class CrystalMathCalculator(Calculator):
    """The lean calculator behind the state machinery of ASE: the same numbers, a little slower.

    Parameters
    ----------
    lean
        The calculator that does the work.
    """

    name = "crystalmath"

    def __init__(self, lean: LeanCalculator) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.lean = lean
        self.parameters.update(lean.parameters)

    @property
    def implemented_properties(self) -> list[str]:  # type: ignore[override]
        """Properties that the loaded engine gives."""
        return self.lean.implemented_properties

    def calculate(
        self,
        atoms: Any = None,
        properties: Sequence[str] = ("energy",),
        system_changes: Sequence[str] = tuple(all_changes),
    ) -> None:
        """Compute properties of ``atoms``."""
        super().calculate(atoms, properties, system_changes)  # type: ignore[no-untyped-call]
        self.lean.calculate(self.atoms, properties)
        self.results = self.lean.results

    def check_state(self, atoms: Any, tol: float = 0.0) -> Any:
        """Changes since the last calculation; also of ``info``, which ASE does not look at."""
        changes = super().check_state(atoms, tol=tol)  # type: ignore[no-untyped-call]
        if not changes and self.atoms is not None and self.atoms.info != atoms.info:
            return list(all_changes)
        return changes

    def close(self) -> None:
        """Close the connections, and end the workers if they are its own."""
        self.lean.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.lean,)
