"""What a person does all day: submit, watch, look, cancel."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from e2e.conftest import Terminal
from e2e.ui.conftest import Open
from support.daemon import wait_until
from support.screen import Screen

SIZES = pytest.mark.parametrize(("cols", "rows"), [(80, 24), (120, 40)])


def submit_script(terminal: Terminal, folder: Path, text: str, name: str = "work.sh") -> None:
    script = folder / name
    script.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    script.chmod(0o755)
    assert terminal.run("submit", str(script)).returncode == 0


def look_through(ui: Screen) -> None:
    """Every tab of a relaxation that has converged, from the summary on."""
    ui.keys("Tab")
    ui.see("[Log]", "converged after", "energy / eV")
    ui.keys("Tab")
    ui.see("[Plots]", "energy / eV", "step")
    ui.keys("]")
    ui.see("[fmax]", "eV/Å", "log scale", "step")
    ui.keys("Left", "g")  # the value at the first step
    ui.see("step 0:")
    ui.keys("Tab")
    ui.see("[Tables]", "[forces]")
    ui.keys("]")
    ui.see("[atoms]", "element", "Cu")
    ui.keys("Tab")
    ui.see("[Files]", "result.json", "relax.log")
    ui.keys("Tab")
    ui.see("[Input]")
    ui.keys("Tab")
    ui.see("[Events]", "submitted to running")


@SIZES
def test_a_relaxation_from_the_form_to_its_plots(
    terminal: Terminal, screen: Open, cols: int, rows: int
) -> None:
    ui = screen(cols=cols, rows=rows)
    ui.see("No jobs yet", "live")  # the daemon was started by it
    ui.keys("a")
    ui.see("New job", "file")
    ui.type("examples/copper.cif")
    ui.see("copper.cif", "structure")
    ui.keys("Enter")
    ui.see("no task is given", "forces", "engine")
    ui.see_row("task", "<", ">")  # the field to correct has the cursor
    ui.keys("Right")
    ui.see_row("task", "single_point")
    ui.keys("Right")
    ui.see_row("task", "relax")
    ui.keys("Down")
    (forces,) = (c for c in terminal.daemon.call("codes.list") if c["name"] == "forces")
    ui.keys(*["Right"] * (1 + forces["engines"].index("emt")))
    ui.see_row("engine", "< emt >")
    ui.see("ready")
    ui.keys("C-s")
    summary = ui.see("completed", "converged", "energy", "lattice")
    energy = re.search(r"energy +(-\d\.\d+) eV", summary)
    assert energy is not None, summary
    assert float(energy[1]) == pytest.approx(-0.028146, abs=1e-6)
    assert re.search(r"3\.589\d+", summary), "the lattice constant"
    look_through(ui)
    ui.keys("?")
    ui.see("Help", "type to filter")
    ui.type("rerun")
    ui.see("Submit jobs again", gone=("Go into what the cursor",))
    ui.keys("Escape")  # empties the filter
    ui.see("Go into what the cursor")
    ui.keys("Escape")
    ui.see("[Events]", gone=("type to filter",))
    ui.keys("Escape")
    ui.see("Jobs 1", "copper relax")
    ui.leave()
    ui.type("echo it is $((40 + 2))")
    ui.keys("Enter")
    ui.see("it is 42")


def test_a_running_log_and_a_cancel_that_asks(
    terminal: Terminal, screen: Open, tmp_path: Path
) -> None:
    submit_script(terminal, tmp_path, "i=0; while :; do i=$((i+1)); echo line $i; sleep 0.1; done")
    ui = screen(cols=120, rows=40)
    ui.see_row("work", "running")
    ui.keys("L")
    ui.see("line 5")
    first = max(int(n) for n in re.findall(r"line (\d+)", ui.text()))
    ui.see(f"line {first + 20}")
    ui.keys("Escape")
    ui.see_row("work", "running")
    ui.keys("c")
    ui.see("Cancel job 1?", "1  work", "[ n  No ]")
    ui.keys("Enter")  # the default is No
    ui.see("running", gone=("Cancel job 1?",))
    assert terminal.daemon.call("jobs.list")[0]["state"] == "RUNNING"
    ui.keys("c")
    ui.see("Cancel job 1?")
    ui.keys("y")
    ui.see_row("work", "cancelled")


def test_several_jobs_are_cancelled_with_one_counted_question(
    terminal: Terminal, screen: Open, tmp_path: Path
) -> None:
    for n in range(3):
        submit_script(terminal, tmp_path, "exec sleep 600", f"job{n}.sh")
    ui = screen(cols=120, rows=40)
    for n in range(3):
        ui.see_row(f"job{n}")
    ui.keys("g")
    ui.keys("Space", "Space")
    ui.see("selected 2")
    ui.keys("c")
    ui.see("Cancel 2 jobs?", "job2", "job1")
    ui.keys("y")

    def states() -> list[str]:
        return sorted(job["state"] for job in terminal.daemon.call("jobs.list"))

    wait_until(lambda: states().count("CANCELLED") == 2, "two are cancelled", 60)
    assert terminal.run("cancel", "1", "2", "3").returncode in (0, 1)


def test_the_selection_stays_on_its_job(terminal: Terminal, screen: Open, tmp_path: Path) -> None:
    submit_script(terminal, tmp_path, "exit 0", "good.sh")
    submit_script(terminal, tmp_path, "echo no >&2; exit 3", "bad.sh")
    ui = screen(cols=80, rows=24)
    ui.see_row("bad", "failed")
    ui.see_row("good", "completed")
    ui.keys("/")
    ui.type("state:failed")
    ui.keys("Enter")
    ui.see("bad", gone=("good",))
    submit_script(terminal, tmp_path, "exit 4", "worse.sh")
    ui.see("worse")
    ui.keys("Enter")  # still on the job that was selected, not on the new one
    ui.see("bad", "failed", "[Summary]")
    ui.keys("Escape")
    ui.see("Jobs 3", "worse", gone=("[Summary]",))
    ui.keys("Escape")  # clears the filter
    ui.see("good", "bad", "worse")


def test_what_failed_says_why_on_the_screen(
    terminal: Terminal, screen: Open, tmp_path: Path
) -> None:
    submit_script(terminal, tmp_path, "echo the deck is wrong >&2; exit 4")
    ui = screen()
    ui.see_row("work", "failed")
    ui.keys("Enter")
    ui.see("failed", "crashed", "the deck is wrong")
