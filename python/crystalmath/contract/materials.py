"""Params and results of ``materials.*``."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, Field, model_validator

from crystalmath.contract.jobs import AbsolutePath, StructureIn, check_text
from crystalmath.contract.rpc import Model, Params, Timestamp

Symprec = Annotated[
    float,
    Field(
        strict=False,
        ge=1e-5,
        le=0.5,
        allow_inf_nan=False,
        description="How far an atom may be from its idealised place, Å.",
    ),
]
Dimension = Literal["crystal", "slab", "polymer", "molecule"]
Written = Literal["cif", "poscar", "xyz", "extxyz", "xsf", "gui", "json"]


class InspectParams(Params):
    """A structure, and with which tolerance its symmetry is looked for."""

    structure: StructureIn = Field(description="The structure.")
    symprec_angstrom: Symprec = 0.01
    dimension: Dimension | None = Field(
        default=None,
        description="What it is; left out, 8 Å of empty space along an axis say that it does not "
        "repeat there.",
    )
    atoms: Literal["as_given", "conventional"] | None = Field(
        default=None, description="Whether to return the atoms as well, and of which cell."
    )


class Dimensions(Model):
    """In which directions a structure repeats."""

    kind: Dimension = Field(description="Its name by the number of directions.")
    periodic: list[bool] = Field(description="Along a, b, c of the file.")
    gaps_angstrom: list[float | None] | None = Field(
        default=None,
        description="Largest empty space along each axis, Å; null where the file does not repeat.",
    )
    decided_by: Literal["request", "file", "vacuum"] = Field(description="What decided it.")


class CellParameters(Model):
    """Lengths and angles of a cell."""

    a_angstrom: float = Field(description="Å.")
    b_angstrom: float = Field(description="Å.")
    c_angstrom: float = Field(description="Å.")
    alpha_degrees: float = Field(description="Between b and c.")
    beta_degrees: float = Field(description="Between a and c.")
    gamma_degrees: float = Field(description="Between a and b.")


class Cell(CellParameters):
    """The cell as it is given."""

    volume_angstrom3: float | None = Field(default=None, description="Of what has one, Å³.")
    density_g_per_cm3: float | None = Field(default=None, description="Of a crystal.")


class GroupName(Model):
    """A space group or layer group."""

    number: int = Field(description="1 to 230; of a layer 1 to 80, International Tables E.")
    symbol: str = Field(description="Hermann-Mauguin, short.")


class SymmetryFound(GroupName):
    """The group with a tolerance, and the way to its standard setting."""

    kind: Literal["space", "layer"] = Field(description="Of a crystal or of a layer.")
    hall: str = Field(description="Hall symbol of the setting.")
    choice: str | None = Field(
        default=None, description="2: origin choice, H: hexagonal axes, b1: unique axis and cell."
    )
    point_group: str = Field(description="Of the crystal or layer.")
    symprec_angstrom: float = Field(description="The tolerance, Å.")
    max_displacement_angstrom: float = Field(
        description="How far idealising moves the atom that moves most, Å."
    )
    max_strain: float = Field(description="Largest relative change of a length of the cell.")
    tighter: GroupName | None = Field(
        default=None, description="The group at a tenth of the tolerance, when it is another one."
    )
    transformation: list[list[float]] = Field(
        description="x(standard) = transformation · x(given) + origin_shift, fractional."
    )
    origin_shift: list[float] = Field(description="See transformation.")
    standard_cell: CellParameters = Field(description="The conventional cell, idealised.")
    atoms_primitive_cell: int = Field(description="Atoms of the primitive cell.")
    atoms_conventional_cell: int = Field(description="Atoms of the conventional cell.")


class Shell(Model):
    """Neighbours of one element at one distance (within 0.005 Å)."""

    symbol: str = Field(description="Their element.")
    distance_angstrom: float = Field(description="Mean, Å.")
    count: int = Field(description="How many.")


class SiteFound(Model):
    """An independent site; an atom, where no group was looked for."""

    symbol: str = Field(description="Element.")
    atom: int = Field(description="The first atom of the file that is on it, from 1.")
    fraction: list[float] | None = Field(default=None, description="In the standard cell.")
    multiplicity: int | None = Field(default=None, description="In the conventional cell.")
    wyckoff: str | None = Field(default=None, description="Wyckoff letter.")
    site_symmetry: str | None = Field(default=None, description="Its point group.")
    neighbours: list[Shell] = Field(description="From the nearest on.")
    oxidation_state_e: float | None = Field(default=None, description="As the file has it, e.")
    moment_mub: float | None = Field(default=None, description="As the file has it, μB.")
    mass_number: int | None = Field(default=None, description="Of an isotope that is named.")
    label: str | None = Field(default=None, description="What the file calls it.")


class AtomsFound(Model):
    """Every atom of a cell, to draw it."""

    cell: Literal["as_given", "conventional", "isolated"] = Field(
        description="`conventional`: of a crystal, idealised. `isolated`: what repeats in fewer "
        "than three directions, made whole and put into the middle, its repeating axes first."
    )
    lattice_angstrom: list[list[float]] | None = Field(
        default=None, description="Rows a, b, c in Å; null for a molecule."
    )
    periodic: list[bool] = Field(description="Along these axes.")
    symbols: list[str] = Field(description="Elements, one per atom.")
    positions_angstrom: list[list[float]] = Field(description="Cartesian, Å.")


class InspectResult(Model):
    """What a structure is."""

    formula: str = Field(description="Reduced, in Hill order.")
    cell_formula: str = Field(description="Of all atoms given.")
    n_atoms: int = Field(description="Atoms given.")
    elements: list[str] = Field(description="In alphabetical order.")
    dimensionality: Dimensions = Field(description="In which directions it repeats.")
    cell: Cell | None = Field(default=None, description="As given; null for a molecule.")
    symmetry: SymmetryFound | None = Field(
        default=None, description="Null for rods, molecules and more than 3000 atoms."
    )
    sites: list[SiteFound] = Field(description="The first 60 independent sites.")
    content_hash: str = Field(description="sha256 of cell, atoms in their order and their data.")
    source: dict[str, str] = Field(description="Where it came from and what read it.")
    warnings: list[str] = Field(default_factory=list, description="What a referee would ask about.")
    atoms: AtomsFound | None = Field(
        default=None, description="Where they were asked for; null for more than 3000."
    )


class ConvertParams(Params):
    """A structure and the format it is wanted in."""

    structure: StructureIn = Field(description="The structure.")
    format: Written = Field(description="What to write.")
    cell: Literal["as_given", "primitive", "conventional"] = Field(
        default="as_given", description="A standard cell is idealised; the result says how far."
    )
    symprec_angstrom: Symprec = 0.01
    vacuum_angstrom: float | None = Field(
        default=None,
        strict=False,
        ge=0.0,
        le=1000.0,
        allow_inf_nan=False,
        description="Empty space around what does not repeat, Å, for a format that needs a cell.",
    )


class ConvertSymmetry(GroupName):
    """The group whose standard cell was written."""

    symprec_angstrom: float = Field(description="The tolerance, Å.")
    max_displacement_angstrom: float = Field(
        description="How far idealising moved the atom that moved most, Å."
    )


class ConvertResult(Model):
    """A structure as the text of a file."""

    text: str = Field(description="The file.")
    format: Written = Field(description="Its format.")
    formula: str = Field(description="Reduced, in Hill order.")
    n_atoms: int = Field(description="Atoms written; a CIF with symmetry lists fewer.")
    order: list[int] = Field(
        description="Per atom of the cell that was written, its place in the file read, from 0."
    )
    symmetry: ConvertSymmetry | None = Field(
        default=None, description="Of a standard cell; null for the cell as given."
    )
    warnings: list[str] = Field(default_factory=list, description="What is lost, among others.")


class ImportStructureParams(Params):
    """A structure file to keep: a path, or a text with its format."""

    path: AbsolutePath | None = Field(default=None, description="A file on this machine.")
    text: Annotated[str, AfterValidator(check_text)] | None = Field(
        default=None, description="The content itself, at most 8 MiB."
    )
    format: str | None = Field(
        default=None, max_length=32, description="cif, poscar, xyz …; needed with `text`."
    )
    name: str | None = Field(
        default=None, min_length=1, max_length=100, description="For people; else the formula."
    )

    @model_validator(mode="after")
    def _exactly_one(self) -> ImportStructureParams:
        if (self.path is None) == (self.text is None):
            raise ValueError("give exactly one of path, text")
        if self.text is not None and self.format is None:
            raise ValueError("text needs its format")
        return self


class MaterialStored(Model):
    """A structure that the daemon keeps."""

    material: str = Field(description="Give it as `structure.material`.")
    name: str = Field(description="For people.")
    formula: str = Field(description="Reduced, in Hill order.")
    cell_formula: str = Field(description="Of all atoms.")
    n_atoms: int = Field(description="Atoms.")
    space_group: int | None = Field(
        default=None, description="At 0.01 Å; null for what is no crystal."
    )
    content_hash: str = Field(description="sha256 of cell, atoms in their order and their data.")
    created_at: Timestamp = Field(description="When it was taken in first.")


class ImportStructureResult(Model):
    """What was kept."""

    material: MaterialStored = Field(description="The structure.")
    known: bool = Field(description="Whether the very same structure was there already.")
    warnings: list[str] = Field(default_factory=list, description="From reading it.")
