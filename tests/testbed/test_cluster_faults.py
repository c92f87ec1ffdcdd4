"""Jobs on the real SLURM while connections, daemons and SLURM itself fail under them."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from crystalmath.codes.espresso.adapter import EspressoAdapter
from crystalmath.contract.jobs import CancelJobsParams, JobIdParams
from crystalmath.contract.slurm import AdoptParams
from crystalmath.errors import Conflict
from crystalmath.runners.shells.clusters import ClusterShells
from crystalmath.runners.shells.ssh_config import SshConfig
from crystalmath.services import cluster_steps
from crystalmath.services.ports_cluster import Accepted
from support.cluster_bench import ClusterBench
from support.daemon import wait_until
from support.testbed import CALM, HERE, HOME, SI_SCF_RY, SSH_FILES, finish, reach

if TYPE_CHECKING:
    from conftest import QuantumEspresso

pytestmark = [pytest.mark.testbed, pytest.mark.timeout(600)]

FOLDER = Path(os.environ.get("CRYSTALMATH_TESTBED", Path(__file__).parent))
CONF = Path("/etc/slurm/slurm.conf")
LIMIT = {"walltime_s": 600}
WAITS = "echo run >> runs; while [ ! -e go ]; do sleep 0.1; done"
GONE_S = 120.0


@pytest.fixture
def bench(tmp_path: Path, set_up: Callable[[str], str]) -> Iterator[ClusterBench]:
    set_up("slurm-up")
    record = replace(HERE, remote_workdir=str(tmp_path / "remote"))
    made = ClusterBench(tmp_path, timing=CALM, record=record)
    yield made
    made.close()


@pytest.fixture
def behind_the_jump_host(tmp_path: Path, set_up: Callable[[str], str]) -> Iterator[ClusterBench]:
    set_up("slurm-up")
    set_up("ssh-up")
    shells = ClusterShells(
        tmp_path / "known_hosts", lambda: None, SshConfig(config_file=SSH_FILES / "config")
    )
    record = replace(HERE, hostname="inner", remote_workdir=HOME)
    made = ClusterBench(
        tmp_path, code=EspressoAdapter(), timing=CALM, record=record, open_shell=shells.open
    )
    yield made
    made.close()
    shells.close()


def slurm_drop(action: str, daemon: str) -> None:
    done = subprocess.run(
        [FOLDER / "slurm-drop", action, daemon], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


@contextmanager
def stopped(daemon: str) -> Iterator[None]:
    """Without the controller (``ctld``) or the accounting (``dbd``)."""
    slurm_drop("stop", daemon)
    try:
        yield
    finally:
        slurm_drop("start", daemon)


@contextmanager
def forgetful() -> Iterator[None]:
    """With a controller that forgets ended jobs after two seconds."""
    before = CONF.read_text(encoding="utf-8")

    def restart_with(text: str) -> None:
        CONF.write_text(text, encoding="utf-8")
        slurm_drop("stop", "ctld")
        slurm_drop("start", "ctld")

    restart_with(before.replace("MinJobAge=300", "MinJobAge=2"))
    try:
        assert "MinJobAge               = 2 sec" in said_by("scontrol", "show", "config")
        yield
    finally:
        restart_with(before)


def said_by(*argv: str) -> str:
    return subprocess.run(argv, capture_output=True, text=True, check=False).stdout


def there(bench: ClusterBench, job: int) -> Path:
    """The directory of a job on the cluster, which is this machine."""
    return Path(str(bench.clusters.remote(job).directory))


def ident(bench: ClusterBench, job: int) -> str:
    return str(bench.store.row(job)["scheduler_id"])


def test_the_controller_stops_under_live_jobs(
    bench: ClusterBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster_steps, "_LIMIT_AFTER_S", (1.0,))
    runs, cancelled = bench.send(WAITS, resources=LIMIT), bench.send("sleep 600", resources=LIMIT)
    reach(bench, lambda: {bench.state(runs), bench.state(cancelled)} == {"RUNNING"})
    reach(bench, (there(bench, runs) / "runs").exists)
    with stopped("ctld"):
        reach(bench, lambda: bench.clusters.cluster("c").unreachable_since is not None)
        bench.service.cancel(CancelJobsParams(id=cancelled))
        later = bench.send("true", resources=LIMIT)
        reach(bench, lambda: "does not answer" in (bench.store.row(later)["last_error"] or ""))
        (there(bench, runs) / "go").touch()  # its end is not seen by anybody
        states = [bench.state(job) for job in (runs, cancelled, later)]
        assert states == ["RUNNING", "CANCELLING", "STAGED"]
    assert finish(bench, runs, cancelled, later) == ["COMPLETED", "CANCELLED", "COMPLETED"]
    assert bench.clusters.cluster("c").unreachable_since is None
    assert bench.store.row(runs)["attempt"] == 1


def test_an_end_that_the_queue_never_showed(bench: ClusterBench) -> None:
    """Found in the accounting; and by the receipt of the job, where that is stopped as well."""
    with forgetful():
        known = bench.send("sleep 1", resources=LIMIT)
        hand_over_unseen(bench, known)
        assert finish(bench, known) == ["COMPLETED"]
        with stopped("dbd"):
            receipt = bench.send("sleep 1; exit 3", resources=LIMIT)
            hand_over_unseen(bench, receipt)
            assert finish(bench, receipt) == ["FAILED"]
            assert bench.store.row(receipt)["reason"] == "crashed"
    for job in (known, receipt):
        seen = [event.to_state for event in bench.service.get(JobIdParams(id=job)).events]
        assert not {"RUNNING", "LOST"} & set(seen)


def hand_over_unseen(bench: ClusterBench, job: int) -> None:
    """Hand a job over, and look at the queue no sooner than it has forgotten it."""
    bench.lane.polls._poll_at = bench.now + 1e6
    reach(bench, lambda: bench.state(job) == "SUBMITTED")
    number = ident(bench, job)
    wait_until(
        lambda: number not in said_by("squeue", "-h", "-t", "all", "-o", "%i").split(),
        f"job {number} is forgotten",
        GONE_S,
        every_s=0.2,
    )


def test_a_cancel_that_comes_too_late_changes_no_end(bench: ClusterBench) -> None:
    job = bench.send(WAITS, resources=LIMIT)
    reach(bench, lambda: bench.state(job) == "RUNNING")
    (there(bench, job) / "go").touch()
    wait_until((there(bench, job) / ".cm" / "end.1.json").exists, "the job has ended", GONE_S)
    bench.service.cancel(CancelJobsParams(id=job))
    assert finish(bench, job) == ["COMPLETED"]


def test_a_second_job_in_one_directory_touches_nothing(bench: ClusterBench) -> None:
    job = bench.send(WAITS, resources=LIMIT)
    reach(bench, lambda: bench.state(job) == "RUNNING")
    where = there(bench, job)
    reach(bench, (where / "runs").exists)
    argv = ["sbatch", "--parsable", "--wait", "--job-name=again", "job.sh"]
    again = subprocess.run(argv, cwd=where, capture_output=True, text=True, check=False)
    assert again.returncode == 73, again.stderr
    (where / "go").touch()
    assert finish(bench, job) == ["COMPLETED"]
    assert (where / "runs").read_text() == "run\n"
    log = (where / "scheduler.log").read_text()
    assert f"job {ident(bench, job)} works in this directory already" in log


def test_one_submission_made_at_the_same_time_is_one_job(bench: ClusterBench) -> None:
    job = bench.send("echo run >> runs", resources=LIMIT)
    bench.turn()
    reach(bench, lambda: bench.clusters.remote(job).directory is not None)
    runner = bench.runners.of(bench.cluster)
    where, name = str(there(bench, job)), f"{bench.clusters.remote(job).key}.twice"
    with ThreadPoolExecutor(4) as pool:
        said = list(pool.map(lambda _: runner.submit(where, name, 1), range(4)))
    accepted = {one.job_id for one in said if isinstance(one, Accepted)}
    assert len(accepted) == 1, said
    assert finish(bench, job) == ["COMPLETED"]
    assert (Path(where) / "runs").read_text() == "run\n"
    assert ident(bench, job) == str(accepted.pop())


def test_a_job_submitted_by_hand_is_adopted_followed_and_read(
    behind_the_jump_host: ClusterBench, qe: QuantumEspresso
) -> None:
    bench = behind_the_jump_host
    where = Path("/home/cmtest") / f"by-hand-{time.monotonic_ns()}"
    by_hand = ["setpriv", "--reuid=cmtest", "--regid=cmtest", "--clear-groups", "sh", "-c"]
    script = (
        f"#!/bin/sh\n#SBATCH -J silicon\nexport OMP_NUM_THREADS=1 ESPRESSO_PSEUDO={qe.pseudo}\n"
        f"{qe.pw_x} -in si.scf.in > si.scf.out\nwhile [ ! -e go ]; do sleep 0.1; done\n"
    )
    subprocess.run([*by_hand, f"mkdir {where}"], check=True)
    (where / "si.scf.in").write_text(qe.deck("si.scf"), encoding="utf-8")
    (where / "run.sh").write_text(script, encoding="utf-8")
    try:
        line = f"cd {where} && HOME=/home/cmtest sbatch --parsable run.sh"
        done = subprocess.run([*by_hand, line], capture_output=True, text=True, check=True)
        number = done.stdout.strip()
        wait_until(lambda: "JOB DONE" in read(where / "si.scf.out"), "pw.x has ended", GONE_S)
        params = AdoptParams(cluster="c", job_id=number)
        job = bench.slurm.adopt(params).job
        with pytest.raises(Conflict):
            bench.slurm.adopt(params)
        assert (job.code, job.name) == ("espresso", "silicon")
        reach(bench, lambda: bench.state(job.id) == "RUNNING")
        subprocess.run([*by_hand, f"touch {where}/go"], check=True)
        assert finish(bench, job.id) == ["COMPLETED"]
        full = bench.service.get(JobIdParams(id=job.id))
        assert full.results["energy_ry"] == pytest.approx(SI_SCF_RY, abs=1e-5)
        assert (where / "si.scf.in").read_text(encoding="utf-8") == qe.deck("si.scf")
    finally:
        subprocess.run(["rm", "-rf", where], check=True)


def read(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.exists() else ""
