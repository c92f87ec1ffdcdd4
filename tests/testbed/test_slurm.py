"""Jobs on the testbed's real SLURM: from its login node, and over SSH through the jump host."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from crystalmath.codes.espresso.adapter import EspressoAdapter
from crystalmath.codes.espresso.bands import levels
from crystalmath.contract.jobs import CancelJobsParams, JobIdParams, LogParams
from crystalmath.contract.slurm import QueueParams, SchedulerJobsParams
from crystalmath.runners.shells.clusters import ClusterShells
from crystalmath.runners.shells.ssh_config import SshConfig
from crystalmath.runners.slurm.examine import Examination
from support.cluster_bench import ClusterBench
from support.templates import rendering
from support.testbed import (
    CALM,
    HERE,
    HOME,
    SI_SCF_RY,
    SSH_FILES,
    finish,
    reach,
)

if TYPE_CHECKING:
    from conftest import QuantumEspresso

pytestmark = [pytest.mark.testbed, pytest.mark.timeout(600)]


@pytest.fixture
def slurm(set_up: Callable[[str], str]) -> None:
    set_up("slurm-up")


@pytest.fixture
def bench(tmp_path: Path, slurm: None) -> Iterator[ClusterBench]:
    record = replace(HERE, remote_workdir=str(tmp_path / "remote"))
    made = ClusterBench(tmp_path, timing=CALM, record=record)
    yield made
    made.close()


@pytest.fixture
def shells(tmp_path: Path, slurm: None, set_up: Callable[[str], str]) -> Iterator[ClusterShells]:
    set_up("ssh-up")
    config = SshConfig(config_file=SSH_FILES / "config")
    made = ClusterShells(tmp_path / "known_hosts", lambda: None, config)
    yield made
    made.close()


@pytest.fixture(params=["cluster", "inner"])
def far(
    request: pytest.FixtureRequest, tmp_path: Path, shells: ClusterShells
) -> Iterator[ClusterBench]:
    """A bench whose cluster is behind SSH; ``inner`` is reached through the jump host only."""
    record = replace(HERE, hostname=str(request.param), remote_workdir=HOME)
    made = ClusterBench(
        tmp_path, code=EspressoAdapter(), timing=CALM, record=record, open_shell=shells.open
    )
    yield made
    made.close()


def test_a_script_runs_and_its_files_come_back(bench: ClusterBench) -> None:
    job = bench.send("echo hello; echo $SLURM_JOB_ID > id.txt", resources={"walltime_s": 60})
    assert finish(bench, job) == ["COMPLETED"]
    full = bench.service.get(JobIdParams(id=job))
    assert full.scheduler is not None
    assert (Path(full.directory) / "id.txt").read_text().strip() == full.scheduler.id
    assert (Path(full.directory) / "stdout.log").read_text() == "hello\n"


def test_ends_of_every_kind(bench: ClusterBench) -> None:
    limit = {"walltime_s": 60}
    bad = bench.send("echo no good >&2; exit 3", resources=limit)
    missing = bench.submit(inputs={"argv": ["no-such-program"]}, cluster="c", resources=limit)
    refused = bench.send("true", resources={"partition": "nowhere"})
    finish(bench, bad, missing, refused)
    reasons = [bench.store.row(job)["reason"] for job in (bad, missing, refused)]
    assert reasons == ["crashed", "did_not_start", "rejected"]


def test_the_time_limit(bench: ClusterBench) -> None:
    job = bench.send("sleep 600", resources={"walltime_s": 60, "partition": "debug"})
    assert finish(bench, job) == ["FAILED"]
    assert bench.store.row(job)["reason"] == "walltime", bench.store.row(job)["message"]


def test_cancel_while_it_waits_and_while_it_runs(bench: ClusterBench) -> None:
    waits = bench.send("true", resources={"partition": "closed"})
    runs = bench.send("sleep 600", resources={"walltime_s": 600})
    reach(bench, lambda: (bench.state(waits), bench.state(runs)) == ("SUBMITTED", "RUNNING"))
    rows = {row.job: row for row in bench.slurm.queue(QueueParams(cluster="c")).data}  # type: ignore[union-attr]
    assert rows[waits].outlook == "site"
    assert rows[waits].advice == "its partition takes no jobs at present"
    bench.service.cancel(CancelJobsParams(ids=[waits, runs]))
    assert finish(bench, waits, runs) == ["CANCELLED", "CANCELLED"]


def test_requeue_is_another_attempt_of_the_same_job(bench: ClusterBench) -> None:
    script = "echo run >> runs; while [ ! -e go ]; do sleep 0.1; done"
    job = bench.send(script, resources={"walltime_s": 600})
    reach(bench, lambda: bench.state(job) == "RUNNING")
    ident = bench.store.row(job)["scheduler_id"]
    where = Path(str(bench.clusters.remote(job).directory))
    reach(bench, (where / "runs").exists)
    subprocess.run(["scontrol", "requeue", ident], check=True)
    reach(bench, lambda: bench.store.row(job)["attempt"] == 2)
    at_once = ["scontrol", "update", f"jobid={ident}", "starttime=now"]

    def runs_again() -> bool:
        """It would wait for its nodes to be clean for two minutes; refused before it waits."""
        subprocess.run(at_once, capture_output=True, check=False)
        return (where / ".cm" / "start.2.json").exists()

    reach(bench, runs_again)
    (where / "go").touch()
    assert finish(bench, job) == ["COMPLETED"]
    assert bench.store.row(job)["attempt"] == 2
    assert (where / "runs").read_text() == "run\nrun\n"


def test_an_array_is_one_job_and_says_which_task_failed(bench: ClusterBench) -> None:
    script = 'cat in.txt; [ "$SLURM_ARRAY_TASK_ID" != 3 ] || exit 4'
    files = [{"path": "in.txt", "content": "hello\n"}]
    asked = {"array": "1-5:2%2", "walltime_s": 60}
    job = bench.send(script, files=files, resources=asked)
    assert finish(bench, job) == ["FAILED"]
    full = bench.service.get(JobIdParams(id=job))
    assert [(task.task, task.state, task.reason) for task in full.tasks] == [
        (1, "COMPLETED", None),
        (3, "FAILED", "crashed"),
        (5, "COMPLETED", None),
    ]
    assert full.message == "1 of 3 tasks failed: 3 (crashed)"
    for task in full.tasks:
        log = bench.service.log(LogParams(id=job, task=task.task))
        assert log.text == "hello\n"
        assert (Path(full.directory) / task.directory / "scheduler.log").exists()
    reach(bench, lambda: bench.service.get(JobIdParams(id=job)).usage is not None)
    used = bench.service.get(JobIdParams(id=job)).usage
    assert used is not None
    assert (used.source, used.n_cpus) == ("sacct", 1)
    assert used.core_hours is not None
    assert bench.clusters.cluster("c").probe["scheduler"]["max_array_size"] == 1001


def test_cancel_of_an_array_that_runs_and_waits(bench: ClusterBench) -> None:
    script = '[ "$SLURM_ARRAY_TASK_ID" = 1 ] || sleep 600'
    job = bench.send(script, resources={"array": "1-4%2", "walltime_s": 600})

    def states() -> list[str]:
        return [task.state for task in bench.service.get(JobIdParams(id=job)).tasks]

    reach(bench, lambda: states()[:2] == ["FINISHED", "RUNNING"])
    bench.service.cancel(CancelJobsParams(ids=[job]))
    assert finish(bench, job) == ["CANCELLED"]
    reach(bench, lambda: bench.clusters.remote(job).collected)
    assert states() == ["COMPLETED", "CANCELLED", "CANCELLED", "CANCELLED"]


def test_a_held_job_is_released(bench: ClusterBench) -> None:
    job = bench.send("true", resources={"walltime_s": 60, "extra": ["--hold"]})
    reach(bench, lambda: "held" in (bench.store.row(job)["attention"] or ""))
    ident = bench.store.row(job)["scheduler_id"]
    bench.slurm.release(SchedulerJobsParams(cluster="c", job_ids=[ident]))
    assert finish(bench, job) == ["COMPLETED"]


def test_the_environment_of_a_job_is_its_own(bench: ClusterBench) -> None:
    job = bench.send("env > env.txt", resources={"walltime_s": 60})
    finish(bench, job)
    here = bench.directories.path(bench.key(job))
    names = {line.partition("=")[0] for line in (here / "env.txt").read_text().splitlines()}
    assert not names & {"SLURM_TIME_FORMAT", "SLURM_BITSTR_LEN"}
    assert "OMP_NUM_THREADS" in names


def test_espresso_over_ssh(far: ClusterBench, qe: QuantumEspresso) -> None:
    job = far.submit(
        files=[{"path": "si.in", "content": qe.deck("si.scf")}],
        context={"ESPRESSO_PSEUDO": str(qe.pseudo)},
        resources={"walltime_s": 300, "ntasks": 2},
        cluster="c",
    )
    assert finish(far, job) == ["COMPLETED"], far.store.row(job)["message"]
    full = far.service.get(JobIdParams(id=job))
    assert full.results["energy_ry"] == pytest.approx(SI_SCF_RY, abs=1e-5)
    assert full.results["engine"]["processes"] == 2
    assert full.science.converged is True
    assert far.service.get(JobIdParams(id=job)).cluster == "c"


@pytest.mark.parametrize("far", ["cluster"], indirect=True)
def test_a_band_structure_is_one_job_of_several_steps(
    far: ClusterBench, qe: QuantumEspresso
) -> None:
    job = far.submit(
        task="band_structure",
        files=[{"path": "si.in", "content": qe.deck("si.scf")}],
        inputs={"k_path": [[0.0, 0.0, 0.0], [0.425, 0.0, 0.425], [0.5, 0.0, 0.5]]},
        context={"ESPRESSO_PSEUDO": str(qe.pseudo)},
        # One process: beside other tests two of MPI would wait for each other most of the time.
        resources={"walltime_s": 300},
        cluster="c",
    )
    assert finish(far, job) == ["COMPLETED"], far.store.row(job)["message"]
    full = far.service.get(JobIdParams(id=job))
    assert full.results["energy_ry"] == pytest.approx(SI_SCF_RY, abs=1e-5)
    found = levels.read(full.directory)
    assert found["bands"]["occupied_ev"] == pytest.approx(6.2549, abs=1e-3)
    assert found["nscf"]["mesh"] == [8, 8, 8, 0, 0, 0]


def test_espresso_that_does_not_converge_is_judged_as_here(
    bench: ClusterBench, qe: QuantumEspresso, tmp_path: Path
) -> None:
    record = replace(HERE, remote_workdir=str(tmp_path / "remote"))
    (tmp_path / "espresso").mkdir()
    made = ClusterBench(tmp_path / "espresso", code=EspressoAdapter(), timing=CALM, record=record)
    job = made.submit(
        files=[{"path": "si.in", "content": qe.deck("si.noconv")}],
        context={"ESPRESSO_PSEUDO": str(qe.pseudo)},
        resources={"walltime_s": 300},
        cluster="c",
    )
    assert finish(made, job) == ["FAILED"]
    row = made.store.row(job)
    assert (row["reason"], row["science_status"]) == ("not_converged", "not_converged")
    made.close()


def test_the_report_of_a_cluster_behind_the_jump_host(shells: ClusterShells) -> None:
    record = replace(HERE, hostname="inner", remote_workdir=HOME, queue_name="nowhere")
    report = Examination(shells.test, shells.open)(record, deadline_s=30.0)
    assert report.reachable
    assert report.user == "cmtest"
    assert report.host_key is not None
    assert report.host_key.known
    assert report.scheduler is not None
    assert report.scheduler.accounting
    assert {one.name for one in report.partitions} == {"main", "debug", "low", "closed"}
    assert report.scratch is not None
    assert report.scratch.writable
    assert any("no partition nowhere" in one.what for one in report.problems)


def test_a_host_without_a_scheduler(tmp_path: Path, shells: ClusterShells) -> None:
    record = replace(HERE, kind="ssh", hostname="inner", remote_workdir=HOME)
    bench = ClusterBench(tmp_path, timing=CALM, record=record, open_shell=shells.open)
    good = bench.send("hostname > out.txt; sleep 3")
    long = bench.send("sleep 600")
    reach(bench, lambda: bench.state(long) == "RUNNING")
    bench.service.cancel(CancelJobsParams(id=long))
    assert finish(bench, good, long) == ["COMPLETED", "CANCELLED"]
    assert (bench.directories.path(bench.key(good)) / "out.txt").exists()
    bench.close()


@pytest.mark.parametrize(
    ("name", "given"),
    [("slurm_serial", {}), ("slurm_mpi", {"nodes": 2, "ntasks": 2}), ("slurm_array", {})],
)
def test_scripts_of_templates_are_taken(
    slurm: None, tmp_path: Path, name: str, given: dict[str, int]
) -> None:
    """SLURM reads each as it comes out of its template, and says when it would run."""
    made = rendering(tmp_path).render(f"job/{name}", given)
    script = tmp_path / made.files[0].path
    script.write_text(made.files[0].content)
    ran = subprocess.run(
        ["sbatch", "--test-only", script], capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    assert "to start at" in ran.stderr
