"""Bad weather: changing windows, no colour, slow links, large logs, an end from outside."""

from __future__ import annotations

import os
import re
import select
import shutil
import signal
import sys
from pathlib import Path

import pytest

from e2e.conftest import Terminal
from e2e.ui.conftest import Open
from e2e.ui.test_work import submit_script
from support.daemon import ROOT, wait_until
from support.screen import ENDED, PATIENCE_S

MIB = 1024 * 1024


def test_a_small_window_says_what_still_works(screen: Open) -> None:
    ui = screen(cols=60, rows=15)
    ui.see("Jobs 0", "No jobs yet", "? help")
    ui.resize(30, 6)
    assert "q" in ui.see("too small", gone=("No jobs yet",))
    ui.resize(120, 40)
    ui.see("Jobs 0", "No jobs yet")
    for cols, rows in [(20, 5), (200, 60), (1, 1), (80, 24), (61, 16), (119, 39), (80, 24)]:
        ui.resize(cols, rows)
    ui.see("Jobs 0", "No jobs yet")
    ui.resize(20, 5)
    ui.resize(30, 6)
    ui.see("too small")
    ui.keys("q")  # one key, straight after a change of the size, is not lost
    ui.see(f"{ENDED} 0")


def test_without_colour_there_is_none(terminal: Terminal, screen: Open, tmp_path: Path) -> None:
    submit_script(terminal, tmp_path, "exit 3")
    ui = screen(env={"NO_COLOR": "1"})
    ui.see_row("work", "failed")
    attributes = re.findall(r"\x1b\[([0-9;]*)m", ui.text(colours=True))
    numbers = {int(n) for one in attributes for n in one.split(";") if n}
    colours = {n for n in numbers if 30 <= n <= 49 or 90 <= n <= 107}
    assert not colours - {39, 49}, numbers  # those two are the terminal's own


def test_a_slow_link_stays_usable(terminal: Terminal, screen: Open, tmp_path: Path) -> None:
    for n in range(30):
        submit_script(terminal, tmp_path, "exit 0", f"job{n}.sh")
    wait_until(
        lambda: all(job["state"] == "COMPLETED" for job in terminal.daemon.call("jobs.list")),
        "all have ended",
        60,
    )
    relay = (sys.executable, str(ROOT / "tests" / "support" / "slow_link.py"), "5000")
    ui = screen(cols=80, rows=24, before=relay)
    ui.see("Jobs 30", "job29")
    for _ in range(12):
        ui.keys("j")
    ui.keys("Enter")
    ui.see("[Summary]", "job17")
    ui.keys("Escape")
    ui.see("Jobs 30")
    ui.keys("/")
    ui.type("name~job7")
    ui.see_row("job7", "completed")
    ui.keys("Escape")
    # Esc and a letter that arrive together are one key, as in every terminal.
    ui.see("Jobs 30", "job17", gone=("Esc leave", "filter:"))  # the cursor is where it was
    ui.leave()


def test_a_log_of_a_gigabyte(terminal: Terminal, screen: Open, tmp_path: Path) -> None:
    if shutil.disk_usage(tmp_path).free < 4 * 1024 * MIB:
        pytest.skip("less than 4 GiB are free for a log of 1 GiB")
    # Two ends of text and a hole of zeros between them: no gigabyte is written.
    text = (
        "i=0; while [ $i -lt 2000 ]; do i=$((i+1)); echo head $i; done\n"
        "truncate -s 1G stdout.log\n"
        "i=0; while [ $i -lt 2000 ]; do i=$((i+1)); echo tail $i; done\n"
        "echo needle in the tail"
    )
    submit_script(terminal, tmp_path, text)
    ui = screen(cols=100, rows=30)
    ui.see_row("work", "completed")
    ui.keys("L")
    ui.see("needle in the tail", "tail 2000")
    ui.keys("g")
    ui.see("head 1", gone=("tail 2000",))
    ui.keys("/")
    ui.type("head 1500")
    ui.keys("Enter")
    ui.see("head 1499", "head 1500", "head 1501")  # found with the lines around it
    ui.keys("G")
    ui.see("needle in the tail")
    status = Path(f"/proc/{ui.program_pid()}/status").read_text(encoding="ascii")
    resident = re.search(r"VmHWM:\s+(\d+) kB", status)
    assert resident is not None
    assert int(resident[1]) * 1024 < 100 * MIB


def test_an_end_from_outside_leaves_the_terminal_as_it_was(screen: Open) -> None:
    ui = screen()
    ui.see("No jobs yet", "live")
    os.kill(ui.program_pid(), signal.SIGTERM)
    ui.see(ENDED, gone=("No jobs yet",))
    ui.type("echo it is $((40 + 2))")
    ui.keys("Enter")
    ui.see("it is 42")


@pytest.mark.parametrize("before", [(), ("setsid",)], ids=["hang-up", "no-signal"])
def test_without_a_terminal_the_program_ends(screen: Open, before: tuple[str, ...]) -> None:
    ui = screen(before=before)
    ui.see("No jobs yet", "live")
    program = os.pidfd_open(ui.program_pid())
    try:
        ui.vanish()
        ended, _, _ = select.select([program], [], [], PATIENCE_S)
        assert ended, "the program still runs"
    finally:
        os.close(program)
