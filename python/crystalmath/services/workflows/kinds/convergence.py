"""Convergence: one calculation for each value of a parameter, and the first that is good enough.

A point that fails is left out and listed, so its job is not required.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from pydantic import BaseModel

from crystalmath.contract.workflow_options.convergence import ConvergenceOptions
from crystalmath.domain.convergence import TOLERANCES, Quantity
from crystalmath.errors import InvalidParams
from crystalmath.services.ports_workflows import NewStep, Use
from crystalmath.services.workflows.calculations import (
    CRYSTAL,
    ESPRESSO,
    FORCES,
    VASP,
    single_point,
    unit_of,
    varied,
)
from crystalmath.services.workflows.computations import CONVERGENCE_CHOICE, CONVERGENCE_SERIES
from crystalmath.services.workflows.plan import Plan, computation

QUANTITIES: Final[Mapping[str, Quantity]] = {
    "energy": "energy_per_atom_ev",
    "force": "force_ev_per_angstrom",
    "stress": "stress_gpa",
    "gap": "gap_ev",
}
_GIVES: Final = {
    FORCES: {"energy", "force", "stress"},
    ESPRESSO: {"energy", "force", "stress", "gap"},
    CRYSTAL: {"energy", "gap"},
    VASP: {"energy", "force", "stress", "gap"},
}
"""What a single calculation of each code gives."""


class Convergence:
    """See ``plan.Procedure``."""

    kind = "convergence"
    title = "Convergence"
    summary = (
        "How fine a cutoff, a mesh of k points, a smearing, a supercell, integrals or a basis set "
        "must be for energies, forces, stress or gap to stay within a tolerance."
    )
    options: type[BaseModel] = ConvergenceOptions
    codes = frozenset({FORCES, ESPRESSO, CRYSTAL, VASP})
    result = "choice"
    crystals_only = True

    def first_steps(self, plan: Plan) -> Sequence[NewStep]:
        """The points of the series."""
        options = plan.options
        given = {name: options[name] for name in ("parameter", "values")}
        given["unit"] = unit_of(plan, options["parameter"])
        return (
            NewStep(
                name="series",
                title="choice of the points",
                kind="computation",
                action=computation(CONVERGENCE_SERIES, **given),
                uses={"structure": plan.start},
            ),
        )

    def trial(self, plan: Plan) -> Mapping[str, Any]:
        """The job of the first value.

        Raises
        ------
        InvalidParams
            The code has no such parameter, or gives no such quantity.
        """
        parameter, quantity = plan.options["parameter"], plan.options["quantity"]
        if quantity not in _GIVES[plan.code]:
            raise InvalidParams(
                f"a calculation with {plan.engine or plan.code} gives no {quantity}",
                hint=f"it gives {', '.join(sorted(_GIVES[plan.code]))}",
                field="options.quantity",
            )
        if _is_mesh(plan):
            return single_point(plan, varied(plan, parameter, [2, 2, 2]))
        inputs = [varied(plan, parameter, value) for value in plan.options["values"]]
        return single_point(plan, inputs[0])

    def next_steps(self, plan: Plan, step: str, output: Any) -> Sequence[NewStep]:
        """A job for each point, and the choice among all of them."""
        if step != "series":
            return ()
        parameter = plan.options["parameter"]
        jobs = [
            NewStep(
                name=f"point-{i + 1}",
                title=point["setting"],
                kind="job",
                action=single_point(plan, varied(plan, parameter, point["value"])),
                uses={"structure": Use(step="series", path=("points", i, "structure"))},
                required=False,
            )
            for i, point in enumerate(output["points"])
        ]
        return *jobs, _choice(plan, [job.name for job in jobs])


def _is_mesh(plan: Plan) -> bool:
    return bool(plan.options["parameter"] == "k_spacing")


def _choice(plan: Plan, names: Sequence[str]) -> NewStep:
    quantity = QUANTITIES[plan.options["quantity"]]
    asked = {
        "parameter": plan.options["parameter"],
        "unit": unit_of(plan, plan.options["parameter"]),
        "quantity": quantity,
        "tolerance": plan.options["tolerance"] or TOLERANCES[quantity],
        "steps": list(names),
    }
    return NewStep(
        name="choice",
        title="the first converged point",
        kind="computation",
        action=computation(CONVERGENCE_CHOICE, asked=asked, provenance=plan.provenance),
        uses={
            "series": Use(step="series"),
            "outputs": tuple(Use(step=name) for name in names),
        },
    )
