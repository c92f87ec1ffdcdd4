"""The command line that puts a program under its guard; see ``guard.py``."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

_GUARD: Final = Path(__file__).with_name("guard.py")


def guarded(
    command: Sequence[str],
    *,
    log: Path | None = None,
    hold_fd: int | None = None,
    tidy: Path | None = None,
) -> list[str]:
    """Return the command that runs another one under a guard, which this process must start.

    Parameters
    ----------
    log
        The end of what the program writes to standard error goes there; None: it writes to the
        guard's own.
    hold_fd
        A descriptor that the guard keeps open until everything below it has ended, and which the
        program does not get.
    tidy
        A directory to be removed when everything has ended.
    """
    options: list[str] = []
    if log is not None:
        options += ["--log", str(log)]
    if hold_fd is not None:
        options += ["--hold", str(hold_fd)]
    if tidy is not None:
        options += ["--tidy", str(tidy)]
    python = [sys.executable, "-I", "-S", str(_GUARD)]
    return [*python, *options, str(os.getpid()), "--", *command]
