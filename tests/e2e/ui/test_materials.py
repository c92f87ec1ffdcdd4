"""From a structure to the verdict on the Materials screen, with a stand-in for CRYSTAL."""

from __future__ import annotations

from pathlib import Path

import pytest

from e2e.conftest import Terminal
from e2e.ui.conftest import Open
from support.crystal import STAND_IN, scf_output
from support.screen import Screen

SIZES = pytest.mark.parametrize(("cols", "rows"), [(80, 24), (120, 40)])


def stand_in(terminal: Terminal, folder: Path) -> None:
    """A program that says what CRYSTAL once said, where CRYSTAL is looked for."""
    told = folder / "told"
    told.mkdir()
    (told / "output").write_text(scf_output(), encoding="utf-8")
    program = folder / "crystalOMP"
    program.write_text(STAND_IN, encoding="utf-8")
    program.chmod(0o755)
    scratch = folder / "scratch"
    scratch.mkdir()
    terminal.env["TOLD"] = str(told)
    terminal.env["CRY_SCRATCH_BASE"] = str(scratch)
    terminal.env["PATH"] = f"{folder}:{terminal.env['PATH']}"


def take_in(ui: Screen, file: str) -> None:
    ui.keys("I")
    ui.see("choose a structure")
    ui.type(file)
    ui.see("structure")
    ui.keys("Enter")
    ui.see("is taken in as local:1")


@SIZES
def test_a_file_is_taken_in_turned_and_submitted_with_its_deck(
    terminal: Terminal, screen: Open, tmp_path: Path, cols: int, rows: int
) -> None:
    stand_in(terminal, tmp_path)
    ui = screen(cols=cols, rows=rows)
    ui.see("No jobs yet", "live")
    ui.keys("4")
    ui.see("[Materials]", "searches")
    take_in(ui, "examples/silicon.cif")
    ui.keys("Enter")
    before = ui.see("conventional cell", "Fd-3m", "Si 8", "drawn")
    ui.keys(">")
    ui.see_match("conventional cell", gone=(before,))
    ui.keys("V")
    ui.see("along a")

    ui.keys("b")
    ui.see("Deck of Si local:1", "read back and compared", "method")
    if cols < 100:
        ui.keys("p")
    ui.see("CRYSTAL", "POB-TZVP-REV2", "the linter finds nothing")
    ui.keys("W")
    ui.see("Write the deck to", "Si.d12")
    ui.keys("C-u")
    target = tmp_path / "mine.d12"
    ui.type(str(target))
    ui.keys("Enter")
    ui.see("is written")
    assert target.read_text("utf-8").splitlines()[1] == "CRYSTAL"

    ui.keys("C-s")
    ui.see("New job: local:1", "crystal")
    ui.see("ready")
    ui.keys("C-s")
    ui.see("completed", "converged")
    (job,) = terminal.json("jobs")["data"]
    assert (job["code"], job["state"], job["formula"]) == ("crystal", "COMPLETED", "Si")
