"""Options of the workflow ``eos``."""

from __future__ import annotations

from pydantic import Field

from crystalmath.contract.relaxation import MaxSteps, Optimizer, TightForceLimit, TightStressLimit
from crystalmath.contract.rpc import Params


class EosOptions(Params):
    """Options of an equation of state."""

    points: int = Field(default=9, ge=5, le=51, description="Number of volumes; 7 to 11 is usual.")
    reach: float = Field(
        default=0.06,
        ge=0.005,
        le=0.15,
        examples=[0.05],
        description="Largest relative change of the volume, to each side: 0.06 is ± 6 % in volume, "
        "± 2 % in length.",
    )
    relax: bool = Field(
        default=True,
        description="Relax atoms and cell first. Without it the volumes lie around that of the "
        "structure as it is given.",
    )
    fmax_ev_per_a: TightForceLimit = Field(
        default=1e-3,
        description="Largest force on an atom that may be left, eV/Å.",
    )
    smax_gpa: TightStressLimit = Field(
        default=1e-3,
        description="Largest component of the stress that may be left, GPa: of the whole stress in "
        "the first relaxation, of its shape-changing part at each volume.",
    )
    max_steps: MaxSteps = Field(default=500, description="Steps before a relaxation gives up.")
    optimizer: Optimizer = Field(default="LBFGS", description="How steps are chosen.")
