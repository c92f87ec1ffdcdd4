"""Phonons: relax, displace atoms of a supercell, compute the forces, put them together.

How many displacements there are depends on the symmetry of the relaxed crystal, so their jobs are
known only then.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from pydantic import BaseModel

from crystalmath.contract.workflow_options.phonon import PhononOptions
from crystalmath.services.ports_workflows import NewStep, Use
from crystalmath.services.workflows.calculations import (
    ESPRESSO,
    FORCES,
    VASP,
    check_supercell,
    moments_of_atoms,
    moments_refused,
    of_supercell,
    single_point,
)
from crystalmath.services.workflows.computations import PHONON_DISPLACE, PHONON_RESULT
from crystalmath.services.workflows.minimum import start_at_minimum
from crystalmath.services.workflows.plan import Plan, computation

EDGE_ANGSTROM: Final = 12.0
EDGE_OF_CODES_ANGSTROM: Final = 15.0
"""Of density functional theory, whose force constants reach further."""
_RESULT_OPTIONS: Final = ("mesh", "temperature_max_k", "temperature_step_k", "born")


class Phonon:
    """See ``plan.Procedure``."""

    kind = "phonon"
    title = "Phonons"
    summary = (
        "Bands, density of states and thermodynamic functions of the harmonic crystal, from the "
        "forces of displaced atoms in a supercell."
    )
    options: type[BaseModel] = PhononOptions
    codes = frozenset({FORCES, ESPRESSO, VASP})
    result = "phonons"
    crystals_only = True

    def first_steps(self, plan: Plan) -> Sequence[NewStep]:
        """The relaxation, or the forces of the structure as it is, and the displacements.

        Raises
        ------
        InvalidParams
            Moments of single atoms, which the supercell has more of.
        """
        if moments_of_atoms(plan):
            raise moments_refused(
                plan,
                "forces are computed for a supercell, which has more atoms than moments were given",
            )
        check_supercell(plan)
        start = start_at_minimum(plan)
        displacements = NewStep(
            name="displacements",
            title="choice of the displacements",
            kind="computation",
            action=computation(PHONON_DISPLACE, **wanted_supercell(plan)),
            uses={"relaxed": Use(step=start.gives)},
        )
        return *start.steps, displacements

    def next_steps(self, plan: Plan, step: str, output: Any) -> Sequence[NewStep]:
        """A job for each displacement, and what follows from all of them."""
        if step != "displacements":
            return ()
        inputs = of_supercell(plan, output["plan"]["sizes"], output.get("k_mesh"))
        names = [f"displacement-{i}" for i in range(1, len(output["structures"]) + 1)]
        jobs = [
            NewStep(
                name=name,
                title=title,
                kind="job",
                action=single_point(plan, inputs),
                uses={"structure": Use(step="displacements", path=("structures", i))},
            )
            for i, (name, title) in enumerate(zip(names, output["titles"], strict=True))
        ]
        given = {name: plan.options[name] for name in _RESULT_OPTIONS}
        result = NewStep(
            name="phonons",
            title="force constants, bands and thermodynamics",
            kind="computation",
            action=computation(PHONON_RESULT, provenance=plan.provenance, options=given),
            uses={
                "before": plan.start,
                "relaxed": Use(step=start_at_minimum(plan).gives),
                "displaced": Use(step="displacements", path=("plan",)),
                "points": tuple(Use(step=name) for name in names),
            },
        )
        return *jobs, result


def least_edge(code: str) -> float:
    """Distance of an atom from its image, in Å, that a supercell has when none is asked for."""
    return EDGE_ANGSTROM if code == FORCES else EDGE_OF_CODES_ANGSTROM


def wanted_supercell(plan: Plan) -> dict[str, Any]:
    """What the choice of the displacements is given."""
    options = plan.options
    return {
        "supercell": options["supercell"],
        "edge_angstrom": options["edge_angstrom"] or least_edge(plan.code),
        "distance_angstrom": options["distance_angstrom"],
        "was_relaxed": options["relax"],
    }
