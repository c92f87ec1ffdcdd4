"""A daemon that goes away under the open UI."""

from __future__ import annotations

import os
import re
import signal
from pathlib import Path

from e2e.conftest import Terminal
from e2e.ui.conftest import Open
from e2e.ui.test_work import submit_script
from support.daemon import wait_until


class Starter:
    """The program that clients start as the daemon, behind a gate."""

    def __init__(self, terminal: Terminal, gate: Path) -> None:
        self._gate = gate
        self._script = Path(terminal.env["CRYSTALMATH_SERVER"])
        self._right = self._script.read_text(encoding="utf-8")

    def shut(self) -> None:
        """From now on a daemon starts only after the gate was opened."""
        shebang, rest = self._right.split("\n", 1)
        wait = f"while [ ! -e {self._gate} ]; do sleep 0.05; done"
        self._write(f"{shebang}\n{wait}\n{rest}")

    def open(self) -> None:
        self._gate.touch()

    def break_with(self, words: str) -> None:
        """From now on a daemon ends before it is one."""
        self._write(f"#!/bin/sh\necho {words} >&2\nexit 1\n")

    def mend(self) -> None:
        self._write(self._right)

    def _write(self, text: str) -> None:
        new = self._script.with_suffix(".new")
        new.write_text(text, encoding="utf-8")
        new.chmod(0o755)
        new.replace(self._script)  # a shell may be reading the other one


def test_rows_stay_with_their_age_until_another_daemon_tells_better(
    terminal: Terminal, screen: Open, tmp_path: Path
) -> None:
    starter, finish = Starter(terminal, tmp_path / "start"), tmp_path / "finish"
    waits = f"while [ ! -e {finish} ]; do sleep 0.05; done"
    submit_script(terminal, tmp_path, f"{waits}; touch {tmp_path}/ended", "meanwhile.sh")
    submit_script(terminal, tmp_path, "exec sleep 600", "onward.sh")
    ui = screen(cols=120, rows=40)
    ui.see("● live")
    ui.see_row("meanwhile", "running")
    ui.see_row("onward", "running")

    starter.shut()
    first = terminal.daemon.pid()
    os.kill(first, signal.SIGKILL)
    ui.see_match(r"data [1-9]\d*s old", gone=("● live",))
    ui.see_row("meanwhile", "running")  # nobody knows better
    ui.see_row("onward", "running")
    finish.touch()
    ui.keys("j")  # keys act without a daemon
    ui.keys("?")
    ui.see("type to filter")
    ui.keys("Escape")
    wait_until((tmp_path / "ended").exists, "the job has ended", 60)

    starter.open()
    ui.see("● live")
    ui.see_row("meanwhile", "completed")
    ui.see_row("onward", "running")
    assert terminal.daemon.pid() != first
    submit_script(terminal, tmp_path, "exit 0", "after.sh")
    ui.see_row("after", "completed")  # events come again
    terminal.run("cancel", "2", "--yes")


def test_a_daemon_that_does_not_start_is_told_with_its_cause(
    terminal: Terminal, screen: Open, tmp_path: Path
) -> None:
    starter = Starter(terminal, tmp_path / "start")
    submit_script(terminal, tmp_path, "exit 0")
    ui = screen(cols=120, rows=40)
    ui.see_row("work", "completed")
    starter.break_with("the disk is full")
    os.kill(terminal.daemon.pid(), signal.SIGKILL)
    text = ui.see("no daemon", "the disk is full")
    assert re.search(r"data \d+\w old", text), text
    ui.see_row("work", "completed")
    starter.mend()
    ui.keys("C-r")
    ui.see("● live", gone=("the disk is full",))
    ui.leave()
