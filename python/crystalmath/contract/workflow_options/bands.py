"""Options of the workflow ``bands``."""

from __future__ import annotations

from pydantic import Field

from crystalmath.contract.relaxation import ForceLimit, MaxSteps, StressLimit
from crystalmath.contract.rpc import Params


class BandsOptions(Params):
    """Options of bands and density of states."""

    relax: bool = Field(
        default=False, description="Relax atoms and cell first; else they are taken as given."
    )
    spacing_inv_angstrom: float = Field(
        default=0.02,
        ge=0.001,
        le=1.0,
        examples=[0.05],
        description="Largest distance of neighbouring points of the path, with the factor 2π, 1/Å.",
    )
    dos: bool = Field(
        default=True,
        description="Compute a dense mesh too: the density of states, and edges beside the path.",
    )
    mesh_factor: int = Field(
        default=2,
        ge=2,
        le=10,
        examples=[3],
        description="How much denser that mesh is than the one of the SCF.",
    )
    n_bands: int | None = Field(
        default=None,
        ge=1,
        le=100_000,
        description="Number of bands; those that the electrons fill and some more if absent.",
    )
    fmax_ev_per_a: ForceLimit = Field(
        default=0.02, description="Of the relaxation: largest force that may be left, eV/Å."
    )
    smax_gpa: StressLimit = Field(
        default=0.1, description="Of the relaxation: largest stress that may be left, GPa."
    )
    max_steps: MaxSteps = Field(default=200, description="Steps before the relaxation gives up.")
