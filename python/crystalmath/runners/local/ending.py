"""Ending every process of a run: its group first, then those that left the group.

Not the decision to end: that is ``supervision``, which calls this module. Standard library only.
"""

from __future__ import annotations

import os
import signal
import time

from . import procfs

_FIRST_LOOK_S = 0.01
_SLOWEST_LOOK_S = 0.25
# Launchers hand USR1 on to all ranks, and a rank without a handler dies from it.
_LAUNCHERS = frozenset(
    {"mpirun", "mpiexec", "mpiexec.hydra", "orterun", "prterun", "prun", "srun", "jsrun", "aprun"}
)


def warn(program: int) -> bool:
    """Send USR1 to the program if it has a handler for it; return whether it was sent.

    As with SLURM's ``--signal=B:USR1`` only the program itself gets it, not its children. A
    program without a handler would die from the warning, so it gets none.
    """
    if not procfs.catches(program, signal.SIGUSR1) or procfs.name(program) in _LAUNCHERS:
        return False
    os.kill(program, signal.SIGUSR1)
    return True


def _send(pids: list[int], *signals: int) -> None:
    for pid in pids:
        for signum in signals:
            try:
                os.kill(pid, signum)
            except (ProcessLookupError, PermissionError):
                # Gone since the look, or run under another user: the next look tells.
                break


def _wait_gone(key: str | None, group: int, until: float) -> bool:
    """Wait until none of these processes is left, or until a moment of the monotonic clock."""
    pause_s = _FIRST_LOOK_S
    while not procfs.gone(key, group):
        rest_s = until - time.monotonic()
        if rest_s <= 0:
            return False
        # The program's own end cuts the pause short; the end of an orphan sends no signal.
        signal.sigtimedwait({signal.SIGCHLD}, min(pause_s, rest_s))
        pause_s = min(2 * pause_s, _SLOWEST_LOOK_S)
    return True


def left_behind(key: str, group: int, linger_s: float) -> int:
    """Count the processes of a run whose program has ended, and that do not end by themselves.

    Parameters
    ----------
    linger_s
        The moment that they have for it: the helpers of an MPI end just after the program.
    """
    if not procfs.members(key, group):
        return 0
    _wait_gone(key, group, time.monotonic() + linger_s)
    return len(procfs.members(key, group))


def end_all(key: str, group: int, grace_s: float, patience_s: float) -> int:
    """End every process of a run and return how many could not be ended.

    TERM goes to the group and, when that is gone, to whoever else carries the key. What is left
    after the grace gets KILL, repeatedly. A stopped process is woken, so that it can act on TERM.
    The caller keeps the group's leader unreaped, so that the number stays this group's.

    Parameters
    ----------
    grace_s
        Time from the first TERM to KILL.
    patience_s
        How long killed processes are waited for: one that hangs in the kernel, or runs under
        another user, may never go.
    """
    kill_at = time.monotonic() + grace_s
    _send(procfs.members(None, group), signal.SIGTERM, signal.SIGCONT)
    if _wait_gone(None, group, kill_at):
        _send(procfs.members(key, group), signal.SIGTERM, signal.SIGCONT)
        _wait_gone(key, group, kill_at)
    give_up_at = time.monotonic() + patience_s
    while not procfs.gone(key, group) and time.monotonic() < give_up_at:
        _send(procfs.members(key, group), signal.SIGKILL)
        _wait_gone(key, group, min(time.monotonic() + _SLOWEST_LOOK_S, give_up_at))
    return len(procfs.members(key, group))
