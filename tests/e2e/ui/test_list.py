"""The job list as a person arranges it, by keys and by mouse, and all of it in ASCII."""

from __future__ import annotations

import re
from pathlib import Path

from e2e.conftest import Terminal
from e2e.ui.conftest import Open
from e2e.ui.test_work import submit_script
from support.screen import Screen


def order(ui: Screen) -> list[str]:
    """The names in the order of the rows; all have completed."""
    return re.findall(r"completed +\d+ +(\w+)", ui.text())


def test_order_and_columns_are_chosen_and_kept(
    terminal: Terminal, screen: Open, tmp_path: Path
) -> None:
    names = ("beech", "alder", "cedar")
    for name in names:
        submit_script(terminal, tmp_path, "exit 0", f"{name}.sh")
    ui = screen()
    for name in names:
        ui.see_row(name, "completed")
    ui.see_row("Id▼", "Name", "Code")
    assert order(ui) == ["cedar", "alder", "beech"], "the newest first"
    ui.keys("s")
    ui.see_row("Name▲")
    assert order(ui) == ["alder", "beech", "cedar"]
    ui.keys("S")
    ui.see_row("Name▼")
    assert order(ui) == ["cedar", "beech", "alder"]

    ui.keys("C")
    ui.see("Columns", "Code that runs it")
    ui.keys("j", "j", "j", "Space", "Enter")
    ui.see("Name▼", gone=("Code",))
    ui.leave()
    again = screen()
    again.see("Name▼", "cedar", gone=("Code",))
    assert order(again) == ["cedar", "beech", "alder"]


def test_a_search_narrows_the_list_while_it_is_typed(
    terminal: Terminal, screen: Open, tmp_path: Path
) -> None:
    for name in ("beech", "alder", "cedar"):
        submit_script(terminal, tmp_path, "exit 0", f"{name}.sh")
    ui = screen()
    ui.see("beech", "alder", "cedar")
    ui.keys("/")
    ui.type("ald")
    ui.see("shown 1", "alder", gone=("beech", "cedar"))
    ui.keys("C-u")
    ui.type("nothing of this name")
    ui.see("No job fits the filter")
    ui.keys("Escape")
    ui.see("beech", "alder", "cedar", gone=("filter:",))


def test_a_click_chooses_a_row(terminal: Terminal, screen: Open, tmp_path: Path) -> None:
    for name in ("beech", "alder", "cedar"):
        submit_script(terminal, tmp_path, "exit 0", f"{name}.sh")
    ui = screen()
    for name in ("beech", "alder", "cedar"):
        ui.see_row(name, "completed")
    lines = ui.lines()
    row = next(y for y, line in enumerate(lines) if "alder" in line)
    ui.click(lines[row].index("alder"), row)
    ui.keys("Enter")
    ui.see("[Summary]", "alder", gone=("cedar",))


def test_in_ascii_nothing_else_is_written(terminal: Terminal, screen: Open, tmp_path: Path) -> None:
    submit_script(terminal, tmp_path, "echo Å; exit 3", "naïve.sh")
    done = terminal.run("submit", "examples/copper.cif", "--engine", "emt", "--task", "relax")
    assert done.returncode == 0, done.stderr
    ui = screen("--ascii")
    ui.see_row("relax", "completed")
    seen = [ui.see_row("na?ve", "failed"), ui.text()]
    ui.keys("Enter")
    seen.append(ui.see("[Summary]", "energy", "A^3"))
    ui.keys("Tab")
    seen.append(ui.see("[Log]", "converged after"))
    ui.keys("Tab")
    seen.append(ui.see("[Plots]", "[energy]", "step"))
    ui.keys("]")
    seen.append(ui.see("[fmax]", "eV/A"))
    ui.keys("Tab")
    seen.append(ui.see("[Tables]", "[forces]"))
    ui.keys("]")
    seen.append(ui.see("[atoms]", "element", "x A"))
    ui.keys("Tab")
    seen.append(ui.see("[Files]", "result.json"))
    ui.keys("?")
    seen.append(ui.see("type to filter"))
    ui.keys("Escape")
    ui.see("[Files]", gone=("type to filter",))
    ui.keys("Escape")
    ui.see("Jobs 2", gone=("[Files]",))
    ui.keys("a")
    seen.append(ui.see("New job"))
    assert [line for text in seen for line in text.split("\n") if not line.isascii()] == []
