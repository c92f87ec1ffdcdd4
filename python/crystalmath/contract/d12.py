"""Params and result of ``materials.generate_d12``: a structure, and what the deck shall compute."""

from __future__ import annotations

import math
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    StringConstraints,
    field_validator,
)

from crystalmath.contract.jobs import StructureIn, check_text
from crystalmath.contract.rpc import Model, Params

DeckDimension = Literal["auto", "crystal", "slab", "polymer", "molecule", "external"]
Grid = Literal["OLDGRID", "DEFAULT", "LGRID", "XLGRID", "XXLGRID", "XXXLGRID", "HUGEGRID"]


def _upper(value: object) -> object:
    return value.upper() if isinstance(value, str) else value


def check_line(value: str) -> str:
    """One line of plain characters."""
    if not value.isascii() or not value.isprintable():
        raise ValueError("must be one line of ASCII characters")
    return value


def check_records(value: str) -> str:
    """Lines of plain characters."""
    lines = check_text(value).splitlines()
    if not lines or not all(line.isascii() and line.isprintable() for line in lines):
        raise ValueError("must be lines of ASCII characters, without tabs")
    return value


def _check_toldee(value: float) -> float:
    exponent = -math.log10(value) if 0 < value < 1 else value
    if abs(exponent - round(exponent)) > 1e-6 or not 1 <= round(exponent) <= 16:
        raise ValueError("must be a whole number from 1 to 16, or the power of ten itself: 1e-8")
    return float(round(exponent))


Method = Annotated[
    Literal[
        "HF", "UHF", "DFT", "PBEH3C", "HSE3C", "B973C", "PBESOL03C", "HSESOL3C", "HF3C", "HFSOL3C",
        "R2SCANPOB3C", "R2SCAN0POB3C", "R2SCANSOL3C", "R2SCAN0SOL3C",
    ],
    BeforeValidator(_upper),
]  # fmt: skip
Word = Annotated[str, StringConstraints(min_length=1, max_length=40), AfterValidator(check_line)]
Power = Annotated[
    float,
    Field(gt=0, le=16, allow_inf_nan=False, examples=[8.0]),
    AfterValidator(_check_toldee),
]
Tolerance = Annotated[int, Field(ge=1, le=100, examples=[7])]
Factor = Annotated[int, Field(ge=1, le=1000, examples=[8])]
Positive = Annotated[float, Field(gt=0, le=1, allow_inf_nan=False, examples=[0.0003])]
Atom = Annotated[str, StringConstraints(pattern=r"^[1-9][0-9]{0,5}$")]
SymbolOfElement = Annotated[str, StringConstraints(pattern=r"^[A-Za-z]{1,2}$")]


class OptGeom(Params):
    """Optimise the geometry."""

    type: Annotated[
        Literal["ATOMONLY", "FULLOPTG", "CELLONLY", "ITATOCEL", "CVOLOPT", "INTREDUN"],
        BeforeValidator(_upper),
    ] = Field(default="ATOMONLY", description="What moves.")
    toldeg: Positive = Field(default=3e-4, description="RMS of the gradient, hartree/bohr.")
    toldex: Positive = Field(default=1.2e-3, description="RMS of the displacement, bohr.")
    maxcycle: int = Field(default=100, ge=1, le=10_000, description="Steps at most.")
    finalrun: int = Field(
        default=4,
        ge=0,
        le=4,
        examples=[4],
        description="What follows when atoms left their neighbours.",
    )


Ends = Annotated[
    list[Annotated[int, Field(ge=-10_000, le=10_000)]], Field(min_length=2, max_length=6)
]
SupercellRow = Annotated[
    list[Annotated[int, Field(ge=-100, le=100)]], Field(min_length=1, max_length=3)
]


class PhononBands(Params):
    """Lines in reciprocal space along which frequencies are asked for."""

    iss: int = Field(ge=1, le=1000, description="Unit: the integers are in 1/ISS.")
    nsub: int = Field(ge=2, le=10_000, description="Points along the whole path.")
    segments: list[Ends] = Field(
        min_length=1,
        max_length=100,
        description="Each segment's two ends: one integer per periodic direction and point.",
    )


class PhononDispersion(Params):
    """Frequencies away from Γ, from a supercell."""

    supercell: list[SupercellRow] = Field(
        min_length=1,
        max_length=3,
        description="Rows of the supercell matrix: 3×3 for a crystal, 2×2 for a slab, 1×1.",
    )
    bands: PhononBands | None = Field(default=None, description="Where to give frequencies.")


class FreqCalc(Params):
    """Compute vibrational frequencies."""

    numderiv: int = Field(default=2, ge=1, le=2, examples=[2], description="Points per derivative.")
    intens: bool = Field(default=False, description="Infrared intensities.")
    raman: bool = Field(default=False, description="Raman intensities, which include infrared.")
    temperat: tuple[int, float, float] | None = Field(
        default=None,
        strict=False,
        examples=[[3, 100.0, 300.0]],
        description="Number of temperatures, first and last, K.",
    )
    isotopes: dict[Atom, Annotated[float, Field(gt=0, le=400, allow_inf_nan=False)]] | None = Field(
        default=None, max_length=1000, description="Atom of the input, from 1 → its mass in u."
    )
    preoptgeom: OptGeom | None = Field(default=None, description="Optimise first.")
    dispersion: PhononDispersion | None = Field(default=None, description="Away from Γ.")

    @field_validator("temperat")
    @classmethod
    def _temperatures(
        cls, value: tuple[int, float, float] | None
    ) -> tuple[int, float, float] | None:
        if value is not None and not (1 <= value[0] <= 10_000 and 0 < value[1] <= value[2] < 1e5):
            raise ValueError("must be a number of temperatures, the first and the last in K")
        return value


class ElastCon(Params):
    """Compute the elastic constants."""

    preoptgeom: OptGeom | None = Field(default=None, description="Optimise first.")
    numderiv: int = Field(default=3, ge=2, le=10, examples=[3], description="Points per strain.")


class Eos(Params):
    """Compute the energy at several volumes, relaxed at each."""

    vmin: float = Field(
        default=0.94, ge=0.5, lt=1, examples=[0.94], description="Smallest volume, as a ratio."
    )
    vmax: float = Field(
        default=1.06, gt=1, le=1.5, examples=[1.06], description="Largest volume, as a ratio."
    )
    points: int = Field(default=9, ge=5, le=50, examples=[9], description="Number of volumes.")
    preoptgeom: OptGeom | None = Field(default=None, description="Optimise first.")


class OpenShell(Params):
    """Different orbitals for the two spins."""

    n_alpha_minus_beta: int | None = Field(
        default=None, ge=-1000, le=1000, description="The difference of electrons in the cell."
    )
    lock_cycles: int | None = Field(
        default=None, ge=1, le=10_000, description="Cycles for which it is locked; 10 if left out."
    )
    atom_spins: dict[Atom, Literal[-1, 0, 1]] | None = Field(
        default=None, max_length=1000, description="Atom of the input, from 1 → its spin."
    )


class ExtraRecords(Params):
    """Raw records: a keyword, and its data on the lines behind."""

    section: Literal["geometry", "scf"] = Field(description="Where they go.")
    text: Annotated[str, StringConstraints(max_length=100_000), AfterValidator(check_records)] = (
        Field(description="The records, one a line.")
    )


class D12Options(Params):
    """What a CRYSTAL deck shall compute, and how."""

    title: (
        Annotated[str, StringConstraints(min_length=1, max_length=80), AfterValidator(check_line)]
        | None
    ) = Field(default=None, description="First record; made of formula and group.")
    dimension: DeckDimension = Field(
        default="auto", description="What repeats; `auto` looks at the empty space in the cell."
    )
    symprec_angstrom: float = Field(
        default=0.01,
        ge=1e-5,
        le=0.5,
        examples=[0.01],
        description="Tolerance of the symmetry search.",
    )
    method: Method = Field(default="DFT", description="Hamiltonian, or a composite method.")
    functional: Word = Field(
        default="PBE", description="Of DFT: a name like PBE0, or a pair like PBE/LYP."
    )
    grid: Annotated[Grid, BeforeValidator(_upper)] | None = Field(
        default=None, description="Of DFT; XLGRID, for frequencies and elastic constants XXLGRID."
    )
    dispersion: Literal["none", "D3"] = Field(default="none", description="Correction.")
    basis: (
        Word
        | dict[
            SymbolOfElement,
            Annotated[str, StringConstraints(min_length=1, max_length=200_000)],
        ]
    ) = Field(
        default="POB-TZVP-REV2",
        description="Name of a library of CRYSTAL, or element → text of its basis set or the "
        "name of a set of basis_set_exchange.",
    )
    k_spacing_inv_angstrom: float | None = Field(
        default=None,
        ge=0.01,
        le=5,
        examples=[0.25],
        description="Between points; 0.30, for a metal 0.20.",
    )
    shrink: list[Factor] | None = Field(
        default=None, min_length=2, max_length=3, description="IS and ISP, or three values of IS."
    )
    metal: bool = Field(default=False, description="Whether bands are partly filled.")
    tolinteg: list[Tolerance] | None = Field(
        default=None, min_length=5, max_length=5, description="Tolerances of integrals."
    )
    toldee: Power | None = Field(
        default=None, description="Energy converged to 1e-this hartree: 8 (or 1e-8)."
    )
    maxcycle: int = Field(default=200, ge=1, le=10_000, description="SCF cycles at most.")
    fmixing: int = Field(
        default=30, ge=0, le=100, examples=[30], description="Mixing of the old matrix, percent."
    )
    smear_hartree: float | None = Field(
        default=None,
        ge=1e-4,
        le=0.05,
        examples=[0.005],
        description="Smearing of the occupations of a metal.",
    )
    spin: Literal["closed", "open"] | OpenShell | None = Field(
        default=None, description="`closed`, `open`, or an open shell in detail."
    )
    charge: int = Field(default=0, ge=-50, le=50, description="Of the cell, in e.")
    accelerator: Annotated[Literal["DIIS", "ANDERSON", "BROYDEN"], BeforeValidator(_upper)] = Field(
        default="DIIS", description="Of the SCF."
    )
    levshift: (
        tuple[
            Annotated[int, Field(ge=1, le=100, examples=[1])],
            Annotated[int, Field(ge=0, le=1, examples=[1])],
        ]
        | None
    ) = Field(default=None, strict=False, description="Level shift in 0.1 hartree, and its lock.")
    guess: bool = Field(default=False, description="Start from the density of a `.f9`.")
    optgeom: OptGeom | None = Field(default=None, description="Optimise the geometry.")
    freqcalc: FreqCalc | None = Field(default=None, description="Vibrational frequencies.")
    elastcon: ElastCon | None = Field(default=None, description="Elastic constants.")
    eos: Eos | None = Field(default=None, description="Equation of state.")
    extra: list[
        Annotated[
            str, StringConstraints(min_length=1, max_length=100_000), AfterValidator(check_records)
        ]
        | ExtraRecords
    ] = Field(default_factory=list, max_length=100, description="Raw records of your own.")


class GenerateD12Params(Params):
    """A structure, and what its deck shall compute."""

    structure: StructureIn = Field(description="The structure.")
    options: D12Options = Field(default_factory=D12Options, description="What to compute.")


class D12Report(Model):
    """What the deck holds, and what was decided on the way to it."""

    dimension: str = Field(description="CRYSTAL, SLAB, POLYMER, MOLECULE or EXTERNAL.")
    dimension_reason: str = Field(description="Why this dimension was taken.")
    space_group: dict[str, Any] | None = Field(
        default=None, description="Number and symbol of the space or layer group of the structure."
    )
    group: int | None = Field(default=None, description="The group as the deck declares it.")
    hall: str | None = Field(default=None, description="Hall symbol of the setting.")
    symprec_angstrom: float = Field(description="Tolerance of the symmetry search.")
    max_displacement: float = Field(description="How far an atom was moved at most, Å.")
    transformation: list[list[float]] | None = Field(
        default=None, description="From fractions of the input to those of the deck."
    )
    origin_shift: list[float] | None = Field(default=None, description="Added after it.")
    n_asymmetric: int = Field(description="Sites that the deck lists.")
    multiplicities: list[int] = Field(description="Atoms of the cell that each of them makes.")
    n_atoms: int = Field(description="Atoms of the cell that the group describes.")
    n_atoms_primitive: int = Field(description="Atoms of the primitive cell.")
    basis: str = Field(description="Library, or `inline`.")
    shrink: list[int] | None = Field(default=None, description="Mesh, then ISP.")
    warnings: list[str] = Field(description="What a referee would ask about.")
    verified: bool = Field(description="The deck was read back and gave the structure.")


class D12Result(Model):
    """A CRYSTAL deck."""

    d12: str = Field(description="The text of the deck.")
    gui: str | None = Field(
        default=None, description="The geometry file (fort.34) of an EXTERNAL deck."
    )
    report: D12Report = Field(description="What it holds.")
