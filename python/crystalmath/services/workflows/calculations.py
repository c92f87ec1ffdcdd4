"""The calculations that workflows are made of, in the words of each code.

A kind says what it needs: energy, forces and stress of a structure, or a structure at its minimum.
How a job of the code is asked for that stands here, and nowhere else.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from crystalmath.services.ports_workflows import NewStep
from crystalmath.services.workflows.plan import Plan

FORCES: Final = "forces"
"""The code that computes with force engines."""
ESPRESSO: Final = "espresso"


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


def single_point(plan: Plan) -> dict[str, Any]:
    """A job that gives energy, forces and, of a crystal, stress."""
    return plan.job("scf" if plan.code == ESPRESSO else "single_point", {})


def relaxation(plan: Plan, criteria: Criteria, cell: str | None, **more: Any) -> dict[str, Any]:
    """A job that gives a structure at its minimum, with the forces and the stress that are left.

    Parameters
    ----------
    cell
        What the cell may do, see ``contract.relaxation``; None leaves it to the code.
    more
        Further inputs that all codes understand.
    """
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


def start_at_minimum(plan: Plan) -> NewStep:
    """The first step of a kind that starts from a minimum, and has the option ``relax``.

    The relaxation of atoms and cell, or the forces of a structure that is relaxed already.
    """
    uses = {"structure": plan.start}
    if plan.options["relax"]:
        action = relaxation(plan, Criteria.of(plan.options), "full")
        return NewStep("relax", "relaxation of atoms and cell", "job", action, uses)
    return NewStep("start", "forces of the structure as it is", "job", single_point(plan), uses)


def dynamics(plan: Plan) -> dict[str, Any]:
    """A job that moves the atoms in time, as the options of the kind ``md`` say."""
    given = {name: value for name, value in plan.options.items() if name != "edge_angstrom"}
    return plan.job("md", given)
