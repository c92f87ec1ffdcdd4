"""Elastic constants: relax, strain the cell, relax the atoms in each strained cell, fit.

Which strains are needed depends on the symmetry of the relaxed crystal.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pydantic import BaseModel

from crystalmath.contract.workflow_options.elastic import ElasticOptions
from crystalmath.services.ports_workflows import NewStep, Use
from crystalmath.services.workflows.calculations import (
    ESPRESSO,
    FORCES,
    VASP,
    Criteria,
    has_uneven_moments,
    moments_refused,
    relaxation,
    same_mesh,
)
from crystalmath.services.workflows.computations import ELASTIC_FIT, ELASTIC_STRAIN
from crystalmath.services.workflows.minimum import start_at_minimum
from crystalmath.services.workflows.plan import Plan, computation


class Elastic:
    """See ``plan.Procedure``."""

    kind = "elastic"
    title = "Elastic constants"
    summary = (
        "Stiffness from the stress of strained cells with their atoms relaxed; Born stability, and "
        "the moduli of a polycrystal."
    )
    options: type[BaseModel] = ElasticOptions
    codes = frozenset({FORCES, ESPRESSO, VASP})
    result = "fit"
    crystals_only = True

    def first_steps(self, plan: Plan) -> Sequence[NewStep]:
        """The relaxation, or the stress of the structure as it is, and the strains.

        Raises
        ------
        InvalidParams
            Moments that break the symmetry by which the strains are chosen.
        """
        if has_uneven_moments(plan):
            raise moments_refused(
                plan,
                "atoms with different moments have a lower symmetry than the one by which strains "
                "are chosen and constants are fitted",
            )
        start = start_at_minimum(plan)
        strains = NewStep(
            name="strains",
            title="choice of the strains",
            kind="computation",
            action=computation(ELASTIC_STRAIN, sizes=plan.options["sizes"]),
            uses={"relaxed": Use(step=start.gives)},
        )
        return *start.steps, strains

    def next_steps(self, plan: Plan, step: str, output: Any) -> Sequence[NewStep]:
        """A relaxation of the atoms in each strained cell, and the fit to all of them."""
        if step != "strains":
            return ()
        mesh = same_mesh(plan, output["k_mesh"])
        in_cell = relaxation(plan, Criteria.of(plan.options), "fixed", **mesh)
        names = [f"strain-{i}" for i in range(1, len(output["structures"]) + 1)]
        jobs = [
            NewStep(
                name=name,
                title=f"strain {strain['name']}",
                kind="job",
                action=in_cell,
                uses={"structure": Use(step="strains", path=("structures", i))},
            )
            for i, (name, strain) in enumerate(zip(names, output["strains"], strict=True))
        ]
        fit = NewStep(
            name="fit",
            title="fit of the elastic constants",
            kind="computation",
            action=computation(ELASTIC_FIT, provenance=plan.provenance),
            uses={
                "before": plan.start,
                "relaxed": Use(step=start_at_minimum(plan).gives),
                "strained": Use(step="strains"),
                "points": tuple(Use(step=name) for name in names),
            },
        )
        return *jobs, fit
