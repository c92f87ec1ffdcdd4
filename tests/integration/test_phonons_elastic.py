"""Phonons and elastic constants in the real daemon, with jobs of the engine EMT."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from crystalmath.analysis.phonons.displacements import plan_displacements
from crystalmath.analysis.phonons.model import phonons_of
from crystalmath.analysis.phonons.spectrum import thermodynamics
from crystalmath.structures.structure import of_document
from support import emt
from support.daemon import Daemon, wait_until

COPPER = Path(__file__).parents[2] / "examples" / "copper.cif"
STACK = """layers
1.0
2.75 0 0
0 2.75 0
0 0 7.9
Cu Au Ag Pd
1 1 1 1
Direct
0 0 0
0.5 0.5 0.25
0 0 0.5
0.5 0.5 0.75
"""
"""Four metals in layers that no mirror turns over: P4mm, two displacements for each."""


def get(daemon: Daemon, workflow_id: int) -> dict[str, Any]:
    found: dict[str, Any] = daemon.call("workflows.get", {"id": workflow_id})
    return found


def create(daemon: Daemon, kind: str, structure: dict[str, Any], **fields: Any) -> int:
    params = {"structure": structure, "engine": "emt", **fields}
    return int(daemon.call(f"workflows.create_{kind}", params)["workflow"]["id"])


def ended(daemon: Daemon, workflow_id: int) -> dict[str, Any]:
    wait_until(
        lambda: get(daemon, workflow_id)["state"] != "RUNNING",
        f"workflow {workflow_id} ends",
        timeout_s=300,
        every_s=0.2,
    )
    workflow = get(daemon, workflow_id)
    assert workflow["state"] == "COMPLETED", workflow["message"]
    return workflow


def quantities(workflow: dict[str, Any]) -> dict[str, float]:
    return {one["name"]: one["value"] for one in workflow["results"]["quantities"]}


def at_point(workflow: dict[str, Any], label: str) -> list[float]:
    [table] = [t for t in workflow["results"]["tables"] if t["name"] == "special_points"]
    row = table["columns"][0]["values"].index(label)
    return [column["values"][row] for column in table["columns"][2:]]


def test_numbers_of_copper(daemon: Daemon) -> None:
    daemon.start()
    copper = {"path": str(COPPER)}
    phonon = create(daemon, "phonon", copper)
    elastic = create(daemon, "elastic", copper, options={"sizes": [0.005]})
    found = ended(daemon, phonon)
    assert at_point(found, "X") == pytest.approx([5.530, 5.530, 8.141], abs=0.005)
    assert at_point(found, "L") == pytest.approx([3.549, 3.549, 8.067], abs=0.005)
    assert quantities(found)["heat_capacity_300k"] == pytest.approx(23.368, abs=0.005)
    assert (found["results"]["flags"], found["warnings"]) == ([], [])
    assert found["results"]["provenance"]["supercell"] == "4 × 4 × 4"
    files = daemon.call("workflows.export", {"id": phonon, "format": "phonopy"})["files"]
    assert {file["path"] for file in files} == {"phonopy_params.yaml", "FORCE_SETS"}
    constants = quantities(ended(daemon, elastic))
    assert constants["c11"] == pytest.approx(172.6, abs=0.3)
    assert constants["c12"] == pytest.approx(115.4, abs=0.3)
    assert constants["c44"] == pytest.approx(89.9, abs=0.3)

    with daemon.connect() as raw:
        options = {"supercell": [2, 1, 1]}
        asked = {"structure": copper, "engine": "emt", "options": options}
        request = {"jsonrpc": "2.0", "id": 1, "method": "workflows.create_phonon"}
        error = raw.ask({**request, "params": asked})["error"]
    assert error["data"]["field"] == "options.supercell"
    assert (error["data"]["kind"], error["data"]["hint"]) == ("symmetry_broken", "use 2 × 2 × 2")


def test_phonons_survive_kills_of_the_daemon(daemon: Daemon) -> None:
    """However often it is killed, no step runs twice, and the numbers are those of EMT."""
    daemon.start()
    structure = {"text": STACK, "format": "poscar"}
    options = {"supercell": [2, 2, 1], "mesh": 4, "temperature_step_k": 100.0}
    i = create(daemon, "phonon", structure, options=options)
    begun = ("relax", "displacements", "displacement-4", "phonons")
    for name in begun:

        def has_begun(name: str = name) -> bool:
            states = {step["name"]: step["state"] for step in get(daemon, i)["graph"]}
            return states.get(name, "PENDING") != "PENDING"

        wait_until(has_begun, f"step {name} begins", timeout_s=300, every_s=0.05)
        os.kill(daemon.pid(), signal.SIGKILL)
        daemon.start()
    workflow = ended(daemon, i)
    steps = {step["name"]: step for step in workflow["graph"]}
    names = [name for name in steps if name.startswith("displacement-")]
    assert len(names) == 8
    assert {step["attempt"] for step in workflow["graph"]} == {1}
    rows = daemon.call("jobs.list", {"workflow": i})
    assert len(rows) == 1 + len(names)
    assert {row["state"] for row in rows} == {"COMPLETED"}
    same_as_in_this_process(daemon, steps["relax"]["job"], workflow)


def same_as_in_this_process(daemon: Daemon, relaxation: int, workflow: dict[str, Any]) -> None:
    relaxed = daemon.call("jobs.get", {"id": relaxation})["results"]["structure"]
    plan = plan_displacements(of_document({"formula": "", **relaxed}), (2, 2, 1))
    model = phonons_of(plan, [emt.forces(cell) for cell in plan.displaced()])
    thermal = thermodynamics(model, [300.0], 4)
    wanted = float(thermal.heat_capacities_j_per_k_mol[0])
    assert quantities(workflow)["heat_capacity_300k"] == pytest.approx(wanted, rel=1e-9)
    at_gamma = model.frequencies(np.zeros((1, 3)))[0]
    assert at_point(workflow, "Γ") == pytest.approx(at_gamma, abs=1e-5)
