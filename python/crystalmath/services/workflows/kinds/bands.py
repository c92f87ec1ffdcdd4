"""Bands and density of states: the standard cell and its path, one job, and the results.

The k points belong to the standard primitive cell, so that cell is what is computed. SCF, bands and
the dense mesh are one job: they share a directory of pw.x, and no path is handed on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from pydantic import BaseModel

from crystalmath.contract.workflow_options.bands import BandsOptions
from crystalmath.errors import InvalidParams
from crystalmath.services.ports_workflows import NewStep, Use
from crystalmath.services.workflows.calculations import (
    ESPRESSO,
    Criteria,
    of_primitive,
    single_point,
)
from crystalmath.services.workflows.computations import BANDS_PATH, BANDS_REPORT
from crystalmath.services.workflows.minimum import relax_first
from crystalmath.services.workflows.plan import Plan, computation

_TASK: Final = "band_structure"


class Bands:
    """See ``plan.Procedure``."""

    kind = "bands"
    title = "Bands and density of states"
    summary = (
        "Bands along the path of the crystal's lattice, the gap of path and dense mesh, and the "
        "density of states."
    )
    options: type[BaseModel] = BandsOptions
    codes = frozenset({ESPRESSO})
    result = "report"
    crystals_only = True
    standardises = True

    def trial(self, plan: Plan) -> Mapping[str, Any]:
        """See ``plan.Tried``."""
        return single_point(plan)

    def first_steps(self, plan: Plan) -> Sequence[NewStep]:
        """The relaxation, if it is wanted, and the path.

        Raises
        ------
        InvalidParams
            Moments of single atoms, which the standard cell has in another order.
        """
        if isinstance(plan.inputs.get("moments_mu_b"), list):
            raise InvalidParams(
                "bands are computed for the standard primitive cell, whose atoms are others than "
                "those of the structure: moments of single atoms do not fit them",
                hint="give moments of elements: {Ni: 2}, or those of atoms in the structure",
                field="inputs.moments_mu_b",
            )
        start, steps = plan.start, list[NewStep]()
        if plan.options["relax"]:
            limits = {name: plan.options[name] for name in ("fmax_ev_per_a", "smax_gpa")}
            criteria = Criteria(**limits, max_steps=plan.options["max_steps"], optimizer="")
            first = relax_first(plan, criteria)
            steps += first.steps
            start = Use(step=first.gives, path=("structure",))
        path = NewStep(
            name="path",
            title="standard primitive cell, and the path that belongs to it",
            kind="computation",
            action=computation(
                BANDS_PATH, spacing_inv_angstrom=plan.options["spacing_inv_angstrom"]
            ),
            uses={"structure": start},
        )
        return *steps, path

    def next_steps(self, plan: Plan, step: str, output: Any) -> Sequence[NewStep]:
        """The calculation along the path, and the report."""
        if step != "path":
            return ()
        options = plan.options
        inputs = {
            **of_primitive(plan, output["path"]["given_cells"]),
            "k_path": output["k_path"],
            "mesh_factor": options["mesh_factor"] if options["dos"] else None,
        }
        if options["n_bands"] is not None:
            inputs["n_bands"] = options["n_bands"]
        bands = NewStep(
            name="bands",
            title="SCF, bands along the path" + (", dense mesh" if options["dos"] else ""),
            kind="job",
            action=plan.job(_TASK, inputs),
            uses={"structure": Use(step="path", path=("structure",))},
        )
        report = NewStep(
            name="report",
            title="gap, density of states, results",
            kind="computation",
            action=computation(BANDS_REPORT, provenance=plan.provenance),
            uses={"path": Use(step="path"), "computed": Use(step="bands")},
        )
        return bands, report
