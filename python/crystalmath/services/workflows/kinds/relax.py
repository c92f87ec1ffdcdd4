"""Relaxation of atoms and cell: one job, then its symmetry before and after."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pydantic import BaseModel

from crystalmath.contract.workflow_options.relax import RelaxOptions
from crystalmath.services.ports_workflows import NewStep, Use
from crystalmath.services.workflows.calculations import (
    CRYSTAL,
    ESPRESSO,
    FORCES,
    VASP,
    Criteria,
    relaxation,
)
from crystalmath.services.workflows.computations import RELAX_REPORT
from crystalmath.services.workflows.minimum import relaxed
from crystalmath.services.workflows.plan import Plan, computation


class Relax:
    """See ``plan.Procedure``."""

    kind = "relax"
    title = "Relaxation"
    summary = "Atoms and cell at their minimum, with the symmetry before and after."
    options: type[BaseModel] = RelaxOptions
    codes = frozenset({FORCES, ESPRESSO, VASP, CRYSTAL})
    result = "report"
    crystals_only = False

    def first_steps(self, plan: Plan) -> Sequence[NewStep]:
        """The relaxation, and the report on it."""
        options = plan.options
        kept = {"keep_symmetry": options["keep_symmetry"]} if plan.code == FORCES else {}
        relax = NewStep(
            name="relax",
            title="relaxation",
            kind="job",
            action=relaxation(plan, Criteria.of(options), options["cell"], **kept),
            uses={"structure": plan.start},
        )
        start = relaxed(plan, relax)
        report = NewStep(
            name="report",
            title="symmetry and results",
            kind="computation",
            action=computation(RELAX_REPORT, provenance=plan.provenance, cell=options["cell"]),
            uses={"before": plan.start, "relaxed": Use(step=start.gives)},
        )
        return *start.steps, report

    def next_steps(self, plan: Plan, step: str, output: Any) -> Sequence[NewStep]:
        """None."""
        return ()
