"""The engines as a person sees them, with the engine that every installation has."""

from __future__ import annotations

import pytest

from e2e.conftest import Terminal
from e2e.ui.conftest import Open
from support.screen import Screen

SIZES = pytest.mark.parametrize(("cols", "rows"), [(80, 24), (120, 40)])


def open_engines(ui: Screen) -> None:
    ui.see("No jobs yet", "live")
    ui.keys("6")
    ui.see("[Engines]", "Workers", "Environments")
    ui.see_row("built in", "emt")


@SIZES
def test_a_worker_comes_with_a_check_and_goes_when_it_is_stopped(
    screen: Open, cols: int, rows: int
) -> None:
    ui = screen(cols=cols, rows=rows)
    open_engines(ui)
    ui.keys("D")
    ui.see_row("loaded 1", "emt", "passed")
    ui.keys("Enter")
    ui.see_row("✓ passed", "environment")
    ui.see_row("✓ passed", "load")
    ui.see_row("usable", "energy", "forces", "stress")

    ui.keys("Tab")
    ui.see_row("idle", "w1", "emt")
    ui.keys("c")
    ui.see("Stop worker w1 (emt)", "No, it goes on")
    ui.keys("Enter")
    ui.see_row("idle", "w1", "emt")
    ui.keys("c")
    ui.see("Stop worker w1 (emt)")
    ui.keys("Down", "Enter")
    ui.see("No worker runs", gone=("w1",))
    ui.keys("Tab", "Tab")
    ui.see_row("built in", "emt")
    ui.keys("Escape")
    ui.leave()


def test_what_others_do_with_engines_is_seen(terminal: Terminal, screen: Open) -> None:
    ui = screen()
    open_engines(ui)
    ui.keys("Tab")
    ui.see("No worker runs")
    assert terminal.run("engines", "doctor", "emt").returncode == 0
    ui.see_row("idle", "w1", "emt")
    assert terminal.run("engines", "stop", "w1").returncode == 0
    ui.see("No worker runs", gone=("w1",))


def test_the_worker_of_a_check_can_be_killed(terminal: Terminal, screen: Open) -> None:
    ui = screen(cols=120, rows=40)
    open_engines(ui)
    assert terminal.run("engines", "doctor", "emt").returncode == 0
    ui.see_row("loaded 1", "emt")
    ui.keys("Tab", "c")
    ui.see("Stop worker w1")
    ui.keys("Down", "Down", "Enter")
    ui.see("No worker runs", gone=("w1",))


def test_before_an_engine_is_installed_its_size_is_named(screen: Open) -> None:
    ui = screen()
    open_engines(ui)
    ui.see_row("absent", "tblite")
    ui.keys("G", "i")
    ui.see("Install tblite?", "MiB are fetched", "n  No")
    ui.keys("Enter")
    ui.see_row("absent", "tblite")
    ui.keys("u")
    ui.see("everything is needed")
