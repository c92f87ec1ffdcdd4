"""Bands and density of states with the real pw.x, as a workflow of the real daemon."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from support.cases import case
from support.daemon import PRODUCTION, Daemon, RpcFailure, wait_until

if TYPE_CHECKING:
    from conftest import QuantumEspresso

pytestmark = [pytest.mark.testbed, pytest.mark.timeout(900)]

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture(scope="module")
def started(qe: QuantumEspresso) -> Iterator[Daemon]:
    made = Daemon(program=PRODUCTION)
    try:
        made.start()
        yield made
    finally:
        made.cleanup()


def computed(
    daemon: Daemon, qe: QuantumEspresso, file: Path, inputs: dict[str, Any], **options: Any
) -> dict[str, Any]:
    """The workflow, when it has ended."""
    params = {
        "structure": {"path": str(file)},
        "code": "espresso",
        "inputs": inputs,
        "options": options,
        "context": {"ESPRESSO_PSEUDO": str(qe.pseudo)},
    }
    made = daemon.call("workflows.create_bands", params)["workflow"]["id"]

    def look() -> dict[str, Any]:
        found: dict[str, Any] = daemon.call("workflows.get", {"id": made})
        return found

    wait_until(lambda: look()["state"] != "RUNNING", "the bands end", timeout_s=300, every_s=0.1)
    found = look()
    assert found["state"] == "COMPLETED", found["message"]
    assert found["warnings"] == []  # doubts about the given cell are none about what is computed
    return found


def values(workflow: dict[str, Any]) -> dict[str, float | None]:
    return {one["name"]: one["value"] for one in workflow["results"]["quantities"]}


def test_silicon_has_an_indirect_gap(started: Daemon, qe: QuantumEspresso) -> None:
    inputs = {"pseudo_family": "pz-vbc", "ecutwfc_ry": 12.0, "k_mesh": [4, 4, 4]}
    found = computed(started, qe, EXAMPLES / "silicon.cif", inputs, spacing_inv_angstrom=0.12)
    assert [step["name"] for step in found["graph"]] == ["path", "bands", "report"]
    results, got = found["results"], values(found)
    assert results["title"] == "Bands along Γ–X–U | K–Γ–L–W–X: an indirect gap"
    # LDA: 0.5 eV from Γ to 0.85 of Γ–X, 2.5 eV at Γ
    assert got["gap"] == pytest.approx(0.51, abs=0.03)
    assert got["direct_gap"] == pytest.approx(2.56, abs=0.05)
    assert got["electrons"] == pytest.approx(8.0, rel=5e-3)
    labels = {one["name"]: one["label"] for one in results["quantities"]}
    assert labels["valence"].endswith("at Γ")
    assert labels["conduction"].endswith("on Γ–X")
    assert results["provenance"]["scf_mesh"] == "4 × 4 × 4"
    assert results["provenance"]["dense_mesh"] == "8 × 8 × 8"
    assert "smeared_dos" not in [flag["code"] for flag in results["flags"]]


def test_case_26_is_computed_on_its_primitive_cell(started: Daemon, qe: QuantumEspresso) -> None:
    given = case("structures/26_band_cell.vasp")
    inputs = {
        "pseudos": {"Mg": "Mg.pz-n-vbc.UPF", "O": "O.pz-rrkjus.UPF"},
        "ecutwfc_ry": 16.0,
        "ecutrho_ry": 80.0,
        "k_mesh": [2, 2, 2],
    }
    found = computed(started, qe, given, inputs, spacing_inv_angstrom=0.5, dos=False)
    results, got = found["results"], values(found)
    assert results["title"] == "Bands along Γ–X–U | K–Γ–L–W–X: a direct gap"
    assert results["provenance"]["cell"].endswith("the given one holds 4")
    assert got["gap"] is not None
    assert 3.0 < got["gap"] < 7.0
    job = daemon_job(started, found)
    assert (job["formula"], job["n_atoms"]) == ("MgO", 2)
    assert "path_only" in [flag["code"] for flag in results["flags"]]


def daemon_job(daemon: Daemon, workflow: dict[str, Any]) -> dict[str, Any]:
    step = next(step for step in workflow["graph"] if step["name"] == "bands")
    job: dict[str, Any] = daemon.call("jobs.get", {"id": step["job"]})
    return job


def test_aluminium_is_a_metal(started: Daemon, qe: QuantumEspresso, tmp_path: Path) -> None:
    file = tmp_path / "al.vasp"
    file.write_text("Al\n4.0\n0 0.5 0.5\n0.5 0 0.5\n0.5 0.5 0\nAl\n1\ndirect\n0 0 0\n")
    inputs = {"pseudo_family": "pz-vbc", "ecutwfc_ry": 12.0, "k_mesh": [5, 5, 5]}
    found = computed(started, qe, file, inputs, spacing_inv_angstrom=0.3)
    got = values(found)
    assert got["gap"] is None
    assert found["results"]["title"].endswith("a metal")
    assert got["electrons"] == pytest.approx(3.0, rel=0.02)
    assert not found["results"]["tables"]


def test_a_force_engine_has_no_bands(started: Daemon) -> None:
    params = {"structure": {"path": str(EXAMPLES / "silicon.cif")}, "engine": "emt"}
    with pytest.raises(RpcFailure, match="no electrons"):
        started.call("workflows.create_bands", params)
