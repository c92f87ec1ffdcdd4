"""Params and result of ``materials.generate_d3``: a wave function, and its properties."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, Field, StringConstraints, model_validator

from crystalmath.contract.d12 import Factor, check_line, check_records
from crystalmath.contract.jobs import AbsolutePath, check_text
from crystalmath.contract.rpc import Model, Params

Band = Annotated[int, Field(ge=1, le=1_000_000, examples=[1])]
Ordinal = Annotated[int, Field(ge=1, le=1_000_000, examples=[1])]
Step = Annotated[int, Field(ge=-10_000, le=10_000, examples=[0])]


class WaveIn(Params):
    """The deck of the wave function: a path or a text."""

    path: AbsolutePath | None = Field(default=None, description="A `.d12` on this machine.")
    text: Annotated[str, AfterValidator(check_text)] | None = Field(
        default=None, description="The deck itself, at most 8 MiB."
    )

    @model_validator(mode="after")
    def _exactly_one(self) -> WaveIn:
        if (self.path is None) == (self.text is None):
            raise ValueError("give exactly one of path, text")
        return self


class BandStructure(Params):
    """Bands along a path in reciprocal space."""

    title: (
        Annotated[str, StringConstraints(min_length=1, max_length=80), AfterValidator(check_line)]
        | None
    ) = Field(default=None, description="Of the plot; made of the path.")
    bands: tuple[Band, Band] | None = Field(
        default=None,
        strict=False,
        description="First and last band; all, where the deck has an inline basis set.",
    )
    points: int = Field(
        default=200, ge=2, le=100_000, examples=[200], description="Along the whole path."
    )
    path: (
        Annotated[str, StringConstraints(pattern=r"^[A-Z][A-Z0-9,-]*$", max_length=200)] | None
    ) = Field(
        default=None,
        description="Special points, a comma at each break: G-X-W-K,U-X or GXWK,UX; that of "
        "the lattice.",
        examples=["GX"],
    )
    segments: list[Annotated[list[Step], Field(min_length=6, max_length=6)]] | None = Field(
        default=None,
        min_length=1,
        max_length=1000,
        description="Instead of a path: both ends of each, in units of 1/`iss` of the reciprocal "
        "vectors of the primitive cell.",
    )
    iss: int | None = Field(
        default=None, ge=1, le=10_000, examples=[8], description="Unit of `segments`."
    )


class Projection(Params):
    """A part of the density of states: atoms or orbitals of the primitive cell."""

    atoms: list[Ordinal] | None = Field(
        default=None, min_length=1, max_length=1000, description="Counted from 1."
    )
    orbitals: list[Ordinal] | None = Field(
        default=None, min_length=1, max_length=1000, description="Counted from 1."
    )

    @model_validator(mode="after")
    def _exactly_one(self) -> Projection:
        if (self.atoms is None) == (self.orbitals is None):
            raise ValueError("give exactly one of atoms, orbitals")
        return self


class DensityOfStates(Params):
    """The density of states, whole and of parts."""

    bands: tuple[Band, Band] | None = Field(
        default=None,
        strict=False,
        description="First and last band; all, where the deck has an inline basis set.",
    )
    energies_hartree: (
        tuple[
            Annotated[float, Field(ge=-10_000, le=10_000, examples=[-0.5])],
            Annotated[float, Field(ge=-10_000, le=10_000, examples=[0.5])],
        ]
        | None
    ) = Field(default=None, strict=False, description="Instead of bands: a range of energies.")
    points: int = Field(
        default=1000, ge=2, le=100_000, examples=[1000], description="Along the energies."
    )
    polynomials: int = Field(
        default=14, ge=0, le=25, examples=[14], description="Legendre polynomials of the expansion."
    )
    projections: list[Projection] = Field(
        default_factory=list, max_length=15, description="Parts, at most 15."
    )


class D3Options(Params):
    """What a deck of properties shall ask for."""

    band: BandStructure | None = Field(default=None, description="Bands.")
    dos: DensityOfStates | None = Field(default=None, description="Density of states.")
    shrink: list[Factor] | None = Field(
        default=None,
        min_length=2,
        max_length=3,
        description="Mesh of NEWK: IS and ISP, or three values of IS; twice that of the wave "
        "function.",
    )
    extra: list[
        Annotated[
            str, StringConstraints(min_length=1, max_length=100_000), AfterValidator(check_records)
        ]
    ] = Field(
        default_factory=list,
        max_length=100,
        description="Raw records, like those of ECHG: a keyword and what belongs to it.",
    )


class GenerateD3Params(Params):
    """A wave function, and what shall be calculated of it."""

    deck: WaveIn = Field(description="The deck of the wave function.")
    options: D3Options = Field(description="What to calculate.")


class D3Report(Model):
    """What the deck holds, and what was decided on the way to it."""

    properties: list[str] = Field(description="Keywords, in their order.")
    path: str | None = Field(default=None, description="Special points of the bands.")
    special_points: dict[str, list[float]] = Field(
        default_factory=dict,
        description="In reciprocal vectors of the primitive cell, as they are written.",
    )
    newk: list[int] | None = Field(default=None, description="Mesh of NEWK, then ISP.")
    wave: list[int] | None = Field(
        default=None, description="Mesh of the wave function, then ISP; unknown where left out."
    )
    n_atoms_primitive: int | None = Field(default=None, description="Atoms of the primitive cell.")
    n_orbitals: int | None = Field(
        default=None, description="Orbitals, and so bands, of the primitive cell."
    )
    warnings: list[str] = Field(description="What a referee would ask about.")


class D3Result(Model):
    """A deck of properties."""

    d3: str = Field(description="The text of the deck.")
    report: D3Report = Field(description="What it holds.")
