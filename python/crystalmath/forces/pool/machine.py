"""How much memory this machine has left, and how much a process has. Linux; elsewhere unknown."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

_MEMINFO = Path("/proc/meminfo")
_KB = 1024


class Machine(NamedTuple):
    """Bytes of memory: all, and what could be had now without swapping."""

    total_bytes: int
    available_bytes: int


def machine_memory() -> Machine | None:
    """What the system says; None where it does not."""
    try:
        lines = dict(line.split(":", 1) for line in _MEMINFO.read_text("ascii").splitlines())
        total, available = (int(lines[key].split()[0]) for key in ("MemTotal", "MemAvailable"))
    except (OSError, ValueError, KeyError, IndexError):
        return None
    return Machine(total * _KB, available * _KB)


def resident_bytes(pid: int) -> int | None:
    """Resident memory of a process; None when it is gone."""
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text("ascii").split()[1])
    except (OSError, ValueError, IndexError):
        return None
    return pages * os.sysconf("SC_PAGE_SIZE")
