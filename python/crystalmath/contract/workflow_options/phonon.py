"""Options of the workflow ``phonon``."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, model_validator

from crystalmath.contract.relaxation import MaxSteps, Optimizer, TightForceLimit, TightStressLimit
from crystalmath.contract.rpc import Params

MAX_BORN_ATOMS = 10_000
Component = Annotated[float, Field(ge=-1000, le=1000)]
Row = Annotated[list[Component], Field(min_length=3, max_length=3)]
Tensor = Annotated[list[Row], Field(min_length=3, max_length=3)]
Repeats = Annotated[int, Field(ge=1, le=100)]


class BornIn(Params):
    """Born charges and the dielectric tensor: the text of a file BORN, or the tensors."""

    text: str | None = Field(
        default=None,
        max_length=1_000_000,
        description="The content of phonopy's file BORN: the atoms that symmetry does not make of "
        "others, in the order of the structure.",
    )
    dielectric: Tensor | None = Field(
        default=None, description="Instead: the electronic dielectric tensor, 3 × 3."
    )
    charges_e: Annotated[list[Tensor], Field(min_length=1, max_length=MAX_BORN_ATOMS)] | None = (
        Field(
            default=None,
            description="With it: the Born charges of every atom of the structure, in its order, "
            "each 3 × 3; rows belong to the field, columns to the displacement.",
        )
    )

    @model_validator(mode="after")
    def _one_form(self) -> BornIn:
        tensors = (self.dielectric is not None, self.charges_e is not None)
        if any(tensors) != all(tensors) or (self.text is None) != all(tensors):
            raise ValueError("give either text, or dielectric and charges_e")
        return self


class PhononOptions(Params):
    """Options of phonons."""

    relax: bool = Field(
        default=True,
        description="Relax atoms and cell first. Without it the structure must be relaxed already: "
        "forces above 0.001 eV/Å are refused.",
    )
    supercell: Annotated[list[Repeats], Field(min_length=3, max_length=3)] | None = Field(
        default=None,
        description="Repetitions of the cell along its vectors; chosen by the edge if absent.",
    )
    edge_angstrom: float | None = Field(
        default=None,
        ge=3,
        le=100,
        examples=[14.0],
        description="Least distance of an atom from its image, Å: 12 if absent, 15 with a code of "
        "density functional theory.",
    )
    distance_angstrom: float = Field(
        default=0.01, ge=1e-4, le=0.2, examples=[0.02], description="How far an atom is moved, Å."
    )
    mesh: int = Field(
        default=20,
        ge=1,
        le=200,
        description="Points along each reciprocal vector, for the density of states and the "
        "thermodynamic functions.",
    )
    temperature_max_k: float = Field(
        default=1000.0,
        gt=0,
        le=10_000,
        examples=[600.0],
        description="Highest temperature of the thermodynamic functions, K.",
    )
    temperature_step_k: float = Field(
        default=10.0,
        ge=1,
        le=1000,
        examples=[20.0],
        description="Step of the temperatures, K.",
    )
    born: BornIn | None = Field(
        default=None,
        description="Born charges and the dielectric tensor of a polar crystal, in the axes of the "
        "structure: they split LO from TO.",
    )
    fmax_ev_per_a: TightForceLimit = Field(
        default=1e-3,
        description="Largest force on an atom that the relaxation may leave, eV/Å.",
    )
    smax_gpa: TightStressLimit = Field(
        default=1e-3,
        description="Largest component of the stress that the relaxation may leave, GPa.",
    )
    max_steps: MaxSteps = Field(default=500, description="Steps before the relaxation gives up.")
    optimizer: Optimizer = Field(default="LBFGS", description="How steps are chosen.")
