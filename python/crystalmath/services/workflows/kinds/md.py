"""Molecular dynamics: the cell made large enough, one job, then averages of its frames."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pydantic import BaseModel

from crystalmath.contract.workflow_options.md import MdOptions
from crystalmath.services.ports_workflows import NewStep, Use
from crystalmath.services.workflows.calculations import FORCES, dynamics
from crystalmath.services.workflows.computations import MD_REPEAT, MD_REPORT
from crystalmath.services.workflows.plan import Plan, computation


class Md:
    """See ``plan.Procedure``."""

    kind = "md"
    title = "Molecular dynamics"
    summary = (
        "Atoms in motion at constant energy, temperature or pressure: averages after the start, "
        "with errors that know of correlation, and the drift of the energy."
    )
    options: type[BaseModel] = MdOptions
    codes = frozenset({FORCES})
    result = "report"
    crystals_only = False

    def first_steps(self, plan: Plan) -> Sequence[NewStep]:
        """The larger cell, the motion in it, and what it says."""
        options = plan.options
        larger = NewStep(
            name="cell",
            title="a cell that is large enough",
            kind="computation",
            action=computation(MD_REPEAT, edge_angstrom=options["edge_angstrom"]),
            uses={"structure": plan.start},
        )
        motion = NewStep(
            name="dynamics",
            title=f"{options['steps']} steps of {options['timestep_fs']:g} fs",
            kind="job",
            action=dynamics(plan),
            uses={"structure": Use(step="cell", path=("structure",))},
        )
        report = NewStep(
            name="report",
            title="averages",
            kind="computation",
            action=computation(MD_REPORT, options=dict(options), provenance=plan.provenance),
            uses={"cell": Use(step="cell"), "motion": Use(step="dynamics")},
        )
        return larger, motion, report

    def next_steps(self, plan: Plan, step: str, output: Any) -> Sequence[NewStep]:
        """None."""
        return ()
