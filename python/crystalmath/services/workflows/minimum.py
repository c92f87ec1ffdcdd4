"""The steps that lead to a minimum: what kinds of workflow begin with.

Used by ``kinds``; the jobs themselves are those of ``calculations``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from crystalmath.services.ports_workflows import NewStep, Use
from crystalmath.services.workflows.calculations import (
    VASP,
    Criteria,
    relaxation,
    same_mesh,
    single_point,
)
from crystalmath.services.workflows.computations import OWN_BASIS
from crystalmath.services.workflows.plan import Plan, computation


@dataclass(frozen=True, slots=True)
class Start:
    """What a kind begins with.

    Attributes
    ----------
    gives
        The step whose output is the structure to go on from, with its energy, forces and stress.
    """

    steps: tuple[NewStep, ...]
    gives: str


def relaxed(plan: Plan, relaxation: NewStep, criteria: Criteria | None = None) -> Start:
    """A relaxation, and what makes its energy, forces and stress those of its last cell.

    VASP keeps the plane waves of the first cell. So a calculation with those of the last one comes
    behind it; pw.x does the same within its job.

    Parameters
    ----------
    criteria
        Of what starts from the minimum, and needs forces as small with those plane waves: the atoms
        are relaxed with them. None: they stay where they are.
    """
    if not keeps_first_basis(plan, relaxation):
        return Start((relaxation,), relaxation.name)
    end = in_own_basis(plan, relaxation, f"{relaxation.name}-energy")
    if criteria is not None:
        end = atoms_in_own_basis(plan, relaxation, criteria)
    joined = NewStep(
        name="minimum",
        title="the relaxed structure, with its own plane waves",
        kind="computation",
        action=computation(OWN_BASIS),
        uses={"relaxed": Use(step=relaxation.name), "final": Use(step=end.name)},
    )
    return Start((relaxation, end, joined), joined.name)


def keeps_first_basis(plan: Plan, relaxation: NewStep) -> bool:
    """Whether a relaxation ends with the plane waves of another cell than its last one."""
    moved = relaxation.action["inputs"].get("cell", "fixed") != "fixed"
    return plan.code == VASP and moved


def in_own_basis(
    plan: Plan, relaxation: NewStep, name: str, mesh: Sequence[int] | None = None
) -> NewStep:
    """The calculation of what a relaxation ended with, with the plane waves of its cell."""
    return NewStep(
        name=name,
        title=f"{relaxation.title}: energy, forces and stress with the plane waves of its cell",
        kind="job",
        action=single_point(plan, same_mesh(plan, mesh)),
        uses={"structure": Use(step=relaxation.name, path=("structure",))},
    )


def atoms_in_own_basis(plan: Plan, before: NewStep, criteria: Criteria) -> NewStep:
    """The relaxation of the atoms in the cell that a relaxation ended with."""
    return NewStep(
        name=f"{before.name}-atoms",
        title=f"{before.title}: the atoms with the plane waves of its cell",
        kind="job",
        action=relaxation(plan, criteria, "fixed"),
        uses={"structure": Use(step=before.name, path=("structure",))},
    )


def relax_first(plan: Plan, criteria: Criteria) -> Start:
    """The step ``relax`` that kinds begin with: atoms and cell to their minimum."""
    action = relaxation(plan, criteria, "full")
    uses = {"structure": plan.start}
    step = NewStep("relax", "relaxation of atoms and cell", "job", action, uses)
    return relaxed(plan, step, criteria)


def start_at_minimum(plan: Plan) -> Start:
    """How a kind begins that starts from a minimum, and has the option ``relax``.

    The relaxation of atoms and cell, or the forces of a structure that is relaxed already.
    """
    if plan.options["relax"]:
        return relax_first(plan, Criteria.of(plan.options))
    uses = {"structure": plan.start}
    step = NewStep("start", "forces of the structure as it is", "job", single_point(plan), uses)
    return Start((step,), step.name)
