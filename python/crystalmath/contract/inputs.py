"""Params and result of ``materials.generate_inputs``: the input files of a code for a structure."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from crystalmath.contract.jobs import CodeName, Context, DryRunFile, StructureIn
from crystalmath.contract.rpc import Model, Params


class GenerateInputsParams(Params):
    """A structure, and what a code shall compute of it."""

    code: CodeName = Field(description="Which code reads the files: espresso or vasp.")
    structure: StructureIn = Field(description="The structure.")
    task: str | None = Field(
        default=None,
        max_length=64,
        description="What it shall do; scf, or what is most like it, if left out.",
    )
    options: dict[str, Any] = Field(
        default_factory=dict,
        description="How: the parameters that `codes.list` has for jobs with a structure.",
    )
    context: Context = Field(
        default_factory=dict, description="Variables of the client's environment that codes read."
    )
    in_place: bool = Field(
        default=False,
        description="Pseudopotentials are read where they lie, and the deck names that directory; "
        "else they belong into a folder beside it.",
    )


class PseudopotentialUsed(Model):
    """What stands for the core of an element."""

    element: str = Field(description="Chemical symbol.")
    file: str = Field(description="Name of the file.")
    kind: str | None = Field(default=None, description="NC, US or PAW.")
    functional: str | None = Field(default=None, description="Density functional it is made for.")
    z_valence: float | None = Field(default=None, description="Electrons outside the core.")
    sha256: str | None = Field(default=None, description="Of the file.")
    md5: str | None = Field(default=None, description="Of the file, as the program prints it.")


class InputsReport(Model):
    """What the files hold, and why."""

    code: str = Field(description="The code.")
    task: str = Field(description="The task.")
    formula: str = Field(description="Reduced formula in Hill order.")
    n_atoms: int = Field(description="Atoms in the cell.")
    repeats: list[bool] = Field(
        description="Along which vectors matter repeats; empty space lies along the others."
    )
    space_group: dict[str, Any] | None = Field(
        default=None, description="Number and symbol; none of a molecule."
    )
    symprec_angstrom: float = Field(description="Tolerance of the symmetry search.")
    k_mesh: list[int] | None = Field(default=None, description="Sizes of the mesh.")
    k_shift: list[int] | None = Field(
        default=None, description="1 where it lies half a step beside Γ."
    )
    k_points_from: str = Field(description="Why these points.")
    settings: dict[str, Any] = Field(
        default_factory=dict,
        description="Cutoffs and what else was settled: `value`, and why it is so, `from`.",
    )
    pseudopotentials: list[PseudopotentialUsed] = Field(
        default_factory=list, description="One per element."
    )
    warnings: list[str] = Field(description="What a referee would ask about.")


class GenerateInputsResult(Model):
    """Input files of a code."""

    files: list[DryRunFile] = Field(description="The files; the main one first.")
    report: InputsReport = Field(description="What they hold.")
