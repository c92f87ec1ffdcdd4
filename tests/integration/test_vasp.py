"""Jobs of VASP through the real daemon, with a program that stands in for VASP.

The program computes nothing: what is shown is that inputs are written in a worker process, that
POTCAR is there while it runs and nowhere else, and that what it leaves is read.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from support.daemon import PRODUCTION, Daemon, RawSocket, RpcFailure, wait_until
from support.vasp import POSCAR, potentials, stand_in, step, vasprun

PATIENCE_S = 120.0
ENDS = ("COMPLETED", "FAILED")


@pytest.fixture(scope="module")
def served() -> Iterator[Daemon]:
    made = Daemon(program=PRODUCTION, env={"CRYSTALMATH_START_TIMEOUT": "60"})
    try:
        made.start()
        yield made
    finally:
        made.cleanup()


def call(served: Daemon, method: str, params: dict[str, Any]) -> Any:
    with RawSocket(served.socket, PATIENCE_S) as raw:
        return raw.data(method, params)


def test_a_relaxation_of_a_structure_is_set_up_run_and_judged(
    served: Daemon, tmp_path: Path
) -> None:
    run = vasprun(step(), step((-12.1, -12.2)), NSW=99, IBRION=2, ISIF=3)
    params: dict[str, Any] = {
        "name": "MgO",
        "code": "vasp",
        "task": "relax",
        "structure": {"text": POSCAR, "format": "poscar"},
        "inputs": {"executable": str(stand_in(tmp_path / "vasp_std", run))},
    }
    with pytest.raises(RpcFailure, match="Mg_pv O of PBE are needed"):
        call(served, "jobs.submit", params)
    params["context"] = {"PMG_VASP_PSP_DIR": str(potentials(tmp_path / "psp"))}
    shown = call(served, "jobs.submit", {**params, "dry_run": True})["dry_run"]
    texts = {file["path"]: file["content"] for file in shown["files"]}
    assert texts["KPOINTS"].splitlines()[2:4] == ["Gamma", "9 9 9"]
    assert "stand-in" not in json.dumps(shown)

    job_id = call(served, "jobs.submit", params)["job"]["id"]
    wait_until(
        lambda: call(served, "jobs.get", {"id": job_id})["state"] in ENDS,
        "the job ends",
        PATIENCE_S,
    )
    job = call(served, "jobs.get", {"id": job_id})
    assert (job["state"], job["task"]) == ("COMPLETED", "relax")
    results = job["results"]
    assert results["energy_ev"] == -12.2
    assert results["relaxation"] == {"converged": True, "steps": 2}
    assert [row["label"] for row in results["potentials"]] == ["Mg_pv", "O"]
    paths = [file["path"] for file in call(served, "jobs.files", {"id": job_id})]
    assert "vasprun.xml" in paths
    assert "POTCAR" not in paths
    with pytest.raises(RpcFailure, match="licensed potential"):
        call(served, "jobs.read_file", {"id": job_id, "path": "POTCAR"})
    spec = call(served, "jobs.read_file", {"id": job_id, "path": "POTCAR.spec"})["text"]
    assert spec == "# PBE\nMg_pv\nO\n"
    with sqlite3.connect(served.data / "crystalmath.db") as database:
        assert " stand-in\n" not in "\n".join(database.iterdump())
