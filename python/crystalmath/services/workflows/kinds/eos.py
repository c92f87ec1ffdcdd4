"""Equation of state: relax, strain to several volumes, relax at each, fit.

The volumes are those around the relaxed one, so their jobs are known only when it is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from pydantic import BaseModel

from crystalmath.contract.workflow_options.eos import EosOptions
from crystalmath.services.ports_workflows import NewStep, Use
from crystalmath.services.workflows.calculations import (
    CRYSTAL,
    ESPRESSO,
    FORCES,
    VASP,
    Criteria,
    at_volume,
    has_uneven_moments,
    spacing_of,
)
from crystalmath.services.workflows.computations import EOS_FIT, EOS_STRAIN
from crystalmath.services.workflows.crystal import check_scan
from crystalmath.services.workflows.minimum import in_own_basis, keeps_first_basis, relax_first
from crystalmath.services.workflows.plan import Plan, computation

_RELAXED: Final = {
    "nothing": "nothing to relax: the symmetry holds atoms and shape",
    "atoms": "atoms relaxed; the symmetry holds the shape",
    "shape": "atoms and shape relaxed",
}


class Eos:
    """See ``plan.Procedure``."""

    kind = "eos"
    title = "Equation of state"
    summary = (
        "Energy over volume: equilibrium volume, bulk modulus and its pressure derivative, with "
        "atoms and shape relaxed at each volume."
    )
    options: type[BaseModel] = EosOptions
    codes = frozenset({FORCES, ESPRESSO, VASP, CRYSTAL})
    result = "fit"
    crystals_only = True

    def first_steps(self, plan: Plan) -> Sequence[NewStep]:
        """The relaxation, if it is wanted, and the volumes around its end.

        Raises
        ------
        InvalidParams
            Options of a code that would make the volumes differ in more than volume.
        """
        options = plan.options
        if plan.code == CRYSTAL:
            check_scan(plan)
        spacing = {} if options["relax"] else spacing_of(plan)
        start = relax_first(plan, Criteria.of(options))
        volumes = NewStep(
            name="volumes",
            title="choice of the volumes",
            kind="computation",
            action=computation(
                EOS_STRAIN, points=options["points"], reach=options["reach"], **spacing
            ),
            uses={"relaxed": Use(step=start.gives)}
            if options["relax"]
            else {"structure": plan.start},
        )
        return (*start.steps, volumes) if options["relax"] else (volumes,)

    def trial(self, plan: Plan) -> Mapping[str, Any]:
        """The job at a volume, where there is none before.

        Raises
        ------
        InvalidParams
            Limits that the code cannot relax to, whether or not there is anything to relax.
        """
        criteria = Criteria.of(plan.options)
        at_volume(plan, criteria, "shape")
        return at_volume(plan, criteria, "nothing")

    def next_steps(self, plan: Plan, step: str, output: Any) -> Sequence[NewStep]:
        """A job for each volume, and the fit to all of them."""
        if step != "volumes":
            return ()
        free = "shape" if has_uneven_moments(plan) else output["free"]
        action = at_volume(plan, Criteria.of(plan.options), free, output["k_mesh"])
        names = [f"volume-{i}" for i in range(1, len(output["structures"]) + 1)]
        jobs = [
            NewStep(
                name=name,
                title=f"{100 * change:+.1f} % in volume",
                kind="job",
                action=action,
                uses={"structure": Use(step="volumes", path=("structures", i))},
            )
            for i, (name, change) in enumerate(zip(names, output["changes"], strict=True))
        ]
        energies = [
            in_own_basis(plan, job, f"energy-{i}", output["k_mesh"])
            for i, job in enumerate(jobs, 1)
            if keeps_first_basis(plan, job)
        ]
        return *jobs, *energies, _fit(plan, [step.name for step in energies or jobs], free)


def _fit(plan: Plan, names: Sequence[str], free: str) -> NewStep:
    uses: dict[str, Use | tuple[Use, ...]] = {"points": tuple(Use(step=name) for name in names)}
    if plan.options["relax"]:
        start = relax_first(plan, Criteria.of(plan.options))
        uses["relaxed"] = Use(step=start.gives)
    if plan.code != FORCES:
        uses["kept"] = Use(step="volumes", path=("volumes_angstrom3",))
    known = {**plan.provenance, "at_each_volume": _RELAXED[free]}
    return NewStep(
        name="fit",
        title="fit of the equation of state",
        kind="computation",
        action=computation(EOS_FIT, provenance=known),
        uses=uses,
    )
