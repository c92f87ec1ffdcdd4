"""What a template may use of the machine while it is filled in: seconds and memory.

The worker that fills it in does other work afterwards, so it takes the limits back. What stands
above both is the worker's own deadline.
"""

from __future__ import annotations

import resource
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Final

SECONDS: Final = 5.0
MEMORY_MIB: Final = 256
_STATM: Final = Path("/proc/self/statm")


class OutOfTime(Exception):
    """It took longer than it may."""


@contextmanager
def limited(seconds: float = SECONDS, memory_mib: int = MEMORY_MIB) -> Iterator[None]:
    """Run what stands below with limits.

    Memory is limited where the system tells how much there is in use already; time in the main
    thread.

    Raises
    ------
    OutOfTime, MemoryError
    """
    with _less_memory(memory_mib), _less_time(seconds):
        yield


@contextmanager
def _less_memory(mib: int) -> Iterator[None]:
    try:
        pages = int(_STATM.read_text(encoding="ascii").split()[0])
    except (OSError, ValueError, IndexError):
        yield
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    wanted = pages * resource.getpagesize() + mib * 1024 * 1024
    bounds = [bound for bound in (soft, hard) if bound != resource.RLIM_INFINITY]
    resource.setrlimit(resource.RLIMIT_AS, (min([wanted, *bounds]), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


@contextmanager
def _less_time(seconds: float) -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(_number: int, _frame: FrameType | None) -> None:
        raise OutOfTime

    began = time.monotonic()
    before = signal.signal(signal.SIGALRM, stop)
    rest_s, interval_s = signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        if rest_s:  # somebody else's clock goes on
            left_s = max(0.001, rest_s - (time.monotonic() - began))
            signal.setitimer(signal.ITIMER_REAL, left_s, interval_s)
