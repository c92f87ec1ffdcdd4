"""An equation of state as a person sees it: started from a form, watched, and read at its end."""

from __future__ import annotations

from e2e.conftest import Terminal
from e2e.ui.conftest import Open
from support.screen import Screen


def turn_to(ui: Screen, word: str) -> None:
    """Choose a word in the field with the cursor."""
    for _ in range(30):
        before = ui.see_row("<", ">")
        if f"< {word} >" in before:
            return
        ui.keys("Right")
        ui.see_match(r"< \w+ >", gone=(before.strip(),))
    raise AssertionError(f"{word} is no choice")


def test_an_equation_of_state_from_the_form_to_its_plot(terminal: Terminal, screen: Open) -> None:
    ui = screen(cols=120, rows=40)
    ui.see("No jobs yet", "live")
    ui.keys("3")
    ui.see("Workflows 0", "No workflows yet")
    ui.keys("a")
    ui.see("New workflow", "eos", "relax", "choose a kind")
    turn_to(ui, "eos")
    ui.see("New workflow: Equation of state", "computed by", "points")
    ui.keys("Down", "Enter")
    ui.type("examples/nothing.cif")
    ui.keys("Enter")
    turn_to(ui, "emt")
    ui.keys("Down", "Down", "Enter")
    ui.type("5")
    ui.keys("Enter", "C-s")
    ui.see("nothing.cif", "1 thing to correct")
    ui.keys("Enter", "C-u")
    ui.type("examples/copper.cif")
    ui.keys("Enter", "C-s")
    ui.see("workflow 1 started", "[Steps]")
    ui.see_row("relax", "running")
    ui.see("completed  steps 8/8", "5/5", timeout_s=300.0)
    ui.keys("Tab")
    ui.see_row("B₀", "134", "GPa")
    ui.see("V₀ per atom", "Å³", "emt")
    ui.keys("Tab")
    ui.see("[energy]", "energy / eV", "volume / Å³", "calculated")
    ui.keys("Tab")
    ui.see("[forms]", "Vinet")
    ui.keys("Tab", "Tab")
    ui.keys("J")
    ui.see("filter: workflow:1", "step of workflow 1")
    (workflow,) = terminal.json("workflows")["data"]
    assert (workflow["kind"], workflow["state"]) == ("eos", "COMPLETED")
