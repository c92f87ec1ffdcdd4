"""Options of the workflow ``md``."""

from __future__ import annotations

from typing import Final, Literal

from pydantic import Field, ValidationInfo, field_validator

from crystalmath.contract.dynamics import Barostat, Pressure, Seed, Thermostat, Timestep
from crystalmath.contract.rpc import Params

FEWEST_FRAMES: Final = 40
"""Half of them may be the start, and an average needs twenty."""
MOST_FRAMES: Final = 20_000


class MdOptions(Params):
    """Options of a molecular dynamics."""

    ensemble: Literal["nve", "nvt", "npt"] = Field(
        default="nvt",
        description="What is kept: energy (nve, velocity Verlet), temperature (nvt, Langevin), or "
        "temperature and pressure (npt, Langevin with a moving cell; crystals only).",
    )
    steps: int = Field(
        default=10_000, ge=40, le=100_000_000, examples=[20_000], description="Steps in time."
    )
    timestep_fs: Timestep = Field(
        default=1.0, description="Length of a step, fs; 0.5 with hydrogen."
    )
    temperature_k: float = Field(
        default=300.0,
        gt=0,
        le=20_000,
        description="Temperature of the first velocities and of the thermostat, K.",
    )
    thermostat_fs: Thermostat = Field(
        default=100.0, description="How slowly the thermostat acts, fs."
    )
    pressure_gpa: Pressure = Field(default=0.0, description="Pressure to keep, GPa (npt).")
    barostat_fs: Barostat = Field(
        default=1000.0, description="Period of the cell's motion, fs (npt)."
    )
    cell: Literal["isotropic", "full"] = Field(
        default="isotropic", description="What the cell may do: change its volume, or freely (npt)."
    )
    seed: Seed = Field(default=0, description="Of the random numbers; the same gives the same.")
    write_every: int = Field(
        default=10,
        ge=1,
        le=1_000_000,
        examples=[20],
        validate_default=True,
        description="Steps from one frame to the next; averages are over frames.",
    )
    edge_angstrom: float = Field(
        default=10.0,
        ge=0,
        le=100,
        description="The cell is repeated until an atom is so far from its images, Å; 0: as it is.",
    )

    @field_validator("write_every")
    @classmethod
    def _frames(cls, value: int, others: ValidationInfo) -> int:
        steps = others.data.get("steps")
        if steps is None:
            return value
        frames = steps // value
        if not FEWEST_FRAMES <= frames <= MOST_FRAMES:
            raise ValueError(
                f"{steps} steps, each {value}th written, are {frames} frames: {FEWEST_FRAMES} to "
                f"{MOST_FRAMES} can be averaged"
            )
        return value
