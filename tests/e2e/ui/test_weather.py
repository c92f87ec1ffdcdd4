"""Bad weather: a daemon that is killed, changing windows, no colour, slow links, large logs."""

from __future__ import annotations

import os
import re
import shutil
import signal
import sys
from pathlib import Path

import pytest

from e2e.conftest import Terminal
from e2e.ui.conftest import Open
from e2e.ui.test_work import submit_script
from support.daemon import ROOT, wait_until
from support.screen import ENDED

MIB = 1024 * 1024


def daemon_pid(terminal: Terminal) -> int:
    return int(terminal.daemon.call("system.hello", {"client": "test"})["pid"])


def test_a_daemon_that_is_killed_comes_back(
    terminal: Terminal, screen: Open, tmp_path: Path
) -> None:
    gate = tmp_path / "gate"
    submit_script(terminal, tmp_path, f"while [ ! -e {gate} ]; do sleep 0.05; done; echo done")
    ui = screen(cols=120, rows=40)
    ui.see("live")
    ui.see_row("work", "running")
    first = daemon_pid(terminal)
    os.kill(first, signal.SIGSTOP)  # no reconnect before the old rows were looked at
    os.kill(first, signal.SIGKILL)
    text = ui.see("work", gone=("● live",))
    assert "work" in text, "the old rows stay"
    ui.see("live")  # the UI has started another one
    assert daemon_pid(terminal) != first
    ui.see_row("work", "running")
    gate.touch()
    ui.see_row("work", "completed")


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
    ui.keys("G")
    ui.see("needle in the tail")
    status = Path(f"/proc/{ui.program_pid()}/status").read_text(encoding="ascii")
    resident = re.search(r"VmHWM:\s+(\d+) kB", status)
    assert resident is not None
    assert int(resident[1]) * 1024 < 100 * MIB
