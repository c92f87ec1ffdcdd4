"""What the kernel says about processes, read from ``/proc``.

Not a process library: only what identity and clean-up of a run need. Called by ``runner`` in the
daemon and by ``supervision``; standard library only. Linux only; see ``available``.
"""

# pathlib would cost every supervisor several milliseconds at its start.
# ruff: noqa: PTH110, PTH123, PTH208

from __future__ import annotations

import os

KEY_VARIABLE = "CRYSTALMATH_JOB_KEY"
ATTEMPT_VARIABLE = "CRYSTALMATH_JOB_ATTEMPT"
JOB_VARIABLES = frozenset({KEY_VARIABLE, ATTEMPT_VARIABLE})


def available() -> bool:
    """Tell whether there is a Linux ``/proc``.

    macOS shows neither the environment nor the signal masks of other processes in a documented
    way, and without the first a child that left its group cannot be found.
    """
    return os.path.exists("/proc/self/environ")


def boot_id() -> str:
    """Return the id of this boot of the machine."""
    with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
        return file.read().strip()


def own_environment() -> dict[str, str]:
    """Return the environment this process was started with.

    Not ``os.environ``: in the C locale Python adds LC_CTYPE to that by itself (PEP 538).
    """
    with open("/proc/self/environ", "rb") as file:
        entries = os.fsdecode(file.read()).split("\0")
    return dict(entry.split("=", 1) for entry in entries if "=" in entry)


def _stat(pid: int) -> list[bytes] | None:
    """Return the fields of ``/proc/PID/stat`` from the third on; None if it does not run.

    The second field is the program's name in parentheses and may hold blanks and parentheses
    itself, so the line is split behind the last one (proc_pid_stat(5)).
    """
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            fields = file.read().rpartition(b")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return None
    if not fields or fields[0] == b"X" or (fields[0] == b"Z" and int(fields[17]) <= 1):
        # With more than one thread left only the first thread has ended, not the process.
        return None
    return fields


def start_ticks(pid: int) -> int | None:
    """Return when a process started, in clock ticks since boot; None if it does not run.

    A zombie does not run.
    """
    fields = _stat(pid)
    return None if fields is None else int(fields[19])


def alive(pid: int, pid_start: int) -> bool:
    """Tell whether the process with this pid is still the one that started at ``pid_start``."""
    return start_ticks(pid) == pid_start


def _pids() -> list[int]:
    own = os.getpid()
    return [int(name) for name in os.listdir("/proc") if name.isdigit() and int(name) != own]


def _carries(pid: int, marker: bytes) -> bool:
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            return marker in b"\0" + file.read()
    except (FileNotFoundError, ProcessLookupError, PermissionError):
        return False


def members(key: str | None, group: int | None = None) -> list[int]:
    """Return the running processes of a job, without the caller.

    Parameters
    ----------
    key
        Processes whose environment, as it was when they were executed, carries this job key; None
        for those of the group alone.
    group
        Process group whose members count as well. Only for whoever keeps its leader unreaped:
        otherwise the number may belong to somebody else by now.
    """
    marker = None if key is None else f"\0{KEY_VARIABLE}={key}\0".encode()
    found = []
    for pid in _pids():
        if marker is not None and _carries(pid, marker):
            # The environment of a zombie reads as empty, so this one runs.
            found.append(pid)
        elif group is not None:
            fields = _stat(pid)
            if fields is not None and int(fields[2]) == group:
                found.append(pid)
    return found


def gone(key: str | None, group: int | None = None) -> bool:
    """Tell whether no process of a job is left.

    Asked twice, since a process in the middle of ``execve`` shows an empty environment, and one
    that forks and exits may be passed over.
    """
    return not members(key, group) and not members(key, group)


def catches(pid: int, signum: int) -> bool:
    """Tell whether a process has a handler for a signal."""
    try:
        with open(f"/proc/{pid}/status", encoding="utf-8", errors="replace") as file:
            for line in file:
                if line.startswith("SigCgt:"):
                    return bool(int(line.split()[1], 16) >> (signum - 1) & 1)
    except (FileNotFoundError, ProcessLookupError):
        pass
    return False


def name(pid: int) -> str:
    """Return the short name of a process, empty if it does not run."""
    try:
        with open(f"/proc/{pid}/comm", encoding="utf-8", errors="replace") as file:
            return file.read().strip()
    except (FileNotFoundError, ProcessLookupError):
        return ""
