"""Options of the workflow ``elastic``."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from crystalmath.contract.relaxation import MaxSteps, Optimizer, TightStressLimit
from crystalmath.contract.rpc import Params

StrainSize = Annotated[float, Field(ge=1e-4, le=0.03, examples=[0.006])]


class ElasticOptions(Params):
    """Options of elastic constants."""

    relax: bool = Field(
        default=True,
        description="Relax atoms and cell first. Without it the structure must be relaxed already: "
        "forces above 0.0001 eV/Å or a stress above 0.1 GPa are refused.",
    )
    sizes: Annotated[list[StrainSize], Field(min_length=1, max_length=5)] = Field(
        default=[0.005, 0.01],
        description="Sizes of the strains, each applied with both signs: 0.01 is 1 %. Shear counts "
        "double, as in Voigt's notation.",
    )
    fmax_ev_per_a: float = Field(
        default=1e-4,
        gt=0,
        le=1e-4,
        examples=[5e-5],
        description="Largest force on an atom that may be left, eV/Å.",
    )
    smax_gpa: TightStressLimit = Field(
        default=1e-3,
        description="Largest component of the stress that the first relaxation may leave, GPa; the "
        "strained cells keep theirs.",
    )
    max_steps: MaxSteps = Field(default=500, description="Steps before a relaxation gives up.")
    optimizer: Optimizer = Field(default="LBFGS", description="How steps are chosen.")
