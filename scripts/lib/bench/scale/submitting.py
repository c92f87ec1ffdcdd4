"""200 jobs for a real SLURM, as fast as it takes them: on request only.

Needs a SLURM whose commands work on this machine, such as that of ``tests/testbed/slurm-up``. Every
job leaves a line where it ran: none may be lost, and none may run twice.
"""

from __future__ import annotations

import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

from bench.measure import Ledger, Target
from crystalmath.services.cluster_key import job_key
from rig.place import Place, RigError, wait_until
from rig.wire import Wire

JOBS = 200
LEAST_A_SECOND = 3.0
PATIENCE_S = 420.0
CLUSTER = "here"


def run(ledger: Ledger, rounds: int) -> list[Target]:  # noqa: ARG001 - it takes its time
    """Measure; returns the targets."""
    _require_slurm()
    with Place(patience_s=PATIENCE_S) as place:
        place.foreground()
        place.wait_ready()
        with Wire(place.socket, timeout_s=PATIENCE_S) as wire:
            wire.call("clusters.create", {
                "name": CLUSTER, "kind": "slurm", "hostname": "localhost", "launcher": "mpirun",
                "remote_workdir": str(place.root / "work"), "submit_budget": None,
            })  # fmt: skip
            begin = time.monotonic()
            for n in range(JOBS):
                wire.call("jobs.submit", _submission(n))
            accepted_s = time.monotonic() - begin
            wait_until("all jobs in SLURM", lambda: _with_number(wire) == JOBS, PATIENCE_S)
            taken_s = time.monotonic() - begin
            wait_until("the end of all jobs", lambda: _unfinished(wire) == 0, PATIENCE_S)
            rows = _rows(wire)
        runs = [_runs(place.root / "work", row["uuid"]) for row in rows]
    ledger.add("jobs.submit to a cluster, mean", [accepted_s / JOBS * 1e6])
    numbers = {row["scheduler"]["id"] for row in rows}
    return [
        Target(f"{JOBS} jobs handed to SLURM, a second", LEAST_A_SECOND, JOBS / taken_s,
               least=True),
        Target("jobs that did not complete", 0,
               sum(row["state"] != "COMPLETED" for row in rows)),
        Target("jobs that did not run", 0, sum(n == 0 for n in runs)),
        Target("jobs that ran twice, or share a number", 0,
               sum(n > 1 for n in runs) + JOBS - len(numbers)),
    ]  # fmt: skip


def _require_slurm() -> None:
    if shutil.which("sinfo") is None:
        raise RigError("there is no SLURM on this machine: no sinfo")
    done = subprocess.run(["sinfo", "-h"], capture_output=True, text=True, check=False)
    if done.returncode != 0 or not done.stdout.strip():
        said = done.stderr.strip()[:200] or "no partition"
        raise RigError(f"the SLURM of this machine does not answer: {said}")


def _submission(n: int) -> dict[str, Any]:
    return {
        "name": f"quick {n}",
        "code": "command",
        "cluster": CLUSTER,
        "inputs": {"argv": ["/bin/sh", "-c", "echo ran >> runs"]},
        "resources": {"walltime_s": 300},
    }


def _rows(wire: Wire) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = wire.call("jobs.list", {"limit": 1000})["data"]
    return rows


def _with_number(wire: Wire) -> int:
    time.sleep(0.2)
    return sum(row["scheduler"] is not None for row in _rows(wire))


def _unfinished(wire: Wire) -> int:
    time.sleep(1.0)
    return sum(row["state"] not in ("COMPLETED", "FAILED", "CANCELLED") for row in _rows(wire))


def _runs(work: Path, uuid: str) -> int:
    """How often a job has run."""
    file = work / job_key(uuid) / "runs"
    return len(file.read_text(encoding="utf-8").splitlines()) if file.exists() else 0
