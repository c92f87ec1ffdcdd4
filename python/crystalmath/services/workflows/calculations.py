"""The calculations that workflows are made of, in the words of each code.

A kind says what it needs: energy, forces and stress of a structure, or a structure at its minimum.
How a job of the code is asked for that stands here, and nowhere else.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Any, Final

from crystalmath.errors import InvalidParams
from crystalmath.services.workflows import crystal, vasp
from crystalmath.services.workflows.plan import Plan

FORCES: Final = "forces"
"""The code that computes with force engines."""
ESPRESSO: Final = "espresso"
CRYSTAL: Final = "crystal"
VASP: Final = vasp.VASP

_SINGLE_POINT: Final = {FORCES: "single_point", VASP: "static"}
"""Task that gives energy, forces and stress, where its name is not ``scf``."""


@dataclass(frozen=True, slots=True)
class Criteria:
    """When a relaxation is at its end: eV/Å, GPa, steps."""

    fmax_ev_per_a: float
    smax_gpa: float
    max_steps: int
    optimizer: str

    @classmethod
    def of(cls, options: Mapping[str, Any]) -> Criteria:
        """Those among the options of a kind."""
        return cls(**{name: options[name] for name in cls.__slots__})


_VARIED: Final[Mapping[str, Mapping[str, str]]] = {
    FORCES: {"supercell": ""},
    ESPRESSO: {
        "cutoff": "ecutwfc_ry",
        "degauss": "degauss_ry",
        "k_spacing": "k_mesh",
        "supercell": "",
    },
    CRYSTAL: {"tolinteg": "tolinteg", "basis": "basis", "shrink": "shrink"},
    VASP: vasp.VARIED,
}
"""The input of each code for a parameter of a series; empty where the structure says it all."""


UNITS: Final[Mapping[str, Mapping[str, str]]] = {
    ESPRESSO: {"cutoff": "Ry", "degauss": "Ry"},
    VASP: {"cutoff": "eV", "degauss": "eV"},
}
"""Of the values of a series, where each code has its own."""


def unit_of(plan: Plan, parameter: str) -> str:
    """The unit of the values of a parameter; empty for a pure number."""
    return "1/Å" if parameter == "k_spacing" else UNITS.get(plan.code, {}).get(parameter, "")


def varied(plan: Plan, parameter: str, value: Any) -> dict[str, Any]:
    """The inputs that set a parameter, in the words of the code.

    Parameters
    ----------
    value
        Of ``k_spacing`` the mesh that the spacing gives.

    Raises
    ------
    InvalidParams
        The code has no such parameter.
    """
    names = _VARIED[plan.code]
    if parameter not in names:
        raise InvalidParams(
            f"{plan.engine or plan.code} has no {parameter}",
            hint=f"what can be varied: {', '.join(names)}",
            field="options.parameter",
        )
    if plan.code == CRYSTAL:
        return crystal.varied(plan, names[parameter], value)
    if parameter == "supercell":
        return of_supercell(plan, [int(value)] * 3)
    if plan.code == VASP:
        return vasp.varied(plan, parameter, value)
    return {names[parameter]: value}


_PER_CELL: Final = ("total_magnetization_mu_b", "charge", "n_bands")
"""Inputs of pw.x that belong to a whole cell, and grow with it."""


def of_supercell(
    plan: Plan, sizes: Sequence[int], mesh: Sequence[int] | None = None
) -> dict[str, Any]:
    """The inputs of a job of a supercell that those of its cell do not fit.

    A mesh of k points that was given becomes coarser; a spacing needs no change. Charge, total
    moment and number of bands are those of all cells together.

    Parameters
    ----------
    mesh
        That of the cell, as a calculation had it; of VASP, whose input set chooses it.
    """
    if plan.code == VASP:
        return vasp.of_supercell(plan, sizes, mesh)
    given = plan.inputs
    scaled = {name: given[name] * prod(sizes) for name in _PER_CELL if given.get(name) is not None}
    mesh = given.get("k_mesh")
    if mesh is not None:
        pairs = zip(mesh, sizes, strict=True)
        scaled["k_mesh"] = [-(-points // size) for points, size in pairs]
    return scaled


def check_supercell(plan: Plan) -> None:
    """Refuse inputs that fit the given cell alone, where larger ones are computed.

    Raises
    ------
    InvalidParams
    """
    if plan.code == VASP:
        vasp.check_supercell(plan)


def of_primitive(plan: Plan, cells: int) -> dict[str, Any]:
    """The inputs of a job of a primitive cell, of which the given cell holds so many.

    Raises
    ------
    InvalidParams
        A number of bands that does not divide.
    """
    given = {name: plan.inputs[name] for name in _PER_CELL if plan.inputs.get(name) is not None}
    bands = given.pop("n_bands", None)
    scaled = {name: value / cells for name, value in given.items()}
    if bands is None:
        return scaled
    if bands % cells:
        raise InvalidParams(
            f"{bands} bands cannot be divided among the {cells} primitive cells of the structure",
            hint="give `options.n_bands`, which is that of the primitive cell",
            field="inputs.n_bands",
        )
    return {**scaled, "n_bands": bands // cells}


def same_mesh(plan: Plan, mesh: Sequence[int] | None) -> dict[str, Any]:
    """The inputs that give cells of slightly different size one mesh of k points.

    A spacing would give some of them another mesh than others, and with it a step in the energy.

    Parameters
    ----------
    mesh
        That of the calculation that they are compared with; None where it has none.
    """
    if plan.code == VASP:
        return vasp.same_mesh(plan, mesh)
    if mesh is not None and plan.code == CRYSTAL:
        return crystal.same_mesh(plan, mesh)
    if mesh is None or plan.code != ESPRESSO or plan.inputs.get("k_mesh") is not None:
        return {}
    return {"k_mesh": list(mesh), "k_spacing_inv_angstrom": None}


def spacing_of(plan: Plan) -> dict[str, float]:
    """The distance of k points by which cells get one mesh that nothing was computed of before.

    Raises
    ------
    InvalidParams
        Nothing says which mesh that is, and the code would give each cell another one.
    """
    return vasp.spacing_of(plan) if plan.code == VASP else {}


def has_uneven_moments(plan: Plan) -> bool:
    """Whether atoms were given moments that differ: symmetry finds them equal nonetheless."""
    return len({value for value in moments_of_atoms(plan) if value}) > 1


def moments_of_atoms(plan: Plan) -> Sequence[float]:
    """Moments that were given atom by atom; empty where there are none."""
    if plan.code == VASP:
        return vasp.moments(plan)
    moments = plan.inputs.get("moments_mu_b")
    if plan.code == CRYSTAL:
        moments = crystal.spins_of_atoms(plan)
    return moments if isinstance(moments, list) else ()


def moments_refused(plan: Plan, why: str) -> InvalidParams:
    """The refusal of moments that do not fit the cells of a workflow, with what to give instead."""
    if plan.code == VASP:
        return vasp.moments_refused(why)
    return InvalidParams(
        why,
        hint="give moments of elements: {Ni: 2}, or those of atoms in the structure",
        field="inputs.moments_mu_b",
    )


def told(plan: Plan, warnings: Sequence[str]) -> tuple[str, ...]:
    """Warnings of a job in the words of its workflow, which has chosen some of its inputs."""
    return vasp.told(plan, warnings) if plan.code == VASP else tuple(warnings)


def single_point(plan: Plan, inputs: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """A job that gives energy, forces and, of a crystal, stress.

    Parameters
    ----------
    inputs
        Further inputs, in the words of the code.
    """
    if plan.code == VASP:
        return vasp.job(plan, _SINGLE_POINT[VASP], inputs or {})
    return plan.job(_SINGLE_POINT.get(plan.code, "scf"), inputs or {})


def relaxation(plan: Plan, criteria: Criteria, cell: str | None, **more: Any) -> dict[str, Any]:
    """A job that gives a structure at its minimum, with the forces and the stress that are left.

    Parameters
    ----------
    cell
        What the cell may do, see ``contract.relaxation``; None leaves it to the code.
    more
        Further inputs that all codes understand.
    """
    if plan.code == VASP:
        moves = {} if cell is None else {"cell": cell}
        return vasp.relaxation(plan, criteria.fmax_ev_per_a, criteria.max_steps, **moves, **more)
    if plan.code == CRYSTAL:
        limits = (criteria.fmax_ev_per_a, criteria.max_steps)
        return crystal.relaxation(plan, *limits, cell or "full")
    given: dict[str, Any] = {
        "fmax_ev_per_a": criteria.fmax_ev_per_a,
        "smax_gpa": criteria.smax_gpa,
        "max_steps": criteria.max_steps,
        **more,
    }
    if cell is not None:
        given["cell"] = cell
    if plan.code == FORCES:
        given["optimizer"] = criteria.optimizer
        return plan.job("relax", given)
    return plan.job("relax" if cell == "fixed" else "vc-relax", given)


def at_volume(
    plan: Plan, criteria: Criteria, free: str, mesh: Sequence[int] | None = None
) -> dict[str, Any]:
    """A job that gives the least energy at a fixed volume.

    Parameters
    ----------
    free
        What the symmetry leaves free there, see ``analysis.procedures.freedom``. A code moves
        nothing else: the plane waves of each volume are then those of its own cell, and OPTGEOM
        wants something to move.
    mesh
        See :func:`same_mesh`.
    """
    plan = replace(plan, inputs={**plan.inputs, **same_mesh(plan, mesh)})
    if plan.code == FORCES or free == "shape":
        return relaxation(plan, criteria, "constant_volume")
    return relaxation(plan, criteria, "fixed") if free == "atoms" else single_point(plan)


def dynamics(plan: Plan) -> dict[str, Any]:
    """A job that moves the atoms in time, as the options of the kind ``md`` say."""
    given = {name: value for name, value in plan.options.items() if name != "edge_angstrom"}
    return plan.job("md", given)
