"""The jobs of VASP in a workflow: one accuracy for all of them, and what a user may not set.

All calculations of a workflow have the cutoff, the smearing and the set of one another, static runs
as well as relaxations; what a procedure rests on cannot be set from outside. Used by
``calculations``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any, Final

from crystalmath.errors import InvalidParams
from crystalmath.services.workflows.plan import Plan

VASP: Final = "vasp"
RELAXING_SETS: Final = ("MPRelaxSet", "MP24RelaxSet")
"""Input sets that have inputs for relaxations and static runs alike; the first is the default."""
_TAGS: Final[Mapping[str, Any]] = {
    "PREC": "Accurate",
    "ALGO": "Normal",
    "LREAL": False,
    "ISMEAR": 0,
    "SIGMA": 0.05,
    "LWAVE": False,
    "LCHARG": False,
}
"""Forces and stress that can be compared; the tetrahedron method has none for metals."""
_TIGHT_FROM: Final = 1e-3
_EDIFF_EV: Final = 1e-6
_TIGHT_EDIFF_EV: Final = 1e-8
"""Where forces below ``_TIGHT_FROM`` eV/Å are asked for."""

_WHY: Final[Mapping[str, str]] = {
    **dict.fromkeys(
        ("NSW", "IBRION", "ISIF", "NFREE"), "what moves is decided by each step of the workflow"
    ),
    "EDIFFG": "a relaxation ends at the force of the workflow's options",
    "PSTRESS": "the procedure starts from a crystal without pressure",
    "ICHARG": "each calculation finds its own charge density",
    "KSPACING": "all steps have one mesh",
    "LEPSILON": "the procedure is made of energies, forces and stress",
    "LCALCEPS": "the procedure is made of energies, forces and stress",
    "IMAGES": "the procedure is made of single cells",
}
"""Tags that would make another procedure of it, and why."""
_HINTS: Final = {
    "EDIFFG": "give `options.fmax_ev_per_a`",
    "KSPACING": "give `inputs.k_spacing_inv_angstrom`",
}
_OF_STEPS: Final = ("fmax_ev_per_a", "max_steps", "cell")
_PER_CELL: Final = ("NELECT", "NUPDOWN", "NBANDS")
"""Tags that belong to a whole cell, and grow with it."""
_GRID: Final = ("NGX", "NGY", "NGZ", "NGXF", "NGYF", "NGZF")
"""Tags of the grid of one cell, which is too coarse for a larger one."""
_NO_MAGMOM: Final = "leave MAGMOM out: the input set gives each element its moment"
_BY_INCAR: Final = ", by `incar`;"
"""In what a job says of a tag that differs from the input set."""
_NO_GRID: Final = "leave it out: VASP chooses the grid of each cell by PREC"
_VARIED_TAG: Final = {"cutoff": "ENCUT", "degauss": "SIGMA"}
VARIED: Final = {**_VARIED_TAG, "k_spacing": "kpoints", "supercell": ""}
"""The input for a parameter of a series; empty where the structure says it all."""


def job(plan: Plan, task: str, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """The action of a step: tags of the workflow, above them those of the user.

    Parameters
    ----------
    inputs
        What the step sets. Its ``incar`` outweighs the user's.

    Raises
    ------
    InvalidParams
        An input that the procedure does not allow.
    """
    _check(plan)
    fmax = plan.options.get("fmax_ev_per_a")
    tight = fmax is not None and fmax <= _TIGHT_FROM
    tags = {**_TAGS, "EDIFF": _TIGHT_EDIFF_EV if tight else _EDIFF_EV}
    tags |= {**_incar(plan), **inputs.get("incar", {})}
    chosen = plan.inputs.get("set") or RELAXING_SETS[0]
    return plan.job(task, {**inputs, "set": chosen, "incar": tags})


def relaxation(plan: Plan, fmax_ev_per_a: float, max_steps: int, **more: Any) -> dict[str, Any]:
    """A job that relaxes; it ends by the forces, which is all that VASP has a limit for."""
    return job(plan, "relax", {"fmax_ev_per_a": fmax_ev_per_a, "max_steps": max_steps, **more})


def with_mesh(mesh: Sequence[int]) -> dict[str, Any]:
    """The inputs that give a job this mesh, around Γ."""
    return {"kpoints": list(mesh), "k_spacing_inv_angstrom": None}


def same_mesh(plan: Plan, mesh: Sequence[int] | None) -> dict[str, Any]:
    """See ``calculations.same_mesh``."""
    return {} if mesh is None or plan.inputs.get("kpoints") is not None else with_mesh(mesh)


def spacing_of(plan: Plan) -> dict[str, float]:
    """See ``calculations.spacing_of``: the input set has a density, which counts each cell anew."""
    spacing = plan.inputs.get("k_spacing_inv_angstrom")
    if isinstance(spacing, int | float):
        return {"k_spacing_inv_angstrom": float(spacing)}
    if plan.inputs.get("kpoints") is None:
        raise InvalidParams(
            "without the relaxation nothing says which mesh of k points all volumes have",
            hint="give `inputs.kpoints` or `inputs.k_spacing_inv_angstrom`",
            field="inputs.kpoints",
        )
    return {}


def varied(plan: Plan, parameter: str, value: Any) -> dict[str, Any]:
    """The inputs that set a parameter of a series.

    Raises
    ------
    InvalidParams
        It is set for all of the series, or has no meaning with what is set.
    """
    incar = _incar(plan)
    if parameter == "k_spacing":
        for name in ("kpoints", "k_spacing_inv_angstrom"):
            if plan.inputs.get(name) is not None:
                raise _set_already(f"inputs.{name}", "the mesh of k points")
        return with_mesh(value)
    tag = _VARIED_TAG[parameter]
    if tag in incar:
        raise _set_already(f"inputs.incar.{tag}", tag)
    if parameter == "degauss" and str(incar.get("ISMEAR", 0)).strip() in ("-4", "-5", "-14", "-15"):
        raise InvalidParams(
            f"ISMEAR = {incar['ISMEAR']}, the tetrahedron method, has no width to vary",
            hint="leave it out: the series has ISMEAR = 0, the smearing of Gauss",
            field="inputs.incar.ISMEAR",
        )
    return {"incar": {tag: value}}


def check_supercell(plan: Plan) -> None:
    """Refuse tags that fit one cell alone.

    Raises
    ------
    InvalidParams
    """
    incar = _incar(plan)
    for tag in ("MAGMOM", *_GRID):
        if tag in incar:
            raise InvalidParams(
                f"{tag} is that of the cell, and the workflow computes larger ones",
                hint=_NO_MAGMOM if tag == "MAGMOM" else _NO_GRID,
                field=f"inputs.incar.{tag}",
            )
    for tag in _PER_CELL:
        value = incar.get(tag, 1)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise InvalidParams(
                f"{tag} must be a number, to grow with the cell",
                hint=f"e.g. {tag}: 12",
                field=f"inputs.incar.{tag}",
            )


def of_supercell(
    plan: Plan, sizes: Sequence[int], mesh: Sequence[int] | None = None
) -> dict[str, Any]:
    """The inputs of a job of a supercell that those of its cell do not fit.

    Parameters
    ----------
    mesh
        That of the cell, as a calculation had it; the one that is given outweighs it.

    Raises
    ------
    InvalidParams
        Tags that fit one cell alone.
    """
    check_supercell(plan)
    incar = _incar(plan)
    found: dict[str, Any] = {}
    grown = {tag: incar[tag] * prod(sizes) for tag in _PER_CELL if tag in incar}
    if grown:
        found["incar"] = grown
    given = plan.inputs.get("kpoints") or mesh
    if isinstance(given, list) and len(given) == 3 and all(isinstance(n, int) for n in given):
        found |= with_mesh([-(-points // size) for points, size in zip(given, sizes, strict=True)])
    return found


def told(plan: Plan, warnings: Sequence[str]) -> tuple[str, ...]:
    """Warnings of a job, in which tags that the workflow sets are not said to be the user's."""
    given = _incar(plan)
    return tuple(
        one.replace(_BY_INCAR, ", by the workflow;", 1)
        if one.partition(":")[0] not in given
        else one
        for one in warnings
    )


def moments_refused(why: str) -> InvalidParams:
    """The refusal of moments of single atoms."""
    return InvalidParams(why, hint=_NO_MAGMOM, field="inputs.incar.MAGMOM")


def moments(plan: Plan) -> list[float]:
    """The moments of single atoms, of MAGMOM; empty where none are given."""
    given = _incar(plan).get("MAGMOM")
    words = given if isinstance(given, list) else str(given or "").split()
    found: list[float] = []
    for word in words:
        count, star, value = str(word).rpartition("*")
        try:
            found += [float(value)] * (int(count) if star else 1)
        except ValueError:
            return []  # refused where the job is checked
    return found


def _check(plan: Plan) -> None:
    incar = _incar(plan)
    for tag, why in _WHY.items():
        if tag in incar:
            raise InvalidParams(
                f"{tag} cannot be set for a workflow: {why}",
                hint=_HINTS.get(tag, "leave it out"),
                field=f"inputs.incar.{tag}",
            )
    for name in (*_OF_STEPS, "density_from", "atom_order"):
        if plan.inputs.get(name) is not None:
            raise InvalidParams(
                f"`inputs.{name}` cannot be set for a workflow: its steps set it",
                hint=f"give `options.{name}`" if name in plan.options else "leave it out",
                field=f"inputs.{name}",
            )
    chosen = plan.inputs.get("set")
    if chosen is not None and "max_steps" in plan.options and chosen not in RELAXING_SETS:
        raise InvalidParams(
            f"the steps of the workflow relax and stand still, and {str(chosen)[:60]} is not for "
            "both",
            hint=f"one of {', '.join(RELAXING_SETS)}",
            field="inputs.set",
        )


def _incar(plan: Plan) -> Mapping[str, Any]:
    """The tags that the user gave.

    Raises
    ------
    InvalidParams
        They are no tags with values.
    """
    given = plan.inputs.get("incar")
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise InvalidParams(
            "`inputs.incar` must hold tags with their values",
            hint="e.g. {ENCUT: 600}",
            field="inputs.incar",
        )
    return given


def _set_already(field: str, what: str) -> InvalidParams:
    return InvalidParams(
        f"{what} is varied by the series, and was set for all of it",
        hint="leave it out, or vary something else",
        field=field,
    )
