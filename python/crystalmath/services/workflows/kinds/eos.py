"""Equation of state: relax, strain to several volumes, relax at each, fit.

The volumes are those around the relaxed one, so their jobs are known only when it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pydantic import BaseModel

from crystalmath.contract.workflow_options.eos import EosOptions
from crystalmath.services.ports_workflows import NewStep, Use
from crystalmath.services.workflows.calculations import FORCES, Criteria, relaxation
from crystalmath.services.workflows.computations import EOS_FIT, EOS_STRAIN
from crystalmath.services.workflows.plan import Plan, computation


class Eos:
    """See ``plan.Procedure``."""

    kind = "eos"
    title = "Equation of state"
    summary = (
        "Energy over volume: equilibrium volume, bulk modulus and its pressure derivative, with "
        "atoms and shape relaxed at each volume."
    )
    options: type[BaseModel] = EosOptions
    codes = frozenset({FORCES})
    result = "fit"
    crystals_only = True

    def first_steps(self, plan: Plan) -> Sequence[NewStep]:
        """The relaxation, and the volumes around its end."""
        options = plan.options
        relax = NewStep(
            name="relax",
            title="relaxation of atoms and cell",
            kind="job",
            action=relaxation(plan, Criteria.of(options), "full"),
            uses={"structure": plan.start},
        )
        volumes = NewStep(
            name="volumes",
            title="choice of the volumes",
            kind="computation",
            action=computation(EOS_STRAIN, points=options["points"], reach=options["reach"]),
            uses={"relaxed": Use(step="relax")},
        )
        return relax, volumes

    def next_steps(self, plan: Plan, step: str, output: Any) -> Sequence[NewStep]:
        """A job for each volume, and the fit to all of them."""
        if step != "volumes":
            return ()
        at_volume = relaxation(plan, Criteria.of(plan.options), "constant_volume")
        names = [f"volume-{i}" for i in range(1, len(output["structures"]) + 1)]
        jobs = [
            NewStep(
                name=name,
                title=f"{100 * change:+.1f} % in volume",
                kind="job",
                action=at_volume,
                uses={"structure": Use(step="volumes", path=("structures", i))},
            )
            for i, (name, change) in enumerate(zip(names, output["changes"], strict=True))
        ]
        fit = NewStep(
            name="fit",
            title="fit of the equation of state",
            kind="computation",
            action=computation(EOS_FIT, provenance=plan.provenance),
            uses={
                "relaxed": Use(step="relax"),
                "points": tuple(Use(step=name) for name in names),
            },
        )
        return *jobs, fit
