"""From a search to the verdict on the Materials screen, with a stand-in for CRYSTAL."""

from __future__ import annotations

from pathlib import Path

from e2e.conftest import Terminal
from e2e.ui.conftest import Open
from support.crystal import STAND_IN, scf_output
from support.daemon import wait_until


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


def test_a_search_leads_to_a_deck_and_a_verdict(
    terminal: Terminal, screen: Open, tmp_path: Path
) -> None:
    stand_in(terminal, tmp_path)
    ui = screen(cols=80, rows=24)
    ui.see("No jobs yet", "live")
    ui.keys("4")
    ui.see("[Materials]", "searches")
    ui.keys("/")
    ui.type("Xx")
    ui.keys("Enter")
    ui.see("is no element")
    ui.keys("/", "C-u")
    ui.type("MgO")
    ui.keys("Enter")
    ui.see_row("MgO", "Fm-3m", "embedded", "yes")
    ui.see_match(r"embedded 1 in \d")

    ui.keys("b")
    ui.see("Deck of MgO embedded:", "read back and compared", "method")
    ui.keys("p")
    ui.see("CRYSTAL", "the linter finds nothing")
    ui.keys("W")
    ui.see("Write the deck to", "MgO.d12")
    ui.keys("C-u")
    target = tmp_path / "mine.d12"
    ui.type(str(target))
    ui.keys("Enter")
    ui.see("is written")
    assert target.read_text("utf-8").splitlines()[1] == "CRYSTAL"

    ui.keys("C-s")
    ui.see("New job: embedded:", "crystal")
    ui.see("ready")
    ui.keys("C-s")
    ui.see("completed", "converged")
    (job,) = terminal.json("jobs")["data"]
    assert (job["code"], job["state"], job["formula"]) == ("crystal", "COMPLETED", "MgO")


def test_a_file_is_taken_in_and_its_cell_is_turned(terminal: Terminal, screen: Open) -> None:
    ui = screen(cols=120, rows=40)
    ui.see("No jobs yet", "live")
    ui.keys("4")
    ui.see("[Materials]", "searches")
    ui.keys("I")
    ui.see("choose a structure")
    ui.type("examples/silicon.cif")
    ui.see("structure")
    ui.keys("Enter")
    ui.see("is taken in as local:1")
    ui.see("conventional cell", "Fd-3m", "Si 8", "drawn", gone=("taken in",))
    before = ui.text()
    ui.keys(">")
    wait_until(lambda: ui.text() != before, "another picture")
    ui.keys("V")
    ui.see("along a")
    ui.keys("B")
    ui.see("cell as given")
    ui.keys("a")
    ui.see("New job: local:1", "forces")
