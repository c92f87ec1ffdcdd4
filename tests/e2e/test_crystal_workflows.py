"""Workflows with CRYSTAL as a user types them. The program is a stand-in with made-up numbers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from e2e.conftest import Terminal
from support.made_up_crystal import B0_GPA, RATIO, V0_A3, install_made_up

MGO = """MgO
4.21
1 0 0
0 1 0
0 0 1
Mg O
4 4
Direct
0 0 0
0 .5 .5
.5 0 .5
.5 .5 0
.5 .5 .5
.5 0 0
0 .5 0
0 0 .5
"""
MAGNESIUM = """Mg
1.0
3.2 0 0
-1.6 2.7712812921102037 0
0 0 5.3
Mg
2
Direct
0.333333333333333 0.666666666666667 0.25
0.666666666666667 0.333333333333333 0.75
"""


@pytest.fixture(scope="module")
def terminal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Terminal]:
    folder = tmp_path_factory.mktemp("c")
    made = Terminal()
    made.env |= {
        "CRY23_ROOT": str(folder),
        "CRY_ARCH": "a",
        "CRY_VERSION": "v",
        "CRY_SCRATCH_BASE": str(folder),
    }
    install_made_up(folder / "bin" / "a" / "v")
    yield made
    made.daemon.cleanup()


@pytest.fixture
def structures(tmp_path: Path) -> Path:
    (tmp_path / "POSCAR_mgo").write_text(MGO, encoding="utf-8")
    (tmp_path / "POSCAR_mg").write_text(MAGNESIUM, encoding="utf-8")
    return tmp_path


def started(terminal: Terminal, cwd: Path, *words: str) -> tuple[str, dict[str, Any]]:
    """Run a workflow to its end: what is printed, and its document."""
    done = terminal.run("workflows", *words, "--code", "crystal", "--wait", cwd=cwd)
    assert done.returncode == 0, done.stdout + done.stderr
    newest = terminal.daemon.call("workflows.list", {"limit": 1})[0]["id"]
    document: dict[str, Any] = terminal.daemon.call("workflows.get", {"id": newest})
    return done.stdout, document


def decks(terminal: Terminal, workflow: dict[str, Any]) -> dict[str, str]:
    """The deck of each step."""
    found = {}
    for step in workflow["graph"]:
        if step["kind"] == "job":
            job = terminal.daemon.call("jobs.get", {"id": step["job"]})
            [deck] = Path(job["directory"]).glob("*.d12")
            found[step["name"]] = deck.read_text(encoding="utf-8")
    return found


def behind(keyword: str, texts: dict[str, str]) -> list[str]:
    """The line below a keyword in each of the decks."""
    return [text.split(f"{keyword}\n")[1].split("\n")[0] for text in texts.values()]


def quantities(workflow: dict[str, Any]) -> dict[str, Any]:
    return {one["name"]: one["value"] for one in workflow["results"]["quantities"]}


def test_convergence_of_the_mesh_of_a_metal(terminal: Terminal, structures: Path) -> None:
    words = ("--parameter", "shrink", "--values", "2,4,6", "--option", "metal=true")
    more = ("--option", "k_spacing_inv_angstrom=0.3", "--option", "smear_hartree=0.005")
    printed, workflow = started(terminal, structures, "convergence", "POSCAR_mgo", *words, *more)
    assert "converged SHRINK, even: 4 × 4 × 4" in printed
    assert "Difference from the finest point\ndifference / eV" in printed  # the plot
    assert quantities(workflow)["converged_even"] == 4.0
    assert behind("SHRINK", decks(terminal, workflow)) == ["2 4", "4 8", "6 12"]
    assert workflow["results"]["provenance"]["tolinteg"] == "7 7 7 7 14"


def test_convergence_of_integrals_and_basis(terminal: Terminal, structures: Path) -> None:
    series = (
        ("tolinteg", ("4 4 4 4 8", "5 5 5 5 10", "7 7 7 7 14"), "TOLINTEG"),
        ("basis", ("STO-3G", "POB-DZVP-REV2", "POB-TZVP-REV2"), "BASISSET"),
    )
    for parameter, values, keyword in series:
        words = ("--parameter", parameter, "--values", ",".join(values))
        printed, workflow = started(terminal, structures, "convergence", "POSCAR_mgo", *words)
        name = "TOLINTEG" if parameter == "tolinteg" else "basis set"
        assert f"converged {name}: {values[1]}, dif" in printed
        assert behind(keyword, decks(terminal, workflow)) == list(values)
    wrong = ("--parameter", "tolinteg", "--values", "7 7 7 7 14,8 8 8 8 16,9 9 9", "--code")
    refused = terminal.run(
        "workflows", "convergence", "POSCAR_mgo", *wrong, "crystal", cwd=structures
    )
    assert (refused.returncode, "'9 9 9' is no TOLINTEG" in refused.stderr) == (2, True)
    wrong = ("--parameter", "basis", "--values", "NO-SUCH,STO-3G,MINIS", "--code", "crystal")
    refused = terminal.run("workflows", "convergence", "POSCAR_mgo", *wrong, cwd=structures)
    assert (refused.returncode, "--values: 'NO-SUCH' is no" in refused.stderr) == (2, True)


def test_what_can_be_used_is_listed(terminal: Terminal) -> None:
    kinds = dict(
        told.split("\n", 1) for told in terminal.run("workflows", "available").stdout.split("\n\n")
    )
    for kind in ("relax", "eos", "convergence"):
        [codes] = [line for line in kinds[kind].splitlines() if line.startswith("codes ")]
        assert "crystal" in codes.split()
    assert "crystal/freq" in kinds["phonon"]


def test_relaxations(terminal: Terminal, structures: Path) -> None:
    printed, workflow = started(terminal, structures, "relax", "POSCAR_mgo", "--fmax", "0.03")
    found = quantities(workflow)
    assert found["volume"] == pytest.approx(V0_A3[225], rel=1e-6)
    assert "volume of the cell of 2 atoms" in printed
    [deck] = decks(terminal, workflow).values()
    # 0.03 eV/Å = 5.834e-4 hartree/bohr; over √3, the largest component; over 1.5, TOLDEG
    assert "OPTGEOM\nFULLOPTG\nTOLDEG\n0.00022455" in deck
    assert found["gradient_limit"] == pytest.approx(0.03 / 51.422067 / 3**0.5, rel=1e-5)
    assert workflow["results"]["provenance"]["basis"] == "POB-TZVP-REV2"
    assert workflow["results"]["provenance"]["functional"] == "PBE"

    _, workflow = started(terminal, structures, "relax", "POSCAR_mg", "--cell", "fixed")
    [deck] = decks(terminal, workflow).values()
    assert "OPTGEOM\nATOMONLY\n" in deck

    limit = ("--smax", "0.1", "--code", "crystal")
    refused = terminal.run("workflows", "relax", "POSCAR_mg", *limit, cwd=structures)
    assert (refused.returncode, "--smax" in refused.stderr) == (2, True), refused.stderr


def test_an_optimisation_that_runs_out_of_steps_waits_and_goes_on(
    terminal: Terminal, structures: Path
) -> None:
    least = Path(terminal.env["CRY23_ROOT"]) / "bin" / "a" / "v" / "least"
    least.write_text("11")
    words = ("relax", "POSCAR_mg", "--code", "crystal", "--max-steps", "10", "--wait")
    failed = terminal.run("workflows", *words, cwd=structures)
    assert (failed.returncode, "WAITING" in failed.stdout) == (1, True), failed.stdout
    newest = terminal.daemon.call("workflows.list", {"limit": 1})[0]["id"]
    again = terminal.run("workflows", "retry", str(newest), "relax", "--wait")
    least.write_text("0")
    assert again.returncode == 0, again.stdout + again.stderr
    workflow = terminal.daemon.call("workflows.get", {"id": newest})
    assert quantities(workflow)["volume"] == pytest.approx(V0_A3[194], rel=1e-6)
    [text] = decks(terminal, workflow).values()
    assert "MAXCYCLE\n20\nFINALRUN" in text


def test_equation_of_state_of_a_cubic_crystal(terminal: Terminal, structures: Path) -> None:
    """Symmetry holds everything: plain SCFs with the mesh of the relaxed cell."""
    words = ("--points", "7", "--reach", "0.09")
    printed, workflow = started(terminal, structures, "eos", "POSCAR_mgo", *words)
    found = quantities(workflow)
    assert found["v0"] == pytest.approx(V0_A3[225] / 2, rel=1e-5)
    assert found["b0"] == pytest.approx(B0_GPA, rel=1e-3)
    assert found["b0_prime"] == pytest.approx(4.0, abs=0.01)
    assert "nothing to relax" in str(workflow["results"]["provenance"])
    assert workflow["results"]["flags"] == []
    texts = decks(terminal, workflow)
    assert "OPTGEOM\nFULLOPTG\n" in texts.pop("relax")
    assert len(texts) == 7
    assert not any("OPTGEOM" in text for text in texts.values())
    assert len({text.split("SHRINK\n")[1].split("TOLDEE")[0] for text in texts.values()}) == 1
    assert "Birch" in printed


def test_equation_of_state_of_a_hexagonal_one(terminal: Terminal, structures: Path) -> None:
    """The shape is relaxed at each volume, and the volume is kept."""
    words = ("--points", "5", "--no-relax", "--option", "shrink=[8,16]")
    _, workflow = started(terminal, structures, "eos", "POSCAR_mg", *words)
    assert quantities(workflow)["v0"] == pytest.approx(V0_A3[194] / 2, rel=1e-4)
    texts = decks(terminal, workflow)
    assert all("OPTGEOM\nCVOLOPT\n" in text for text in texts.values())
    assert set(behind("SHRINK", texts)) == {"8 16"}
    ended = terminal.daemon.call("jobs.get", {"id": workflow["graph"][-2]["job"]})
    lattice = ended["results"]["lattice"]
    assert lattice["c_angstrom"] / lattice["a_angstrom"] == pytest.approx(RATIO, abs=1e-6)
