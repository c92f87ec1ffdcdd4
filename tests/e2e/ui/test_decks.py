"""A deck of CRYSTAL in the UI: the linter's marks, the editor, the job, its results and tables."""

from __future__ import annotations

from pathlib import Path

import pytest

from e2e.conftest import Terminal
from e2e.ui.conftest import Open
from support.crystal import STAND_IN, scf_output

DECK = """MgO
CRYSTAL
0 0 0
225
4.21
2
12 0.0 0.0 0.0
8 0.5 0.5 0.5
BASISSET
STO-3G
DFT
PBE0
END
TOLINTEG
7 7 7 7
SHRINK
8 8
TOLDEE
8
END
"""
EDITOR = "#!/bin/sh\nsed -i 's/^7 7 7 7$/7 7 7 7 14/' \"$1\"\n"


@pytest.fixture
def crystal(terminal: Terminal, tmp_path: Path) -> dict[str, str]:
    """Variables of an installation whose program is a stand-in, and of an editor."""
    told = tmp_path / "told"
    told.mkdir()
    (told / "output").write_text(scf_output(), encoding="utf-8")
    folder = tmp_path / "cry" / "bin" / "Linux" / "std"
    folder.mkdir(parents=True)
    for path, text in (
        (folder / "crystalOMP", STAND_IN.replace("$TOLD", str(told))),
        (tmp_path / "editor", EDITOR),
    ):
        path.write_text(text, encoding="utf-8")
        path.chmod(0o755)
    return {
        "CRY23_ROOT": str(tmp_path / "cry"),
        "CRY_ARCH": "Linux",
        "CRY_VERSION": "std",
        "EDITOR": str(tmp_path / "editor"),
        "VISUAL": "",
    }


def test_a_deck_is_mended_in_the_editor_and_runs(
    screen: Open, crystal: dict[str, str], tmp_path: Path
) -> None:
    deck = tmp_path / "mgo.d12"
    deck.write_text(DECK, encoding="utf-8")
    ui = screen(env=crystal, cwd=tmp_path)
    ui.see("No jobs yet", "live")
    ui.keys("a")
    ui.see("New job", "file")
    ui.type("mgo.d12")
    ui.see_row("mgo.d12")
    ui.keys("Enter")
    ui.see("crystal", "the linter finds an error in the deck")
    ui.keys("C-s")  # it is not submitted
    ui.see("the linter finds an error", gone=("submitted",))
    ui.keys("p")
    ui.see("1 error", "TOLINTEG", "five")
    ui.keys("o")
    ui.see("the linter finds nothing", "7 7 7 7 14")
    ui.keys("Escape", "C-s")
    ui.see("completed", "energy", "MgO")
    ui.keys("Tab", "Tab")
    ui.see("[Plots]", "scf_energy")
    ui.keys("Tab")
    ui.see("[Tables]", "atoms", "Mg")
    ui.leave()


def test_the_deck_of_a_structure_is_written_saved_and_edited(
    screen: Open, crystal: dict[str, str], tmp_path: Path
) -> None:
    ui = screen(env=crystal, cols=120, rows=40)
    ui.see("No jobs yet", "live")
    ui.keys("a")
    ui.see("New job", "file")
    ui.type("examples/silicon.cif")
    ui.see_row("silicon.cif", "structure")
    ui.keys("Enter")
    ui.see("forces", "engine")
    ui.keys("g", "Left")
    ui.see("< espresso >")
    ui.keys("Left")
    ui.see("< crystal >", "functional", "(PBE)", "the linter finds nothing", "227")
    ui.keys("o")
    ui.see("Save the deck, then edit it", "silicon.d12")
    ui.keys("C-u")
    saved = tmp_path / "si.d12"
    ui.type(str(saved))
    ui.keys("Enter")
    ui.see("si.d12", "the linter finds nothing", gone=("Save the deck",))
    assert "CRYSTAL\n0 0 0\n227\n" in saved.read_text(encoding="utf-8")


def test_a_template_is_filled_in_and_becomes_a_job(
    terminal: Terminal, screen: Open, crystal: dict[str, str]
) -> None:
    ui = screen(env=crystal)
    ui.see("No jobs yet", "live")
    ui.keys("5")
    ui.see("Templates", "crystal/scf")
    names = [row["id"] for row in terminal.daemon.call("templates.list")]
    ui.keys(*["j"] * names.index("crystal/scf"), "Enter")
    ui.see("Template crystal/scf", "filled in", "(an example)")
    ui.keys("p")
    ui.see("scf.d12", "the linter finds nothing", "225")
    ui.keys("Escape", "Enter")
    ui.type("examples/silicon.cif")
    ui.keys("Enter")
    ui.see("examples/silicon.cif", "filled in")
    ui.keys("p")
    ui.see("the linter finds nothing", "227")
    ui.keys("C-s")
    ui.see("New job: crystal/scf", "ready")
    ui.keys("C-s")
    ui.see("completed", "energy")
    ui.leave()
