"""The ``inputs`` of a job of the code ``espresso``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, ClassVar, Final, Literal

from pydantic import Field, StringConstraints

from crystalmath.codes.options import Options
from crystalmath.contract.dynamics import Pressure, Thermostat, Timestep
from crystalmath.contract.relaxation import CellFreedom, ForceLimit, MaxSteps, StressLimit

TASKS: Final = ("scf", "nscf", "bands", "relax", "vc-relax", "md", "vc-md")
"""What ``calculation`` may be."""
MOVING: Final = frozenset({"relax", "vc-relax", "md", "vc-md"})
RELAXING: Final = frozenset({"relax", "vc-relax"})
NEEDS_DENSITY: Final = frozenset({"nscf", "bands"})
"""They start from the charge density of an scf run."""

_ABSOLUTE: Final = r"^/[^\x00]*$"
_KEY: Final = r"^[a-z]\w{0,30}\.[a-z][\w%]{0,60}(\([0-9, ]{1,20}\))?$"
_ONE_LINE: Final = r"^[^\x00-\x1f\x7f]*$"
_Absolute = Annotated[str, StringConstraints(pattern=_ABSOLUTE, max_length=4096)]
_Key = Annotated[str, StringConstraints(pattern=_KEY, max_length=120)]
_Text = Annotated[str, StringConstraints(pattern=_ONE_LINE, max_length=1000)]
_ELEMENT: Final = r"^[A-Z][a-z]?$"
_Element = Annotated[str, StringConstraints(pattern=_ELEMENT)]
_PSEUDO: Final = r"^(/[^\x00-\x1f\x7f]*/)?[^/\x00-\x20\x7f'\"]+$"
_Pseudo = Annotated[str, StringConstraints(pattern=_PSEUDO, max_length=4096)]
_FAMILY: Final = r"^[^\x00-\x1f\x7f]+$"
_Family = Annotated[str, StringConstraints(pattern=_FAMILY, max_length=255)]
_Cutoff = Annotated[float, Field(ge=1, le=100_000)]
_Moment = Annotated[float, Field(ge=-20, le=20)]
_Fractions = Annotated[
    list[Annotated[float, Field(ge=-1000, le=1000)]], Field(min_length=3, max_length=3)
]


class DeckOptions(Options):
    """How a deck is written for a structure."""

    FORMS: ClassVar[Mapping[str, str]] = {
        _ABSOLUTE: "must be an absolute path",
        _KEY: "the name must be namelist.variable in lower case, like electrons.mixing_beta",
        _ONE_LINE: "must be one line without control characters",
        _ELEMENT: "must be a chemical symbol",
        _PSEUDO: "must be the name of a file without spaces, or its absolute path",
        _FAMILY: "must be a name without control characters",
    }
    pseudos: dict[_Element, _Pseudo] = Field(
        default_factory=dict,
        max_length=120,
        description="Element → its pseudopotential: a file of ESPRESSO_PSEUDO or of the job, or an "
        "absolute path.",
    )
    pseudo_family: _Family | None = Field(
        default=None,
        description="In ESPRESSO_PSEUDO: a sub-directory, a table X.json like those of SSSP, or "
        "what the names ELEMENT.FAMILY.UPF have in common.",
    )
    ecutwfc_ry: _Cutoff | None = Field(
        default=None,
        description="Cutoff of the wave functions, Ry; that of the table or of the "
        "pseudopotentials, if they have one.",
    )
    ecutrho_ry: _Cutoff | None = Field(
        default=None,
        description="Cutoff of the density, Ry; 4 times that of the wave functions with "
        "norm-conserving pseudopotentials, else 8 times, unless the table says otherwise.",
    )
    k_spacing_inv_angstrom: float | None = Field(
        default=None,
        ge=0.01,
        le=5,
        description="Largest distance of k points, with the factor 2π, 1/Å; 0.30, for a metal "
        "0.20.",
    )
    k_mesh: list[Annotated[int, Field(ge=1, le=1000)]] | None = Field(
        default=None, min_length=3, max_length=3, description="The mesh itself, three sizes."
    )
    k_shift: list[Literal[0, 1]] | None = Field(
        default=None,
        min_length=3,
        max_length=3,
        description="Per axis 1 where the mesh lies half a step beside Γ; 0 0 0.",
    )
    k_points: list[_Fractions] | None = Field(
        default=None,
        min_length=1,
        max_length=20_000,
        description="For nscf and bands: the points themselves, as fractions of the reciprocal "
        "vectors; bands have the path of the lattice if they are left out.",
    )
    smearing: (
        Literal[
            "none",
            "gaussian",
            "methfessel-paxton",
            "marzari-vanderbilt",
            "fermi-dirac",
            "tetrahedra",
        ]
        | None
    ) = Field(
        default=None,
        description="Of the occupations; marzari-vanderbilt for metals and with moments, else "
        "none. Tetrahedra are for nscf.",
    )
    degauss_ry: float | None = Field(
        default=None, gt=0, le=1, description="Width of the smearing, Ry; 0.02."
    )
    moments_mu_b: dict[_Element, _Moment] | list[_Moment] | None = Field(
        default=None,
        max_length=10_000,
        description="Magnetic moments to start from, in μB: of elements, or one per atom in the "
        "order of the structure. They make the calculation spin-polarised.",
    )
    total_magnetization_mu_b: float | None = Field(
        default=None, ge=-10_000, le=10_000, description="Total moment of the cell, held fixed, μB."
    )
    charge: int = Field(default=0, ge=-50, le=50, description="Of the cell, in e.")
    n_bands: int | None = Field(
        default=None,
        ge=1,
        le=100_000,
        description="Bands; with fixed occupations some empty ones, so that a missing gap is seen.",
    )
    conv_thr_ry_per_atom: float = Field(
        default=1e-10, gt=0, le=1e-3, description="The SCF converges to this, Ry per atom."
    )
    max_scf_steps: int = Field(default=100, ge=1, le=10_000, description="Iterations of an SCF.")
    mixing_beta: float | None = Field(default=None, gt=0, le=1, description="Of the SCF; 0.7.")
    fmax_ev_per_a: ForceLimit = Field(
        default=0.005,
        description="Relaxed when no force on an atom is larger, in eV/Å (length of the vector),",
    )
    smax_gpa: StressLimit = Field(
        default=0.05,
        description="and, in a vc-relax, no component of the stress is larger, in GPa.",
    )
    cell: CellFreedom | None = Field(
        default=None,
        description="What the cell may do in a vc-relax: change freely, its volume only or its "
        "shape only; it is fixed in a relax.",
    )
    max_steps: MaxSteps = Field(default=200, description="Geometries before it gives up.")
    keep_symmetry: bool = Field(
        default=True,
        description="pw.x keeps the symmetry that it finds in the structure; else it uses none.",
    )
    pressure_gpa: Pressure = Field(
        default=0.0, description="Pressure that a vc-relax goes to, GPa."
    )
    ensemble: Literal["nve", "nvt"] = Field(
        default="nvt",
        description="Of an md: temperature kept by stochastic velocity rescaling, or energy.",
    )
    steps: int = Field(default=100, ge=1, le=10_000_000, description="Steps of an md.")
    timestep_fs: Timestep = Field(
        default=1.0, description="Length of a step, in fs; 0.5 with hydrogen."
    )
    temperature_k: float = Field(
        default=300.0,
        gt=0,
        le=20_000,
        description="Of the first velocities and of the thermostat, in K.",
    )
    thermostat_fs: Thermostat = Field(
        default=100.0, description="How slowly the thermostat acts, in fs."
    )
    symprec_angstrom: float = Field(
        default=0.01, ge=1e-5, le=0.5, description="Tolerance of the symmetry search for the mesh."
    )
    vacuum_angstrom: float = Field(
        default=10.0,
        ge=4,
        le=100,
        description="Empty space around a molecule that has no cell, on each side.",
    )
    values: dict[_Key, bool | int | float | _Text] = Field(
        default_factory=dict,
        max_length=200,
        description="Values to set in the deck, e.g. electrons.mixing_beta: 0.3.",
    )


class EspressoOptions(DeckOptions):
    """``inputs`` of the code ``espresso``; with a deck of the user, the physics stands there."""

    deck: str | None = Field(
        default=None,
        max_length=1024,
        description="Which of the files is the deck; the first one that ends in .in, .pwi or .pw "
        "if absent.",
    )
    save_from: _Absolute | None = Field(
        default=None,
        description="Directory that holds PREFIX.save of an scf run, or one whose out/ does; "
        "needed by nscf and bands.",
    )
    executable: _Absolute | None = Field(
        default=None, description="The program pw.x; looked up in PATH if absent."
    )
    npool: int | None = Field(
        default=None, ge=1, le=100_000, description="Pools of k points (-npool)."
    )
