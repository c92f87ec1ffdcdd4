"""A workflow of pw.x on the testbed's real SLURM, over SSH, from the command line to numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from crystalmath.units import BOHR_ANGSTROM
from e2e.conftest import Terminal
from rig.testbed import USER, WAYS, give_key, let_in

if TYPE_CHECKING:
    from conftest import QuantumEspresso

pytestmark = [pytest.mark.testbed, pytest.mark.timeout(600)]

HANG_S = 300.0
A0_BOHR, B0_GPA = 10.2096, 93.9
"""Silicon, 18 Ry, mesh 4 4 4 beside Γ: seven lattice constants from 9.9 to 10.5 bohr, by ev.x."""
HALF = 10.2 * BOHR_ANGSTROM / 2
SILICON = (
    f"silicon\n1.0\n0 {HALF} {HALF}\n{HALF} 0 {HALF}\n{HALF} {HALF} 0\nSi\n2\ndirect\n"
    "0 0 0\n0.25 0.25 0.25\n"
)


@pytest.fixture
def terminal(set_up: Callable[[str], str]) -> Iterator[Terminal]:
    """A user with a cluster named ``far``."""
    set_up("slurm-up")
    set_up("ssh-up")
    made = Terminal()
    try:
        give_key(Path(made.env["HOME"]))
        assert made.run("jobs").returncode == 0
        record = {
            "name": "far", "username": USER, "remote_workdir": "~/crystalmath-tests",
            "launcher": "mpirun", "min_poll_s": 5, "query_budget": None,
        }  # fmt: skip
        made.daemon.call("clusters.create", {**record, **WAYS["direct"]})

        def call(method: str, given: dict[str, Any]) -> Any:
            with made.daemon.connect() as connection:
                connection.sock.settimeout(HANG_S)
                return connection.data(method, given)

        let_in(call, "far")
        yield made
    finally:
        made.daemon.cleanup()


def test_the_equation_of_state_of_silicon_through_the_command_line(
    terminal: Terminal, qe: QuantumEspresso, tmp_path: Path
) -> None:
    structure = tmp_path / "silicon.vasp"
    structure.write_text(SILICON, encoding="utf-8")
    terminal.env["ESPRESSO_PSEUDO"] = str(qe.pseudo)
    options = ("pseudo_family=pz-vbc", "ecutwfc_ry=18", "k_mesh=[4,4,4]", "k_shift=[1,1,1]")
    given = [word for option in options for word in ("--option", option)]
    done = terminal.popen(
        "workflows", "eos", str(structure), "--code", "espresso",
        "--cluster", "far", *given, "--no-relax", "--points", "5", "--walltime", "5:00", "--wait",
    )  # fmt: skip
    out, err = done.communicate(timeout=HANG_S)
    assert done.returncode == 0, out + err
    assert "V₀ per atom" in out
    assert "calculated" in out, "the curve is drawn"
    assert "volume-5  COMPLETED" in err
    found = terminal.json("workflows", "show", "1")
    found = found.get("data", found)
    value = {one["name"]: one["value"] for one in found["results"]["quantities"]}
    assert value["a0"] / BOHR_ANGSTROM == pytest.approx(A0_BOHR, abs=1e-2)
    assert value["b0"] == pytest.approx(B0_GPA, abs=3)
    jobs = [step["job"] for step in found["graph"] if step["job"] is not None]
    assert len(jobs) == 5
    job = terminal.json("show", str(jobs[0]))
    assert job.get("data", job)["cluster"] == "far"
