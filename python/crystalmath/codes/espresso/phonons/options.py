"""The ``inputs`` of the task ``ph``."""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import BaseModel, Field

from crystalmath.codes.espresso.options import DeckOptions, EspressoOptions

TASK: Final = "ph"
_Fraction = Annotated[float, Field(ge=-100, le=100)]


class Response(BaseModel):
    """What ph.x is asked for, however its SCF comes about."""

    q_point: list[_Fraction] | None = Field(
        default=None,
        min_length=3,
        max_length=3,
        description="The wave vector, as fractions of the reciprocal vectors; Γ if absent.",
    )
    tr2_ph: float = Field(
        default=1e-14, gt=0, le=1e-8, description="The response converges to this."
    )
    epsil: bool = Field(
        default=False,
        description="At Γ of an insulator: the dielectric tensor and the Born charges, too.",
    )
    scf_conv_thr_ry: float = Field(
        default=1e-12,
        gt=0,
        le=1e-6,
        description="The SCF before it converges to this at least, Ry for the cell.",
    )


class PhononDeckOptions(DeckOptions, Response):
    """How the decks of an SCF and of ph.x are written for a structure."""


class PhononOptions(EspressoOptions, Response):
    """The inputs of every job of pw.x, and those of this task."""

    ph_executable: str | None = Field(
        default=None,
        pattern=r"^/[^\x00]*$",
        max_length=4096,
        description="The program ph.x; beside pw.x, else looked up in PATH, if absent.",
    )


OWN: Final = (*Response.model_fields, "ph_executable")
"""What this task takes beside the inputs of every job of pw.x."""


def is_asked(task: str | None) -> bool:
    """Whether a task is that of ph.x."""
    return task is not None and task.lower() == TASK
