"""A pw.x job on SLURM behind the jump host, watched in the UI while everything under it fails."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from e2e.conftest import Terminal
from rig.testbed import USER, WAYS, give_key, let_in
from support.daemon import ROOT, wait_until
from support.screen import Screen
from support.testbed import ENDS, SI_SCF_RY

if TYPE_CHECKING:
    from conftest import QuantumEspresso, SshServers

pytestmark = [pytest.mark.testbed, pytest.mark.timeout(900)]

HANG_S = 300.0
LINES_A_SECOND = 15
SLOWLY = f"""#!/bin/bash
# Starts `mpirun -n N …` and passes on what it prints line by line, as a long calculation would.
set -o pipefail
n=$1; shift
mpirun -n "$n" "$@" | while IFS= read -r line; do
  printf '%s\\n' "$line"; sleep {1 / LINES_A_SECOND:.3f}
done
"""


@pytest.fixture
def slowly() -> Iterator[Path]:
    """A launcher that the user of the cluster may run too."""
    with tempfile.TemporaryDirectory(prefix="cm-") as folder:
        Path(folder).chmod(0o755)
        program = Path(folder, "slowly")
        program.write_text(SLOWLY, encoding="utf-8")
        program.chmod(0o755)
        yield program


@pytest.fixture
def terminal(slowly: Path, set_up: Callable[[str], str]) -> Iterator[Terminal]:
    """A user with a cluster named ``far``, behind the jump host."""
    set_up("slurm-up")
    made = Terminal()
    give_key(Path(made.env["HOME"]))
    assert made.run("list").returncode == 0
    record = {"name": "far", "username": USER, "remote_workdir": "~/crystalmath-tests"}
    record |= {"launcher": f"{slowly} {{n}}", "min_poll_s": 5, "query_budget": None}
    made.daemon.call("clusters.create", {**record, **WAYS["through"]})
    let_in(lambda method, given: data(made, method, given), "far")
    yield made
    made.daemon.cleanup()


def data(terminal: Terminal, method: str, params: dict[str, Any]) -> Any:
    with terminal.daemon.connect() as connection:
        connection.sock.settimeout(HANG_S)
        return connection.data(method, params)


def job_of(terminal: Terminal) -> dict[str, Any]:
    """The only job, whichever daemon answers; empty while none does."""
    try:
        found: dict[str, Any] = data(terminal, "jobs.get", {"id": 1})
    except OSError:
        return {}
    return found


def test_silicon_comes_to_its_energy_whatever_breaks(
    terminal: Terminal, ssh_servers: SshServers, qe: QuantumEspresso
) -> None:
    deck = qe.deck("si.scf")
    submission = {
        "name": "silicon", "code": "espresso", "cluster": "far",
        "files": [{"path": "si.scf.in", "content": deck}],
        "context": {"ESPRESSO_PSEUDO": str(qe.pseudo)},
        "resources": {"ntasks": 2, "walltime_s": 900},
    }  # fmt: skip
    with Screen(terminal.program, env=terminal.env, cwd=ROOT, cols=120, rows=40) as ui:
        ui.see("live")
        data(terminal, "jobs.submit", submission)
        ui.see_row("silicon", "far")
        ssh_servers.drop("kill", "jump")  # while its files are sent, or it is handed over
        ui.see_row("silicon", "running", timeout_s=HANG_S)
        ui.keys("L")
        ui.see("Program PWSCF", timeout_s=HANG_S)

        ssh_servers.drop("stall", "inner")
        first = terminal.daemon.pid()
        os.kill(first, signal.SIGKILL)
        ui.see("live", timeout_s=HANG_S)  # the UI has started another daemon
        assert terminal.daemon.pid() != first
        ssh_servers.drop("resume", "inner")

        data(terminal, "slurm.sync", {"cluster": "far"})
        ssh_servers.drop("refuse", "jump")
        ssh_servers.drop("kill", "jump")
        wait_until(lambda: is_away(terminal), "it is out of reach", HANG_S, every_s=0.2)
        assert job_of(terminal)["state"] == "RUNNING", "what cannot be seen has not changed"
        ssh_servers.drop("accept", "jump")
        data(terminal, "clusters.test", {"id": "far"})

        ui.see("JOB DONE", timeout_s=HANG_S)
        wait_until(lambda: job_of(terminal).get("state") in ENDS, "its end", HANG_S, every_s=0.5)
        ui.keys("Escape")
        ui.see_row("silicon", "completed", timeout_s=HANG_S)
    job = job_of(terminal)
    assert job["state"] == "COMPLETED", job
    assert job["results"]["energy_ry"] == pytest.approx(SI_SCF_RY, abs=1e-5)
    assert job["attempt"] == 1
    states = [event["to_state"] for event in job["events"] if event["to_state"]]
    assert list(dict.fromkeys(states)) == [
        *("CREATED", "STAGED", "SUBMITTED", "RUNNING", "FINISHED", "COMPLETED"),
    ]
    key = "cm-" + job["uuid"].replace("-", "")[-12:]
    argv = ["sacct", "-n", "-P", "-X", "-u", USER, "-S", "now-1hour", "-o", "JobID,JobName"]
    listed = subprocess.run(argv, capture_output=True, text=True, check=True).stdout
    assert [line for line in listed.splitlines() if key in line] == [
        f"{job['scheduler']['id']}|{key}.silicon"
    ]


def is_away(terminal: Terminal) -> bool:
    cluster = data(terminal, "clusters.get", {"id": "far"})
    return cluster["unreachable_since"] is not None
