"""Workflows of Quantum ESPRESSO on the testbed's real SLURM, over SSH."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from crystalmath.codes.espresso.adapter import EspressoAdapter
from crystalmath.contract.workflows import CreateEosParams, RetryParams, WorkflowIdParams
from crystalmath.runners.shells.clusters import ClusterShells
from crystalmath.runners.shells.ssh_config import SshConfig
from crystalmath.services.cluster_desk import ClusterDesk
from crystalmath.services.job_ending import Ending
from crystalmath.services.submission import Desk
from crystalmath.services.workflows.assembly import Workplace, assemble
from crystalmath.storage.workflows import SqliteWorkflowStore
from crystalmath.structures.reader import WorkerStructureReader
from crystalmath.units import BOHR_ANGSTROM
from support.cluster_bench import ClusterBench
from support.service_fakes import FakeCall
from support.testbed import CALM, HERE, HOME, SSH_FILES
from support.workers import run_here

if TYPE_CHECKING:
    from conftest import QuantumEspresso

pytestmark = [pytest.mark.testbed, pytest.mark.timeout(600)]

A0_BOHR, B0_GPA = 10.2096, 93.9
"""Silicon, 18 Ry, mesh 4 4 4 beside Γ: seven lattice constants from 9.9 to 10.5 bohr, by ev.x."""
HALF = 10.2 * BOHR_ANGSTROM / 2
SILICON = f"""silicon
1.0
0.0 {HALF} {HALF}
{HALF} 0.0 {HALF}
{HALF} {HALF} 0.0
Si
2
direct
0.0 0.0 0.0
0.25 0.25 0.25
"""
_HANG_S = 240.0
_CALL: Any = FakeCall()


class Workflows:
    """The service of workflows on a bench with a cluster; the test turns everything."""

    def __init__(self, bench: ClusterBench) -> None:
        self.bench = bench
        codes = {bench.code.name: bench.code}
        self.service, self.driver = assemble(
            Workplace(
                store=SqliteWorkflowStore(bench.store),
                jobs=bench.store,
                desk=Desk(
                    bench.store,
                    codes,
                    WorkerStructureReader(run_here, 50.0),
                    2,
                    ClusterDesk(bench.clusters, bench.runners.of),
                ),
                codes=codes,
                directories=bench.directories,
                ending=Ending(bench.store, bench.directories, time.time, lambda _: None),
                run_worker=run_here,
                clock=time.time,
                submitted=bench.woken.set,
            )
        )

    def turn(self) -> None:
        self.driver.turn(everything=True)
        self.bench.turn()
        self.bench.woken.wait(0.2)

    def steps(self, workflow: int) -> dict[str, Any]:
        found = self.service.get(WorkflowIdParams(id=workflow))
        return {step.name: step for step in found.graph}

    def until(self, workflow: int, state: str) -> None:
        deadline = time.monotonic() + _HANG_S
        while self.service.get(WorkflowIdParams(id=workflow)).state != state:
            steps = self.steps(workflow).values()
            assert time.monotonic() < deadline, [(s.name, s.state, s.message) for s in steps]
            self.turn()


@pytest.fixture
def far(tmp_path: Path, set_up: Callable[[str], str]) -> Iterator[Workflows]:
    set_up("slurm-up")
    set_up("ssh-up")
    config = SshConfig(config_file=SSH_FILES / "config")
    shells = ClusterShells(tmp_path / "known_hosts", lambda: None, config)
    record = replace(HERE, hostname="cluster", remote_workdir=HOME)
    bench = ClusterBench(
        tmp_path, code=EspressoAdapter(), timing=CALM, record=record, open_shell=shells.open
    )
    yield Workflows(bench)
    bench.close()
    shells.close()


def test_equation_of_state_of_silicon_with_a_point_that_fails(
    far: Workflows, qe: QuantumEspresso
) -> None:
    """One job is ended behind the daemon's back: the others go on, and it is run again alone."""
    params = CreateEosParams.model_validate(
        {
            "structure": {"text": SILICON, "format": "poscar"},
            "code": "espresso",
            "cluster": "c",
            "inputs": {
                "pseudo_family": "pz-vbc",
                "ecutwfc_ry": 18.0,
                "k_mesh": [4, 4, 4],
                "k_shift": [1, 1, 1],
            },
            "options": {"relax": False, "points": 7, "reach": 0.09},
            "context": {"ESPRESSO_PSEUDO": str(qe.pseudo)},
            "resources": {"walltime_s": 300},
        }
    )
    i = far.service.create_eos(params, _CALL).workflow.id

    def last() -> str | None:
        step = far.steps(i).get("volume-7")
        return None if step is None or step.job is None else _scheduler_id(far.bench, step.job)

    reach_all(far, lambda: last() is not None)
    subprocess.run(["scancel", str(last())], check=True)
    far.until(i, "WAITING")
    steps = far.steps(i)
    assert [n for n, s in steps.items() if s.state in ("FAILED", "CANCELLED")] == ["volume-7"]
    assert {s.state for n, s in steps.items() if n not in ("volume-7", "fit")} == {"COMPLETED"}
    far.service.retry(RetryParams(id=i, step="volume-7"))
    far.until(i, "COMPLETED")
    steps = far.steps(i)
    assert {n: s.attempt for n, s in steps.items() if s.attempt > 1} == {"volume-7": 2}
    results = far.service.get(WorkflowIdParams(id=i)).results
    found = {one["name"]: one["value"] for one in results["quantities"]}
    assert found["a0"] / BOHR_ANGSTROM == pytest.approx(A0_BOHR, abs=3e-3)
    assert found["b0"] == pytest.approx(B0_GPA, abs=1.5)
    known = results["provenance"]
    assert (known["ecutwfc_ry"], known["k_points"]) == ("18.0", "4 4 4 1 1 1")
    assert known["pseudopotential_Si"].startswith("Si.pz-vbc.UPF, MD5 a974")
    assert known["engine_version"].startswith("6.7")


def _scheduler_id(bench: ClusterBench, job: int) -> str | None:
    found = bench.store.row(job)["scheduler_id"]
    return None if found is None else str(found)


def reach_all(far: Workflows, holds: Callable[[], bool]) -> None:
    """Turn driver and lane until something holds."""
    deadline = time.monotonic() + _HANG_S
    while not holds():
        assert time.monotonic() < deadline
        far.turn()
