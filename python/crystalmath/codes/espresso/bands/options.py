"""The ``inputs`` of the task ``band_structure``."""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import Field

from crystalmath.codes.espresso.options import EspressoOptions

TASK: Final = "band_structure"
OWN: Final = ("k_path", "mesh_factor", "n_bands")
"""What this task takes beside the inputs of every job of pw.x."""
LEAST_FACTOR: Final = 2
"""How much denser the mesh is, at least, than that of the SCF."""

_Fraction = Annotated[float, Field(ge=-100, le=100)]


class BandStructureOptions(EspressoOptions):
    """The inputs of every job of pw.x, and those of this task."""

    k_path: list[tuple[_Fraction, _Fraction, _Fraction]] = Field(
        min_length=2,
        max_length=20_000,
        description="The k points of the bands: fractions of the reciprocal vectors of the cell.",
    )
    mesh_factor: int | None = Field(
        default=LEAST_FACTOR,
        ge=LEAST_FACTOR,
        le=10,
        description="The mesh of the SCF, this many times denser and with Γ, is computed too; null "
        "leaves it out.",
    )
    n_bands: int | None = Field(
        default=None,
        ge=1,
        le=100_000,
        description="Number of bands; those that the electrons fill and some more if absent.",
    )
