"""The ``inputs`` of a job of the code ``vasp``, and what its generator takes of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, ClassVar, Final, Literal

from pydantic import Field, StringConstraints

from crystalmath.codes.options import Options

TASKS: Final = ("static", "relax", "bands", "dos", "md")
"""What VASP is asked for; ``md`` and others come with an INCAR of the user."""
GENERATED: Final = ("static", "relax", "bands", "dos")
"""Tasks that inputs are written for."""
NEEDS_DENSITY: Final = frozenset({"bands", "dos"})
"""They start from the charge density of a static run."""

SET_OF_TASK: Final = {
    "static": "MPStaticSet",
    "relax": "MPRelaxSet",
    "bands": "MPNonSCFSet",
    "dos": "MPNonSCFSet",
}
"""The input set that is taken where none is named."""
TASKS_OF_SET: Final = {
    "MPRelaxSet": ("relax", "static"),
    "MPStaticSet": ("static",),
    "MP24RelaxSet": ("relax", "static"),
    "MatPESStaticSet": ("static",),
    "MPNonSCFSet": ("bands", "dos"),
    "MVLSlabSet": ("relax", "static"),
}
"""What each set is taken for; of a relaxation's set a static run has the accuracy."""
SetName = Literal[
    "MPRelaxSet", "MPStaticSet", "MP24RelaxSet", "MatPESStaticSet", "MPNonSCFSet", "MVLSlabSet"
]

_ABSOLUTE: Final = r"^/[^\x00]*$"
_TAG: Final = r"^[A-Z][A-Z0-9_]{0,40}$"
_ELEMENT: Final = r"^[A-Z][a-z]?$"
_LABEL: Final = r"^[A-Z][a-z]?([._][A-Za-z0-9._]{1,20})?$"
_FUNCTIONAL: Final = r"^[A-Za-z][A-Za-z0-9_]{1,30}$"
_ONE_LINE: Final = r"^[^\x00-\x1f\x7f;#!=]*$"
_Absolute = Annotated[str, StringConstraints(pattern=_ABSOLUTE, max_length=4096)]
_Tag = Annotated[str, StringConstraints(pattern=_TAG)]
_Element = Annotated[str, StringConstraints(pattern=_ELEMENT)]
_Label = Annotated[str, StringConstraints(pattern=_LABEL)]
_Text = Annotated[str, StringConstraints(pattern=_ONE_LINE, max_length=20_000)]
_Number = bool | int | float
_Divisions = Annotated[int, Field(ge=1, le=500)]

_FORMS: Final[Mapping[str, str]] = {
    _ABSOLUTE: "must be an absolute path",
    _TAG: "the name must be a tag of INCAR in upper case, like ENCUT",
    _ELEMENT: "must be the symbol of an element",
    _LABEL: "must be the label of a potential, like Mg_pv",
    _FUNCTIONAL: "must be the name of a set of potentials, like PBE_54",
    _ONE_LINE: "must be one line without ; # ! =",
}


class VaspInputs(Options):
    """What the generator of inputs takes, beside the structure and the task."""

    FORMS: ClassVar[Mapping[str, str]] = _FORMS
    set: SetName | None = Field(
        default=None,
        description="Input set of pymatgen; if absent MPStaticSet for static, MPRelaxSet for "
        "relax, MPNonSCFSet for bands and dos.",
    )
    incar: dict[_Tag, _Number | _Text | list[_Number | _Text]] = Field(
        default_factory=dict,
        max_length=200,
        description="Tags of INCAR that differ from the set's, e.g. ENCUT: 600.",
    )
    kpoints: list[_Divisions] | None = Field(
        default=None,
        min_length=3,
        max_length=3,
        description="Γ-centred mesh, one number per reciprocal vector.",
    )
    k_spacing_inv_angstrom: float | None = Field(
        default=None,
        ge=0.01,
        le=5.0,
        description="Largest distance of neighbouring k points, with 2π, in 1/Å; a Γ-centred mesh "
        "with the symmetry of the crystal.",
    )
    potcars: dict[_Element, _Label] = Field(
        default_factory=dict,
        max_length=118,
        description="Potential of an element, e.g. Mg: Mg_pv; the set's own if absent.",
    )
    potcar_functional: Annotated[str, StringConstraints(pattern=_FUNCTIONAL)] | None = Field(
        default=None,
        description="Set of potentials, like PBE, PBE_54, PBE_64 or LDA; the input set's if "
        "absent, PBE for decks.",
    )
    fmax_ev_per_a: float | None = Field(
        default=None,
        gt=0.0,
        le=10.0,
        description="Largest force that a relaxation may end with (EDIFFG), in eV/Å.",
    )
    max_steps: int | None = Field(
        default=None, ge=1, le=100_000, description="Most steps of a relaxation (NSW)."
    )
    cell: Literal["full", "fixed", "constant_volume", "isotropic"] | None = Field(
        default=None, description="What a relaxation does with the cell (ISIF)."
    )


class VaspOptions(VaspInputs):
    """``inputs`` of the code ``vasp``."""

    executable: _Absolute | None = Field(
        default=None, description="The program; vasp_std in PATH if absent."
    )
    flavour: Literal["std", "gam", "ncl"] = Field(
        default="std", description="Which program: vasp_std, vasp_gam (Γ only) or vasp_ncl."
    )
    density_from: _Absolute | None = Field(
        default=None,
        description="Directory of a static run with its CHGCAR; needed by bands and dos.",
    )
    atom_order: list[Annotated[int, Field(ge=0)]] | None = Field(
        default=None,
        description="Of each atom in a given POSCAR its place in the results, from 0; a job that "
        "goes on has it where POSCAR has another order than the structure had.",
    )
