"""Who this daemon is: an id per run, and the marks by which a process is told from its successor.

A PID alone proves nothing (it is reused, and survives a reboot); PID, start time and boot id
together do. Called by ``pointer``, ``state`` and ``cli``.
"""

from __future__ import annotations

import os
import subprocess
import sys
import uuid
from dataclasses import dataclass
from pathlib import Path

from crystalmath.contract.pointer_file import boot_id, host_name

__all__ = ["Process", "boot_id", "host_name", "new_instance", "process_start", "this_process"]


@dataclass(frozen=True, slots=True)
class Process:
    """A process, told apart from any other that had or will have its PID."""

    pid: int
    pid_start: int
    boot_id: str
    host: str

    def is_alive(self) -> bool:
        """Whether exactly this process still runs on this host."""
        return (
            self.host == host_name()
            and self.boot_id == boot_id()
            and process_start(self.pid) == self.pid_start
        )


def this_process() -> Process:
    """Describe the calling process."""
    pid = os.getpid()
    return Process(pid, process_start(pid) or 0, boot_id(), host_name())


def new_instance() -> str:
    """Return a fresh id for one run of the daemon."""
    return uuid.uuid4().hex


def process_start(pid: int) -> int | None:
    """Return the start time of a process in the system's own units; None when there is none."""
    if sys.platform == "darwin":
        text = _output(["ps", "-o", "lstart=", "-p", str(pid)])
        return int.from_bytes(text.encode()[-8:], "big") if text else None
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    # proc(5): the command may hold spaces and brackets, so count fields behind the last bracket
    return int(stat.rpartition(")")[2].split()[19])


def _output(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # fixed words
    return done.stdout.strip()
