"""A pw.x job on SLURM behind the jump host, watched in the UI while everything under it fails."""

from __future__ import annotations

import os
import signal
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from e2e.conftest import Terminal
from rig import testbed
from rig.testbed import HOME, USER, WAYS, give_key, let_in
from support.daemon import ROOT, wait_until
from support.screen import Screen
from support.testbed import ENDS, SI_SCF_RY

if TYPE_CHECKING:
    from conftest import QuantumEspresso

pytestmark = [pytest.mark.testbed, pytest.mark.timeout(900)]

HANG_S = 300.0
REMOTE = "crystalmath-tests"
SLOWLY = """#!/bin/bash
# Starts `mpirun -n N ...` and passes on what it prints, as a long calculation would: the third
# iteration when a file `go.scf` is there, the last lines when `go.end` is. Waits for nothing once
# it has been removed itself.
set -o pipefail
until_there() { while [ ! -e "$1" ] && [ -e "$0" ]; do sleep 0.1; done; }
echo run >> runs
n=$1; shift
mpirun -n "$n" "$@" | while IFS= read -r line; do
  case $line in *"iteration #  3"*) until_there go.scf;; *"JOB DONE"*) until_there go.end;; esac
  printf '%s\\n' "$line"
done
"""


@pytest.fixture
def bed(set_up: Callable[[str], str]) -> Iterator[testbed.Testbed]:
    """The servers, which are mended at the end."""
    set_up("slurm-up")
    set_up("ssh-up")
    made = testbed.Testbed()
    yield made
    made.mend()


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
def terminal(bed: testbed.Testbed, slowly: Path) -> Iterator[Terminal]:
    """A user with a cluster named ``far``, behind the jump host."""
    made = Terminal()
    try:
        give_key(Path(made.env["HOME"]))
        assert made.run("jobs").returncode == 0
        record = {
            "name": "far", "username": USER, "remote_workdir": f"~/{REMOTE}",
            "launcher": f"{slowly} {{n}}", "min_poll_s": 5, "query_budget": None,
        }  # fmt: skip
        made.daemon.call("clusters.create", {**record, **WAYS["through"]})
        let_in(lambda method, given: data(made, method, given), "far")
        yield made
    finally:
        made.daemon.cleanup()


def data(terminal: Terminal, method: str, params: dict[str, Any]) -> Any:
    """Call a method that may ask the cluster."""
    with terminal.daemon.connect() as connection:
        connection.sock.settimeout(HANG_S)
        return connection.data(method, params)


def job_of(terminal: Terminal) -> dict[str, Any]:
    """The only job."""
    found: dict[str, Any] = data(terminal, "jobs.get", {"id": 1})
    return found


def key_of(job: dict[str, Any]) -> str:
    """What SLURM knows it by, and the name of its directory on the cluster."""
    return "cm-" + str(job["uuid"]).replace("-", "")[-12:]


def submit(terminal: Terminal, qe: QuantumEspresso) -> None:
    submission = {
        "name": "silicon", "code": "espresso", "cluster": "far",
        "files": [{"path": "si.scf.in", "content": qe.deck("si.scf")}],
        "context": {"ESPRESSO_PSEUDO": str(qe.pseudo)},
        "resources": {"ntasks": 2, "walltime_s": 900},
    }  # fmt: skip
    data(terminal, "jobs.submit", submission)


def kill_daemon(terminal: Terminal) -> None:
    """End it at once, and wait for the one that the UI starts."""
    first = terminal.daemon.pid()
    os.kill(first, signal.SIGKILL)

    def is_another() -> bool:
        try:
            hello = terminal.daemon.hello()
        except (OSError, AssertionError):
            return False
        return bool(hello["state"] == "ready" and hello["pid"] != first)

    wait_until(is_another, "another daemon", HANG_S, every_s=0.5)


def cut_off(terminal: Terminal, bed: testbed.Testbed) -> None:
    """End the connections, let none come, and wait until that is known."""
    bed.drop("refuse", "jump")
    assert bed.drop("kill", "jump") > 0

    def is_known() -> bool:
        return data(terminal, "clusters.get", {"id": "far"})["unreachable_since"] is not None

    wait_until(is_known, "it is out of reach", HANG_S, every_s=0.5)


def test_silicon_comes_to_its_energy_whatever_breaks(
    terminal: Terminal, bed: testbed.Testbed, qe: QuantumEspresso
) -> None:
    began = time.time()
    with Screen(terminal.program, env=terminal.env, cwd=ROOT, cols=120, rows=40) as ui:
        ui.see("live")
        submit(terminal, qe)
        ui.see_match(r"where +far", timeout_s=HANG_S)
        assert bed.drop("kill", "jump") > 0  # while its files are sent, or it is handed over
        ui.see_row("silicon", "running", timeout_s=HANG_S)
        ui.keys("L")
        ui.see("iteration #  2", gone=("iteration #  3",), timeout_s=HANG_S)

        there = HOME / REMOTE / key_of(job_of(terminal))
        bed.drop("stall", "inner")
        (there / "go.scf").touch()
        kill_daemon(terminal)
        bed.drop("resume", "inner")
        ui.see("live", "PWSCF        :", gone=("JOB DONE",), timeout_s=HANG_S)

        cut_off(terminal, bed)
        (there / "go.end").touch()  # its end is not seen by anybody
        assert job_of(terminal)["state"] == "RUNNING", "what cannot be seen has not changed"
        bed.drop("accept", "jump")
        data(terminal, "clusters.test", {"id": "far"})
        ui.see("JOB DONE", timeout_s=HANG_S)
        wait_until(lambda: job_of(terminal)["state"] in ENDS, "its end", HANG_S, every_s=0.5)
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
    assert (there / "runs").read_text(encoding="utf-8") == "run\n"
    known = {name: ids for name, ids in bed.history(began).items() if key_of(job) in name}
    assert known == {f"{key_of(job)}.silicon": {job["scheduler"]["id"]}}
