"""From a query to a verdict without a network; the program is a stand-in: it calculates nothing."""

from __future__ import annotations

from pathlib import Path

from e2e.conftest import Terminal
from support.crystal import STAND_IN, scf_output


def test_from_a_query_to_a_verdict(terminal: Terminal, tmp_path: Path) -> None:
    programs, told = tmp_path / "bin", tmp_path / "told"
    programs.mkdir()
    told.mkdir()
    program = programs / "crystalOMP"
    program.write_text(STAND_IN)
    program.chmod(0o755)
    (told / "output").write_text(scf_output())
    terminal.env["PATH"] = f"{programs}:{terminal.env['PATH']}"
    terminal.env["TOLD"] = str(told)
    terminal.env["CRYSTALMATH_MATERIALS_OFFLINE"] = "true"
    found = terminal.run("search", "MgO", cwd=tmp_path)
    assert found.returncode == 0, found.stderr
    assert "embedded:periclase-MgO" in found.stdout
    assert "no_key" in found.stdout
    made = terminal.run("d12", "embedded:periclase-MgO", "-o", "mgo.d12", cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    assert "checked by reading it back" in made.stdout
    linted = terminal.run("lint", "mgo.d12", cwd=tmp_path)
    assert linted.returncode == 0, linted.stdout
    done = terminal.run("submit", "mgo.d12", "--wait", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert (told / "stdin").read_text() == (tmp_path / "mgo.d12").read_text()
    (row,) = terminal.json("jobs")["data"]
    assert (row["state"], row["science"]["converged"]) == ("COMPLETED", True)
    refused = terminal.run("search", "Xx")
    assert refused.returncode == 2
    assert "'Xx' is no element" in refused.stderr
