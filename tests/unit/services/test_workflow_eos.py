"""What each volume of an equation of state is computed with."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from crystalmath.analysis.procedures.eos import strained
from crystalmath.contract.workflow_options.eos import EosOptions
from crystalmath.services.workflows.kinds import PROCEDURES
from crystalmath.services.workflows.plan import Plan

A, C = 3.21, 5.21
MAGNESIUM = {
    "formula": "Mg",
    "lattice": [[A, 0.0, 0.0], [-A / 2, A * 3**0.5 / 2, 0.0], [0.0, 0.0, C]],
    "pbc": [True, True, True],
    "symbols": ["Mg", "Mg"],
    "positions": [[0.0, A / 3**0.5, C / 4], [A / 2, A / 12**0.5, 3 * C / 4]],
}


def plan(code: str, **inputs: Any) -> Plan:
    return Plan(
        name="eos", code=code, engine="emt" if code == "forces" else None, model=None,
        structure="0" * 64, source={}, options=EosOptions(relax=False).model_dump(mode="json"),
        inputs=inputs,
    )  # fmt: skip


@pytest.mark.parametrize(("code", "task"), [("espresso", "vc-relax"), ("forces", "relax")])
def test_the_shape_of_a_hexagonal_cell_is_relaxed_at_each_volume(code: str, task: str) -> None:
    chosen = strained(7, 0.06, structure=MAGNESIUM)
    assert chosen["free"] == "shape"
    given = {**chosen, "k_mesh": [8, 8, 5]}
    *jobs, fit = PROCEDURES["eos"].next_steps(plan(code), "volumes", given)
    assert [job.name for job in jobs] == [f"volume-{i}" for i in range(1, 8)]
    for job in jobs:
        assert job.action["task"] == task
        assert job.action["inputs"]["cell"] == "constant_volume"
        # A mesh that changed with the volume would be a step in the energy.
        assert job.action["inputs"].get("k_mesh") == ([8, 8, 5] if code == "espresso" else None)
    assert "atoms and shape" in str(fit.action)
    volumes = []
    for one in chosen["structures"]:
        cell = np.array(one["lattice"])
        assert np.linalg.norm(cell[2]) / np.linalg.norm(cell[0]) == pytest.approx(C / A)
        volumes.append(abs(np.linalg.det(cell)))
    assert volumes == pytest.approx(chosen["volumes_angstrom3"])
    assert volumes[-1] / volumes[3] == pytest.approx(1.06)
