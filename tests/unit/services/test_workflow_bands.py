"""The steps of the workflow ``bands``, and what is refused before there are any."""

from __future__ import annotations

from typing import Any

import pytest

from crystalmath.contract.workflow_options.bands import BandsOptions
from crystalmath.contract.workflows import CreateBandsParams
from crystalmath.errors import InvalidParams, NotImplementedYet
from crystalmath.services.ports_workflows import NewStep, Use
from crystalmath.services.workflows.kinds import PROCEDURES
from crystalmath.services.workflows.kinds_here import engine_of
from crystalmath.services.workflows.plan import Plan, Standardised

_BANDS = PROCEDURES["bands"]
_PATHED = {
    "structure": {},
    "k_path": [[0.0, 0.0, 0.0], [0.5, 0.0, 0.5]],
    "path": {"given_cells": 1},
}


def plan(inputs: dict[str, Any] | None = None, **options: Any) -> Plan:
    return Plan(
        name="bands",
        code="espresso",
        engine=None,
        model=None,
        structure="0" * 64,
        source={},
        options=BandsOptions(**options).model_dump(mode="json"),
        inputs=inputs or {"ecutwfc_ry": 20},
        cluster="here",
    )


def steps(made: Plan) -> dict[str, NewStep]:
    first = _BANDS.first_steps(made)
    return {one.name: one for one in (*first, *_BANDS.next_steps(made, "path", _PATHED))}


def test_the_cell_of_the_path_is_what_is_computed() -> None:
    made = steps(plan())
    assert list(made) == ["path", "bands", "report"]
    assert made["path"].uses == {"structure": Use(artefact="0" * 64)}
    assert made["bands"].uses == {"structure": Use(step="path", path=("structure",))}
    action = made["bands"].action
    assert (action["task"], action["cluster"]) == ("band_structure", "here")
    assert action["inputs"] == {
        "ecutwfc_ry": 20,
        "k_path": _PATHED["k_path"],
        "mesh_factor": 2,
    }
    assert made["report"].uses == {"path": Use(step="path"), "computed": Use(step="bands")}
    assert _BANDS.next_steps(plan(), "bands", {}) == ()


def test_a_relaxation_comes_first_where_it_is_wanted() -> None:
    made = steps(plan(relax=True, fmax_ev_per_a=0.01))
    assert list(made) == ["relax", "path", "bands", "report"]
    assert made["relax"].action["task"] == "vc-relax"
    assert made["relax"].action["inputs"]["fmax_ev_per_a"] == 0.01
    assert made["path"].uses == {"structure": Use(step="relax", path=("structure",))}


def test_no_density_of_states_means_no_mesh() -> None:
    inputs = steps(plan(dos=False, n_bands=12))["bands"].action["inputs"]
    assert (inputs["mesh_factor"], inputs["n_bands"]) == (None, 12)


def test_moments_of_single_atoms_are_refused() -> None:
    with pytest.raises(InvalidParams, match="moments of single atoms") as found:
        steps(plan({"moments_mu_b": [2.0, -2.0]}))
    assert found.value.field == "inputs.moments_mu_b"
    steps(plan({"moments_mu_b": {"Ni": 0.6}}))


def test_a_force_engine_has_no_bands() -> None:
    params = CreateBandsParams.model_validate({"structure": {"path": "/a.cif"}, "engine": "emt"})
    with pytest.raises(InvalidParams, match="no electrons") as found:
        engine_of(params, _BANDS)
    assert found.value.field == "engine"


def test_a_code_that_is_not_built_is_named() -> None:
    params = CreateBandsParams.model_validate({"structure": {"path": "/a.cif"}, "code": "crystal"})
    with pytest.raises(NotImplementedYet, match="crystal is not built"):
        engine_of(params, _BANDS)


def test_doubts_about_the_cell_that_was_given_do_not_count() -> None:
    assert isinstance(_BANDS, Standardised)
    assert not isinstance(PROCEDURES["relax"], Standardised)
