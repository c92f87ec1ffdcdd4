"""The code ``crystal`` on the real SLURM behind the jump host, with a stand-in for the program."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from crystalmath.contract.jobs import ContinueParams, JobIdParams
from crystalmath.runners.shells.clusters import ClusterShells
from crystalmath.runners.shells.ssh_config import SshConfig
from crystalmath.services.ports_cluster import Accepted
from support.cluster_bench import ClusterBench
from support.crystal import crystal, install_stand_in, scf_output
from support.service_fakes import FakeCall
from support.testbed import CALM, HERE, HOME, SSH_FILES, finish, reach

if TYPE_CHECKING:
    from conftest import SshServers

pytestmark = [pytest.mark.testbed, pytest.mark.timeout(600)]

DECK = "MgO\nEXTERNAL\nOPTGEOM\nEND\nBASISSET\nPOB-DZVP\nSHRINK\n8 8\nEND\n"
LONG_S = "300"
_CALL: Any = FakeCall()


@pytest.fixture
def programs() -> Iterator[Path]:
    """A directory of programs that the users of the cluster can read, and write what they tell."""
    folder = Path(tempfile.mkdtemp(prefix="crystal-stand-in-"))
    folder.chmod(0o755)
    install_stand_in(folder, scf_output(end=None)).chmod(0o777)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def bench(tmp_path: Path, set_up: Callable[[str], str], programs: Path) -> Iterator[ClusterBench]:
    set_up("slurm-up")
    set_up("ssh-up")
    shells = ClusterShells(
        tmp_path / "known_hosts", lambda: None, SshConfig(config_file=SSH_FILES / "config")
    )
    record = replace(HERE, hostname="inner", remote_workdir=HOME, codes={"crystal": str(programs)})
    made = ClusterBench(
        tmp_path, code=crystal(), timing=CALM, record=record, open_shell=shells.open
    )
    yield made
    made.close()
    shells.close()


def in_scratch(told: Path, name: str) -> bool:
    """Whether the stand-in has left a file where it works."""
    where = told / "scratch"
    return where.exists() and (Path(where.read_text().strip()) / name).exists()


def started(key: str) -> int:
    """How many jobs of the last hour with this key SLURM's accounting knows."""
    argv = ["sacct", "-a", "-n", "-X", "-P", "-S", "now-1hour", "-o", "JobName"]
    names = subprocess.run(argv, capture_output=True, text=True, check=True).stdout.split()
    return sum(name.startswith(key) for name in names)


def test_a_run_is_staged_warned_collected_and_goes_on_and_each_runs_once(
    bench: ClusterBench, programs: Path, ssh_servers: SshServers
) -> None:
    told = programs / "told"
    (told / "nap").write_text(LONG_S)
    (told / "quiet").touch()
    files = [
        {"path": "mgo.d12", "content": DECK},
        {"path": "mgo.gui", "content": "old .gui\n"},
    ]
    wanted = {"files": files, "resources": {"walltime_s": 600, "ntasks": 2}, "cluster": "c"}
    job = bench.submit(**wanted)
    reach(bench, lambda: bench.clusters.remote(job).directory is not None)
    # Handed over by three at the same time, as after a crash: one of them submits.
    remote = bench.clusters.remote(job)
    runner = bench.runners.of(bench.cluster)
    with ThreadPoolExecutor(3) as pool:
        said = list(
            pool.map(
                lambda _: runner.submit(str(remote.directory), f"{remote.key}.mgo", 1), range(3)
            )
        )
    assert len({one.job_id for one in said if isinstance(one, Accepted)}) == 1, said
    reach(bench, lambda: bench.state(job) == "RUNNING" and in_scratch(told, "optc001"))
    assert (told / "INPUT").read_text() == DECK
    assert (told / "staged.fort.34").read_text() == "old .gui\n"
    assert "OMP_NUM_THREADS=1" in (told / "environment").read_text().splitlines()

    # What the scheduler sends shortly before the limit; the connection dies meanwhile.
    ssh_servers.drop("kill", "inner")
    ident = str(bench.store.row(job)["scheduler_id"])
    subprocess.run(["scancel", "--batch", "--signal=USR1", ident], check=True)
    assert finish(bench, job) == ["FAILED"]
    full = bench.service.get(JobIdParams(id=job))
    assert full.reason == "walltime", full.message
    here = Path(full.directory)
    for ending, name in ((".f9", "fort.9"), (".gui", "fort.34"), (".optinfo", "OPTINFO.DAT")):
        assert (here / f"mgo{ending}").read_text() == f"new {name}\n"
    assert (here / "mgo.out").read_text() == scf_output(end=None)
    scratch = (told / "scratch").read_text().strip()
    assert not Path(scratch).exists()

    (told / "nap").write_text("0")
    (told / "output").write_text(scf_output())
    onward = bench.service.continue_(ContinueParams(id=job), _CALL)
    assert onward.job is not None
    assert finish(bench, onward.job.id) == ["COMPLETED"], bench.whys(onward.job.id)
    done = bench.service.get(JobIdParams(id=onward.job.id))
    assert done.results["final_energy_hartree"] == -271.21814374931
    deck = (told / "INPUT").read_text()
    assert "OPTGEOM\nRESTART\n" in deck
    assert "GUESSP\n" in deck
    assert (told / "staged.OPTINFO.DAT").read_text() == "new OPTINFO.DAT\n"
    assert (told / "staged.fort.20").read_text() == "new fort.9\n"

    assert (told / "runs").read_text() == "run\nrun\n"
    keys = [bench.clusters.remote(one).key for one in (job, onward.job.id)]
    # Accounting learns of a job some time after the controller.
    reach(bench, lambda: {key for key in keys if started(key)} == set(keys))
    assert [started(key) for key in keys] == [1, 1]
