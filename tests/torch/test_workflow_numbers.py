"""Equations of state with CHGNet and SevenNet, as the daemon's workflows compute them."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from ase import Atoms
from ase.build import bulk

from support.daemon import ROOT, Daemon, wait_until
from support.torch_engines import call, install

pytestmark = [pytest.mark.torch, pytest.mark.timeout(1800)]

# ASE's prototype and its lattice constant; a₀ in Å and B₀ in GPa of CHGNet 0.3.0, computed with its
# own ASE calculator at eleven volumes, ± 3 % in length
CHGNET = {
    "Si": (("diamond", 5.43), 5.461, 71.3),
    "MgO": (("rocksalt", 4.21), 4.257, 139.8),
    "NaCl": (("rocksalt", 5.64), 5.697, 24.4),
    "Al": (("fcc", 4.05), 4.043, 55.9),
    "Cu": (("fcc", 3.60), 3.617, 143.6),
}
VOLUME_REACH = 0.09  # ± 3 % in length


def equation_of_state(daemon: Daemon, atoms: Atoms, engine: str, **more: Any) -> dict[str, float]:
    """Run the workflow to its end; its quantities."""
    rows = [" ".join(f"{x:.12f}" for x in row) for row in (*atoms.cell, *atoms.positions)]
    symbols = atoms.get_chemical_symbols()
    head = ["cell", "1.0", *rows[:3], " ".join(symbols), " ".join("1" for _ in symbols)]
    text = "\n".join([*head, "Cartesian", *rows[3:], ""])
    asked = {"structure": {"text": text, "format": "poscar"}, "engine": engine, **more}
    i = call(daemon, "workflows.create_eos", asked)["workflow"]["id"]
    wait_until(
        lambda: daemon.call("workflows.get", {"id": i})["state"] != "RUNNING",
        f"the workflow of {atoms.get_chemical_formula()} ends", 900, every_s=0.5,
    )  # fmt: skip
    found = daemon.call("workflows.get", {"id": i})
    assert found["state"] == "COMPLETED", found["message"]
    assert found["results"]["provenance"]["engine_model"] == more["model"]
    return {one["name"]: one["value"] for one in found["results"]["quantities"]}


@pytest.fixture(scope="session")
def chgnet(daemon: Daemon) -> Path:
    return install(daemon, "chgnet")


@pytest.mark.parametrize("name", CHGNET)
def test_equations_of_state_of_chgnet(daemon: Daemon, chgnet: Path, name: str) -> None:
    (kind, start), a, b0_gpa = CHGNET[name]
    options = {"points": 11, "reach": VOLUME_REACH}
    atoms = bulk(name, kind, a=start)
    found = equation_of_state(daemon, atoms, "chgnet", model="0.3.0", options=options)
    assert found["a_relaxed"] == pytest.approx(a, abs=0.005)
    assert found["a0"] == pytest.approx(a, abs=0.02)
    assert found["b0"] == pytest.approx(b0_gpa, rel=0.1)


def test_sevennet_ends_where_ase_in_its_own_environment_does(
    daemon: Daemon, homes: dict[str, Path]
) -> None:
    """Relaxation and equation of state of silicon, in a process that knows nothing of this one."""
    model, script = "7net-0", ROOT / "tests" / "support" / "sevenn_alone.py"
    done = subprocess.run(
        [homes["sevenn"] / "bin" / "python", "-I", script, model],
        check=True, capture_output=True, text=True, timeout=900,
    )  # fmt: skip
    alone = json.loads(done.stdout.splitlines()[-1])
    options = {"points": 7, "reach": 0.06}
    silicon = bulk("Si", "diamond", a=5.43)
    found = equation_of_state(daemon, silicon, "sevenn", model=model, options=options)
    assert found["a_relaxed"] == pytest.approx(alone["a"], abs=1e-3)
    assert found["b0"] == pytest.approx(alone["b0_gpa"], rel=0.01)
    assert found["e0"] == pytest.approx(alone["e0_per_atom"], abs=2e-5)
