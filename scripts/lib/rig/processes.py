"""What the system tells about processes: memory, descriptors, and who belongs to a place.

Reads ``/proc``, so these runs need Linux.
"""

from __future__ import annotations

import os
import signal
from pathlib import Path

_PROC = Path("/proc")


def resident_bytes(pid: int) -> int:
    """Resident memory of a process."""
    pages = int((_PROC / str(pid) / "statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def descriptors(pid: int) -> int:
    """How many descriptors a process has open."""
    return len(list((_PROC / str(pid) / "fd").iterdir()))


def sockets(pid: int) -> int:
    """How many sockets a process has open."""
    count = 0
    for entry in (_PROC / str(pid) / "fd").iterdir():
        try:
            count += str(entry.readlink()).startswith("socket:")
        except OSError:
            continue  # closed meanwhile
    return count


def threads(pid: int) -> int:
    """How many threads a process has."""
    return len(list((_PROC / str(pid) / "task").iterdir()))


def is_running(pid: int) -> bool:
    """Whether the process is there and has not ended yet (a zombie has)."""
    try:
        stat = (_PROC / str(pid) / "stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] not in ("Z", "X")


def parent(pid: int) -> int:
    """Pid of the parent; 0 when the process is gone."""
    try:
        stat = (_PROC / str(pid) / "stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return 0
    return int(stat.rpartition(")")[2].split()[1])


def command_of_place(pid: int, root: Path) -> str | None:
    """The command line of a process that runs and works below ``root``; None for any other."""
    needle = os.fsencode(root)
    try:
        command = (_PROC / str(pid) / "cmdline").read_bytes()
        belongs = needle in command or needle in (_PROC / str(pid) / "environ").read_bytes()
    except OSError:
        return None  # it has ended, or is somebody else's
    if not belongs or not is_running(pid):
        return None
    return command.replace(b"\0", b" ").decode(errors="replace").strip()


def of_place(root: Path) -> dict[int, str]:
    """Processes that work below ``root``, with their command lines; not the caller itself."""
    found = {}
    for pid in (int(entry.name) for entry in _PROC.iterdir() if entry.name.isdigit()):
        command = None if pid == os.getpid() else command_of_place(pid, root)
        if command is not None:
            found[pid] = command
    return found


def kill_of_place(root: Path) -> None:
    """End every process that works below ``root``."""
    while left := of_place(root):
        for pid in left:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue


def peak_bytes(pid: int) -> int:
    """The most resident memory that a process has had."""
    for line in (_PROC / str(pid) / "status").read_text(encoding="ascii").splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    raise ValueError(f"the system tells no peak of process {pid}")


def cpu_s(pid: int) -> float:
    """Processor time of all threads that a process has, in seconds, from the scheduler."""
    spent_ns = 0
    for task in (_PROC / str(pid) / "task").iterdir():
        try:
            spent_ns += int((task / "schedstat").read_text(encoding="ascii").split()[0])
        except OSError:
            continue  # the thread has ended
    return spent_ns / 1e9
