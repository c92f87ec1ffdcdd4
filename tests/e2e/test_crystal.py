"""From a structure file to a verdict, as a user types it, with a stand-in for CRYSTAL."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from e2e.conftest import Terminal
from support.crystal import install_stand_in, scf_output

POSCAR = """MgO
1.0
0.0 2.105 2.105
2.105 0.0 2.105
2.105 2.105 0.0
Mg O
1 1
Direct
0 0 0
0.5 0.5 0.5
"""


@pytest.fixture
def told(terminal: Terminal, tmp_path: Path) -> Path:
    """Where the stand-in leaves what it was given; it is found as CRYSTAL is."""
    programs = tmp_path / "crystal" / "bin" / "arch" / "version"
    terminal.env |= {
        "CRY23_ROOT": str(tmp_path / "crystal"),
        "CRY_ARCH": "arch",
        "CRY_VERSION": "version",
        "CRY_SCRATCH_BASE": str(tmp_path),
        # Nothing of this needs a network: whoever asks for one gets no answer.
        "http_proxy": "http://127.0.0.1:9",
        "https_proxy": "http://127.0.0.1:9",
    }
    return install_stand_in(programs, scf_output())


def test_from_a_structure_to_a_verdict(terminal: Terminal, tmp_path: Path, told: Path) -> None:
    (tmp_path / "POSCAR_mgo").write_text(POSCAR, encoding="utf-8")
    made = terminal.run("d12", "POSCAR_mgo", "-o", "mgo.d12", cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    assert "checked by reading it back" in made.stdout
    deck = (tmp_path / "mgo.d12").read_text(encoding="utf-8")
    assert deck.splitlines()[1:5] == ["CRYSTAL", "0 0 0", "225", "4.21"]
    linted = terminal.run("lint", "mgo.d12", cwd=tmp_path)
    assert linted.returncode == 0, linted.stdout

    done = terminal.run("submit", "mgo.d12", "--wait", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert (told / "INPUT").read_text(encoding="utf-8") == deck
    shown = terminal.run("show", "1").stdout
    assert "COMPLETED" in shown
    assert "MgO" in shown
    job = terminal.json("show", "1")["data"]
    assert job["results"]["final_energy_hartree"] == -271.21814374931
    assert job["science"]["status"] == "converged"
    names = {row["path"] for row in terminal.json("files", "1")["data"]}
    assert {"mgo.out", "mgo.f9", "mgo.f98", "mgo.gui", "mgo.hessopt"} <= names
    assert "SCF ENDED" in terminal.run("cat", "1", "mgo.out").stdout
    assert list(tmp_path.glob("crystalmath.*")) == []


def test_what_did_not_converge_fails_and_goes_on(
    terminal: Terminal, tmp_path: Path, told: Path
) -> None:
    output = scf_output().replace("CONVERGENCE ON ENERGY     ", "TOO MANY CYCLES           ")
    (told / "output").write_text(output, encoding="utf-8")
    (tmp_path / "POSCAR_mgo").write_text(POSCAR, encoding="utf-8")
    wrong = terminal.run(
        "submit", "POSCAR_mgo", "--code", "crystal", "--option", "charge=-1", cwd=tmp_path
    )
    assert wrong.returncode == 2
    assert "--option charge" in wrong.stderr
    options = ("--option", "functional=PBE0", "--option", "maxcycle=40")
    failed = terminal.run(
        "submit", "POSCAR_mgo", "--code", "crystal", *options, "--wait", cwd=tmp_path
    )
    assert failed.returncode == 1, failed.stderr
    assert "FAILED (not_converged)" in failed.stdout
    (told / "output").write_text(scf_output(), encoding="utf-8")
    onward = terminal.run("continue", "1", "--wait")
    assert onward.returncode == 0, onward.stdout + onward.stderr
    deck = (told / "INPUT").read_text(encoding="utf-8")
    assert re.search(r"^PBE0$", deck, re.MULTILINE)
    assert re.search(r"^MAXCYCLE\n80$", deck, re.MULTILINE)
    assert re.search(r"^GUESSP$", deck, re.MULTILINE)
    assert (told / "staged.fort.20").read_text(encoding="utf-8") == "new fort.9\n"
    assert (told / "runs").read_text(encoding="utf-8") == "run\nrun\n"
