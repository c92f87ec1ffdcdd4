"""Options of the workflow ``relax``."""

from __future__ import annotations

from pydantic import Field

from crystalmath.contract.relaxation import (
    CellFreedom,
    ForceLimit,
    MaxSteps,
    Optimizer,
    StressLimit,
)
from crystalmath.contract.rpc import Params


class RelaxOptions(Params):
    """Options of a relaxation."""

    fmax_ev_per_a: ForceLimit = Field(
        default=0.02, description="Largest force on an atom that may be left, eV/Å."
    )
    smax_gpa: StressLimit = Field(
        default=0.1, description="Largest component of the stress that may be left, GPa."
    )
    cell: CellFreedom | None = Field(
        default=None,
        description="What the cell may do: change freely, change its volume only, change its shape "
        "only, or nothing. Free for a crystal, fixed for anything else.",
    )
    max_steps: MaxSteps = Field(default=500, description="Steps before it gives up.")
    optimizer: Optimizer = Field(default="LBFGS", description="How steps are chosen.")
    keep_symmetry: bool = Field(
        default=False,
        description="Keep the symmetry that the structure has, within 0.01 Å; pw.x, VASP and "
        "CRYSTAL always do.",
    )
