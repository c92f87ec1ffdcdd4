"""The ``inputs`` of the forces tasks, with their defaults and bounds."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

from pydantic import BeforeValidator, Field

from crystalmath.codes.options import Options, parse_options
from crystalmath.errors import InvalidParams
from crystalmath.services.ports import StructureData


def _upper(value: Any) -> Any:
    return value.upper() if isinstance(value, str) else value


class SinglePointOptions(Options):
    """``inputs`` of the task ``single_point``."""

    allow_toy_elements: bool = Field(
        default=False,
        description="Accept elements for which the engine has only toy parameters.",
    )


class RelaxOptions(SinglePointOptions):
    """``inputs`` of the task ``relax``."""

    fmax_ev_per_a: float = Field(
        default=0.005,
        gt=0,
        le=10,
        description="Converged when no force on an atom is larger, in eV/Å (length of the vector),",
    )
    smax_gpa: float = Field(
        default=0.01,
        gt=0,
        le=100,
        description="and, unless the cell is fixed, no component of the stress is larger, in GPa.",
    )
    cell: Literal["full", "isotropic", "fixed"] | None = Field(
        default=None,
        description="What the cell may do: change freely, change its volume only, or nothing. "
        "Free for a crystal, fixed for anything that is not periodic in three directions.",
    )
    max_steps: int = Field(default=500, ge=1, le=100_000, description="Steps before it gives up.")
    optimizer: Annotated[Literal["LBFGS", "BFGS", "FIRE"], BeforeValidator(_upper)] = Field(
        default="LBFGS",
        description="How steps are chosen. LBFGS suits most; FIRE is slower and sturdier; "
        "BFGS keeps a full matrix and suits small systems.",
    )


TASKS: Final[dict[str, type[SinglePointOptions]]] = {
    "single_point": SinglePointOptions,
    "relax": RelaxOptions,
}
ALIASES: Final = {"energy": "single_point", "sp": "single_point", "opt": "relax"}


def resolve_options(task: str, inputs: Any, structure: StructureData) -> SinglePointOptions:
    """Validate ``inputs`` and settle what depends on the structure.

    Raises
    ------
    InvalidParams
        A value out of bounds, or a cell that cannot change.
    """
    options = parse_options(TASKS[task], inputs)
    if not isinstance(options, RelaxOptions):
        return options
    crystal = structure.lattice is not None and all(structure.pbc)
    if options.cell is None:
        return options.model_copy(update={"cell": "full" if crystal else "fixed"})
    if options.cell != "fixed" and not crystal:
        raise InvalidParams(
            "the cell can change only when the structure is periodic in three directions",
            hint="leave it out, or give `inputs.cell: fixed`",
            field="inputs.cell",
        )
    return options
