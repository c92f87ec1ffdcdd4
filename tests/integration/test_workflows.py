"""Workflows in the real daemon, with jobs of the engine EMT."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from support.daemon import PRODUCTION, Daemon, RpcFailure, wait_until
from support.magnets import iron

COPPER = Path(__file__).parents[2] / "examples" / "copper.cif"
A0_ANGSTROM, B0_GPA, B0_PRIME = 3.58983, 134.23, 4.148
"""EMT copper, fcc: relaxed lattice constant, Birch–Murnaghan to 11 points at ± 3 % in length.

Five points at ± 9 % in volume give 134.18 GPa and 4.143."""


@pytest.fixture(scope="module")
def started() -> Iterator[Daemon]:
    made = Daemon(program=PRODUCTION)
    try:
        made.start()
        yield made
    finally:
        made.cleanup()


def create(daemon: Daemon, kind: str, **fields: Any) -> int:
    params = {"structure": {"path": str(COPPER)}, "engine": "emt", **fields}
    return int(daemon.call(f"workflows.create_{kind}", params)["workflow"]["id"])


def get(daemon: Daemon, workflow_id: int) -> dict[str, Any]:
    found: dict[str, Any] = daemon.call("workflows.get", {"id": workflow_id})
    return found


def ended(daemon: Daemon, workflow_id: int) -> dict[str, Any]:
    wait_until(
        lambda: get(daemon, workflow_id)["state"] != "RUNNING",
        f"workflow {workflow_id} ends",
        timeout_s=300,
        every_s=0.1,
    )
    return get(daemon, workflow_id)


def quantities(workflow: dict[str, Any]) -> dict[str, float]:
    return {one["name"]: one["value"] for one in workflow["results"]["quantities"]}


def jobs_of(daemon: Daemon, workflow_id: int) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = daemon.call("jobs.list", {"workflow": workflow_id})
    return found


def test_eos_of_copper_survives_kills_of_the_daemon(daemon: Daemon) -> None:
    """The numbers of EMT copper come out, and no step runs twice, however often it is killed."""
    daemon.start()
    params = {
        "structure": {"path": str(COPPER)},
        "engine": "emt",
        "options": {"points": 5, "reach": 0.09},
        "client_token": "eos-of-copper",
    }
    made = daemon.call("workflows.create_eos", params)
    i = made["workflow"]["id"]
    for name in ("relax", "volume-1", "volume-3"):

        def begun(name: str = name) -> bool:
            steps = {step["name"]: step["state"] for step in get(daemon, i)["graph"]}
            return steps.get(name, "PENDING") != "PENDING"

        wait_until(begun, f"step {name} begins", timeout_s=300, every_s=0.05)
        os.kill(daemon.pid(), signal.SIGKILL)
        daemon.start()
    again = daemon.call("workflows.create_eos", params)
    assert (again["repeated"], again["workflow"]["id"]) == (True, i)
    workflow = ended(daemon, i)
    assert workflow["state"] == "COMPLETED", workflow["message"]
    found = quantities(workflow)
    assert found["a_relaxed"] == pytest.approx(A0_ANGSTROM, abs=1e-4)
    assert found["b0"] == pytest.approx(B0_GPA, abs=0.3)
    assert found["b0_prime"] == pytest.approx(B0_PRIME, abs=0.05)
    assert found["v0"] == pytest.approx(A0_ANGSTROM**3 / 4, rel=1e-3)
    assert workflow["results"]["provenance"]["engine"] == "emt"
    rows = jobs_of(daemon, i)
    assert len(rows) == 6
    assert {row["state"] for row in rows} == {"COMPLETED"}
    assert all(step["attempt"] == 1 for step in workflow["graph"])


def test_relaxation(started: Daemon) -> None:
    i = create(started, "relax", name="copper", options={"smax_gpa": 1e-3})
    workflow = ended(started, i)
    assert workflow["state"] == "COMPLETED", workflow["message"]
    found = quantities(workflow)
    assert found["a_relaxed"] == pytest.approx(A0_ANGSTROM, abs=1e-4)
    assert found["smax"] <= 1e-3
    [table] = workflow["results"]["tables"]
    assert table["columns"][2]["values"] == ["Fm-3m (225)", "Fm-3m (225)"]
    [row] = jobs_of(started, i)
    assert row["name"] == "copper: relax"
    assert [one["id"] for one in started.call("workflows.list", {"kind": "relax"})] == [i]


def test_a_relaxation_that_runs_out_of_steps_waits_and_goes_on(started: Daemon) -> None:
    i = create(started, "relax", options={"smax_gpa": 1e-6, "max_steps": 1})
    workflow = ended(started, i)
    assert workflow["state"] == "WAITING"
    [step, _] = workflow["graph"]
    assert (step["reason"], step["can_be_retried"]) == ("not_converged", True)
    started.call("workflows.cancel", {"id": i})
    assert get(started, i)["state"] == "FAILED"
    started.call("workflows.retry", {"id": i, "step": "relax"})
    workflow = ended(started, i)  # twice the steps now, from where it stopped
    [step, _] = workflow["graph"]
    assert (step["attempt"], len(step["jobs"])) == (2, 2)
    assert started.call("jobs.get", {"id": step["job"]})["inputs"]["inputs"]["max_steps"] == 2


def test_molecular_dynamics(started: Daemon) -> None:
    """Averages of its frames, which are drawn and exported."""
    options = {"steps": 240, "write_every": 3, "edge_angstrom": 0.0, "seed": 3}
    i = create(started, "md", options=options)
    with pytest.raises(RpcFailure, match="it has no results"):
        started.call("workflows.plot", {"id": i})
    workflow = ended(started, i)
    assert workflow["state"] == "COMPLETED", workflow["message"]
    found = quantities(workflow)
    assert found["atoms"] == 4
    assert found["counted"] + found["discarded"] == pytest.approx(0.24)
    assert 10 < found["temperature_mean"] < 1000
    [row] = jobs_of(started, i)
    series = started.call("jobs.series", {"id": row["id"]})["series"]["temperature"]
    [curve] = workflow["results"]["plots"][0]["curves"]
    assert curve["y"] == pytest.approx(series["y"])
    assert len(curve["x"]) == 81

    text = started.call("workflows.plot", {"id": i, "kind": "energy", "ascii": True})
    assert (text["kind"], text["plots"]) == ("energy", ["temperature", "total_energy", "energy"])
    assert "time / ps" in text["content"]
    with pytest.raises(RpcFailure, match="no plot 'pressure'"):
        started.call("workflows.plot", {"id": i, "kind": "pressure"})

    def exported(form: str) -> dict[str, str]:
        files = started.call("workflows.export", {"id": i, "format": form})["files"]
        return {file["path"]: file["content"] for file in files}

    assert "plot_temperature.csv" in exported("csv")
    with pytest.raises(RpcFailure, match="no files for phonopy"):
        exported("phonopy")


def test_what_cannot_run_is_refused_with_its_field(started: Daemon) -> None:
    def refused(kind: str = "eos", **fields: Any) -> tuple[str, str | None]:
        with started.connect() as raw:
            asked = {"structure": {"path": str(COPPER)}, **fields}
            request = {"jsonrpc": "2.0", "id": 1, "method": f"workflows.create_{kind}"}
            error = raw.ask({**request, "params": asked})["error"]
        return error["message"], error["data"].get("field")

    assert refused(engine="nothing")[1] == "engine"
    assert refused("phonon", code="crystal")[1] == "code"
    limit = {"smax_gpa": 0.1}
    assert refused("relax", code="crystal", options=limit)[1] == "options.smax_gpa"
    assert refused(code="espresso", options={"optimizer": "FIRE"})[1] == "options.optimizer"
    assert refused(engine="emt", options={"points": 4})[1] == "options.points"
    assert refused(engine="emt", cluster="hpc")[1] == "cluster"
    few = {"steps": 400, "write_every": 20}
    assert refused("md", engine="emt", options=few)[1] == "options.write_every"
    message, field = refused("md", engine="emt", options={"pressure_gpa": 1.0})
    assert (field, "constant pressure" in message) == ("options.pressure_gpa", True)
    molecule = {"text": "2\n\nH 0 0 0\nH 0 0 0.74\n", "format": "xyz"}
    message, field = refused(engine="emt", structure=molecule)
    assert (field, "three directions" in message) == ("structure", True)
    free = {"structure": molecule, "options": {"cell": "full"}}
    assert refused("relax", engine="emt", **free)[1] == "options.cell"


def test_available_tells_what_can_be_used_and_why_not(started: Daemon) -> None:
    kinds = {one["kind"]: one for one in started.call("workflows.available", {})}
    assert kinds["eos"]["usable"]
    assert {"name": "emt", "usable": True, "reason": None} in kinds["eos"]["engines"]
    assert "points" in kinds["eos"]["options"]["properties"]
    codes = {one["name"]: one for one in kinds["phonon"]["codes"]}
    assert not codes["crystal"]["usable"]
    assert "force engines" in codes["crystal"]["reason"]
    assert "template crystal/freq" in codes["crystal"]["reason"]
    assert "espresso" in codes
    [crystal] = [one for one in kinds["eos"]["codes"] if one["name"] == "crystal"]
    assert crystal["usable"] or "not built" not in crystal["reason"]
    assert (kinds["aiida"]["usable"], kinds["aiida"]["reason"]) == (False, "it is not built yet")


def test_convergence_with_the_supercell(started: Daemon) -> None:
    """An engine of pair potentials needs no supercell: every one gives the same energy per atom."""
    options = {"parameter": "supercell", "values": [1, 2, 3]}
    workflow = ended(started, create(started, "convergence", options=options))
    assert workflow["state"] == "COMPLETED", workflow["message"]
    assert quantities(workflow)["converged"] == 1.0
    assert [step["name"] for step in workflow["graph"]][-1] == "choice"
    [flag] = workflow["results"]["flags"]
    assert flag["code"] == "nothing_to_see"
    with started.connect() as raw:
        asked = {"structure": {"path": str(COPPER)}, "engine": "emt"}
        asked["options"] = {"parameter": "cutoff", "values": [10, 20, 30]}
        request = {"jsonrpc": "2.0", "id": 1, "method": "workflows.create_convergence"}
        error = raw.ask({**request, "params": asked})["error"]
    assert (error["data"]["field"], "emt" in error["message"]) == ("options.parameter", True)


def test_cancel_ends_the_jobs_and_resume_keeps_what_is_done(started: Daemon) -> None:
    i = create(started, "relax", options={"smax_gpa": 1e-9, "fmax_ev_per_a": 1e-9})
    state = started.call("workflows.cancel", {"id": i})["workflow"]["state"]
    assert state in ("RUNNING", "CANCELLED")
    assert ended(started, i)["state"] == "CANCELLED"
    assert {row["state"] for row in jobs_of(started, i)} <= {"CANCELLED", "COMPLETED", "FAILED"}
    assert started.call("workflows.resume", {"id": i})["workflow"]["state"] == "RUNNING"
    started.call("workflows.cancel", {"id": i})
    ended(started, i)


def test_changes_are_told_to_subscribers(started: Daemon) -> None:
    with started.connect() as raw:
        subscribe = {"jsonrpc": "2.0", "id": 1, "method": "events.subscribe"}
        raw.ask({**subscribe, "params": {"topics": ["workflows"]}})
        i = create(started, "relax", options={"smax_gpa": 1e-9})
        told = raw.reply()
        [event] = [e for e in told["params"]["events"] if e["kind"] == "workflow"][:1]
        assert (event["topic"], event["workflow"]["id"]) == ("workflows", i)
    started.call("workflows.cancel", {"id": i})
    ended(started, i)


def test_a_relaxed_structure_keeps_the_moments_of_its_atoms(started: Daemon) -> None:
    copper = iron(1.5, -0.5).replace("Fe", "Cu")
    given = {"structure": {"text": copper, "format": "extxyz"}, "options": {"cell": "fixed"}}
    workflow = ended(started, create(started, "relax", **given))
    assert workflow["state"] == "COMPLETED"
    assert workflow["warnings"].count(
        "emt does not use magnetic moments: those of the structure change nothing"
    ) == 1  # fmt: skip
    [job] = jobs_of(started, workflow["id"])
    known = started.call("jobs.get", {"id": job["id"]})
    assert known["results"]["structure"]["sites"] == {"moments": [1.5, -0.5]}
    assert known["provenance"]["moments"]["moments_mub"] == [1.5, -0.5]


HEAVY = """data_d
_cell_length_a 4
_cell_length_b 4
_cell_length_c 4
_cell_angle_alpha 90
_cell_angle_beta 90
_cell_angle_gamma 90
_symmetry_space_group_name_H-M 'P 1'
loop_
_atom_site_label
_atom_site_type_symbol
_atom_site_fract_x
_atom_site_fract_y
_atom_site_fract_z
D1 D 0 0 0
Cu1 Cu 0.5 0.5 0.5
"""


def test_isotopes_with_the_masses_of_their_elements_are_told(started: Daemon) -> None:
    structure = {"text": HEAVY, "format": "cif"}
    inputs = {"allow_toy_elements": True}
    job = {"code": "forces", "task": "md", "engine": "emt", "structure": structure}
    checked = started.call("jobs.submit", {**job, "name": "d", "inputs": inputs, "dry_run": True})
    assert any("isotopes" in warning for warning in checked["dry_run"]["warnings"])
    options = {"steps": 40, "write_every": 1}
    i = create(started, "md", structure=structure, options=options, inputs=inputs)
    assert any("isotopes" in warning for warning in get(started, i)["warnings"])
    started.call("workflows.cancel", {"id": i})
