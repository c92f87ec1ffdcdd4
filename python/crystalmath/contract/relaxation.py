"""When a relaxation ends and how it moves: the values that jobs and workflows accept."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field


def _upper(value: Any) -> Any:
    return value.upper() if isinstance(value, str) else value


ForceLimit = Annotated[float, Field(gt=0, le=10)]
"""Largest force on an atom that may be left, eV/Å."""
StressLimit = Annotated[float, Field(gt=0, le=100)]
"""Largest component of the stress that may be left, GPa."""
TightForceLimit = Annotated[float, Field(gt=0, le=1e-3, examples=[5e-4])]
"""The same of what derivatives of the energy are taken at, eV/Å."""
TightStressLimit = Annotated[float, Field(gt=0, le=0.1, examples=[0.02])]
"""The same of the stress, GPa."""
CellFreedom = Literal["full", "isotropic", "constant_volume", "fixed"]
"""What the cell may do: change freely, its volume only, its shape only, or nothing."""
MaxSteps = Annotated[int, Field(ge=1, le=100_000)]
Optimizer = Annotated[Literal["LBFGS", "BFGS", "FIRE"], BeforeValidator(_upper)]
