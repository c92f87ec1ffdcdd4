"""The ``inputs`` of the forces tasks, with their defaults and bounds."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

from pydantic import BeforeValidator, Field, StringConstraints

from crystalmath.codes.options import Options, parse_options
from crystalmath.contract.dynamics import Barostat, Pressure, Seed, Thermostat, Timestep
from crystalmath.contract.relaxation import (
    CellFreedom,
    ForceLimit,
    MaxSteps,
    Optimizer,
    StressLimit,
)
from crystalmath.errors import InvalidParams
from crystalmath.services.ports import StructureData


def _lower(value: Any) -> Any:
    return value.lower() if isinstance(value, str) else value


class SinglePointOptions(Options):
    """``inputs`` of the task ``single_point``."""

    allow_toy_elements: bool = Field(
        default=False,
        description="Accept elements for which the engine has only toy parameters.",
    )
    dtype: Literal["float32", "float64"] | None = Field(
        default=None, description="Precision of the engine; that of its model when left out."
    )
    device: Annotated[str, StringConstraints(pattern=r"^(cpu|cuda(:[0-9]{1,2})?)$")] | None = Field(
        default=None, description="Where the engine computes: cpu, cuda or cuda:N; the CPU."
    )
    engine_options: dict[str, Any] = Field(
        default_factory=dict,
        description="Options of the engine itself; for a sum, those of each under its name.",
    )


class RelaxOptions(SinglePointOptions):
    """``inputs`` of the task ``relax``."""

    fmax_ev_per_a: ForceLimit = Field(
        default=0.005,
        description="Converged when no force on an atom is larger, in eV/Å (length of the vector),",
    )
    smax_gpa: StressLimit = Field(
        default=0.01,
        description="and, unless the cell is fixed, no component of the stress is larger, in GPa.",
    )
    cell: CellFreedom | None = Field(
        default=None,
        description="What the cell may do: change freely, change its volume only, change its shape "
        "only, or nothing. "
        "Free for a crystal, fixed for anything that is not periodic in three directions.",
    )
    max_steps: MaxSteps = Field(default=500, description="Steps before it gives up.")
    optimizer: Optimizer = Field(
        default="LBFGS",
        description="How steps are chosen. LBFGS suits most; FIRE is slower and sturdier; "
        "BFGS keeps a full matrix and suits small systems.",
    )
    keep_symmetry: bool = Field(
        default=False,
        description="Keep the symmetry that the structure has, within 0.01 Å.",
    )


class MdOptions(SinglePointOptions):
    """``inputs`` of the task ``md``."""

    ensemble: Annotated[Literal["nve", "nvt", "npt"], BeforeValidator(_lower)] = Field(
        default="nvt",
        description="What is kept: energy (nve), temperature (nvt), or temperature and pressure "
        "(npt, for crystals).",
    )
    steps: int = Field(default=1000, ge=1, le=100_000_000, description="Steps in time.")
    timestep_fs: Timestep = Field(
        default=1.0, description="Length of a step, in fs; 0.5 with hydrogen."
    )
    temperature_k: float = Field(
        default=300.0,
        ge=0,
        le=20_000,
        description="Temperature of the first velocities and of the thermostat, in K.",
    )
    thermostat_fs: Thermostat = Field(
        default=100.0, description="How slowly the thermostat acts, in fs."
    )
    pressure_gpa: Pressure = Field(default=0.0, description="Pressure to keep, in GPa (npt).")
    barostat_fs: Barostat = Field(
        default=1000.0, description="Period of the cell's motion, in fs (npt)."
    )
    cell: Literal["isotropic", "full"] = Field(
        default="isotropic", description="What the cell may do: change its volume, or freely (npt)."
    )
    seed: Seed = Field(default=0, description="Of the random numbers; the same gives the same.")
    write_every: int = Field(
        default=10, ge=1, le=1_000_000, description="Steps from one written frame to the next."
    )


TASKS: Final[dict[str, type[SinglePointOptions]]] = {
    "single_point": SinglePointOptions,
    "relax": RelaxOptions,
    "md": MdOptions,
}
ALIASES: Final = {"energy": "single_point", "sp": "single_point", "opt": "relax", "dynamics": "md"}


def resolve_options(task: str, inputs: Any, structure: StructureData) -> SinglePointOptions:
    """Validate ``inputs`` and settle what depends on the structure.

    Raises
    ------
    InvalidParams
        A value out of bounds, or a cell that cannot change.
    """
    options = parse_options(TASKS[task], inputs)
    crystal = structure.is_crystal
    if isinstance(options, MdOptions):
        return _check_ensemble(options, crystal=crystal)
    if not isinstance(options, RelaxOptions):
        return options
    if options.keep_symmetry and not crystal:
        raise InvalidParams(
            "only a crystal has a space group to keep",
            hint="leave it out",
            field="inputs.keep_symmetry",
        )
    if options.cell is None:
        return options.model_copy(update={"cell": "full" if crystal else "fixed"})
    if options.cell != "fixed" and not crystal:
        raise InvalidParams(
            "the cell can change only when the structure is periodic in three directions",
            hint="leave it out, or give `inputs.cell: fixed`",
            field="inputs.cell",
        )
    return options


def _check_ensemble(options: MdOptions, *, crystal: bool) -> MdOptions:
    if options.ensemble == "npt" and not crystal:
        raise InvalidParams(
            "a pressure can be kept only when the structure is periodic in three directions",
            hint="give `inputs.ensemble: nvt`",
            field="inputs.ensemble",
        )
    for name in ("pressure_gpa", "barostat_fs", "cell"):
        given = getattr(options, name) != MdOptions.model_fields[name].default
        if options.ensemble != "npt" and given:
            raise InvalidParams(
                f"{name} has a meaning only at constant pressure",
                hint="give `inputs.ensemble: npt`, or leave it out",
                field=f"inputs.{name}",
            )
    if options.ensemble != "nve" and options.temperature_k == 0:
        raise InvalidParams(
            "a thermostat needs a temperature above zero", field="inputs.temperature_k"
        )
    return options
