"""Options of the workflow ``convergence``."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from pydantic import Field, StringConstraints, model_validator

from crystalmath.contract.rpc import Params

Parameter = Literal["cutoff", "k_spacing", "degauss", "supercell", "shrink", "tolinteg", "basis"]
WatchedQuantity = Literal["energy", "force", "stress", "gap"]
_Number = Annotated[float, Field(gt=0, le=1e5)]
_Word = Annotated[str, StringConstraints(min_length=1, max_length=64, pattern=r"^[^\x00-\x1f]+$")]
WORDS: Final = frozenset({"tolinteg", "basis"})
"""Parameters whose values are no numbers."""
COUNTS: Final = frozenset({"supercell", "shrink"})
"""Parameters whose values are whole numbers."""


class ConvergenceOptions(Params):
    """Options of a convergence series."""

    parameter: Parameter = Field(
        description="What is varied: `cutoff` of the plane waves (Ry; eV with VASP), `k_spacing` "
        "(largest distance of k points, with the factor 2π, 1/Å), `degauss` (width of the "
        "smearing, Ry; eV with VASP), "
        "`supercell` (how often the cell is repeated along each vector); of CRYSTAL `shrink` "
        "(IS), `tolinteg` (five whole numbers) and `basis` (names of its library).",
        examples=["cutoff"],
    )
    values: list[_Number | _Word] = Field(
        min_length=3,
        max_length=30,
        examples=[[10.0, 15.0, 20.0, 25.0, 30.0]],
        description="Numbers in any order; what is no number, like `7 7 7 7 14`, from coarse to "
        "fine.",
    )
    quantity: WatchedQuantity = Field(
        default="energy",
        description="What shall be converged: energy per atom, forces on atoms, "
        "stress, or band gap.",
    )
    tolerance: float | None = Field(
        default=None,
        gt=0,
        le=1e3,
        examples=[5e-4],
        description="How near to the finest value is near enough; 0.001 eV per atom, 0.01 eV/Å, "
        "0.1 GPa and 0.02 eV if absent.",
    )

    @model_validator(mode="after")
    def _of_one_kind(self) -> ConvergenceOptions:
        wanted: type = str if self.parameter in WORDS else float
        for value in self.values:
            if not isinstance(value, wanted):
                needs = "texts" if wanted is str else "numbers"
                raise ValueError(f"`options.values` of {self.parameter} are {needs}")
        if len(set(self.values)) < len(self.values):
            raise ValueError("one of `options.values` is there twice")
        if self.parameter in COUNTS and any(float(value) % 1 for value in self.values):
            raise ValueError(f"`options.values` of {self.parameter} are whole numbers")
        return self
