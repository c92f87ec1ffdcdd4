"""The status page of a worker as its host reads it: no message, and it works while it computes."""

from __future__ import annotations

import mmap
import os
import time
from typing import NamedTuple

from crystalmath.forces.worker import wire


class Look(NamedTuple):
    """One moment; two fields of it may be from different ones.

    Attributes
    ----------
    started_at
        Monotonic time at which the request in hand began; 0 when there is none.
    """

    begun: int = 0
    done: int = 0
    structures: int = 0
    evaluations: int = 0
    started_at: float = 0.0
    allowance_s: float = 0.0
    clients: int = 0
    atoms: int = 0
    last_done_at: float = 0.0
    computing_s: float = 0.0
    waiting: int = 0
    phase: str = "starting"

    def overdue(self) -> bool:
        """Whether the request in hand takes longer than it may."""
        return self.started_at > 0.0 and time.monotonic() > self.started_at + self.allowance_s


class PageView:
    """The host's mapping of a page; ``fd`` is for the worker."""

    def __init__(self) -> None:
        self.fd = os.memfd_create("crystalmath-status", os.MFD_CLOEXEC)
        os.ftruncate(self.fd, wire.STATUS_BYTES)
        self._map = mmap.mmap(self.fd, wire.STATUS_BYTES)

    def look(self) -> Look:
        """Read it."""
        found = wire.STATUS.unpack_from(self._map, 0)
        if found[0] != wire.STATUS_MAGIC:
            return Look()
        phase = found[-1].partition(b"\0")[0].decode("ascii", "replace")
        return Look._make((*found[1:-1], phase))

    def close(self) -> None:
        """Let it go; a last look stays possible."""
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1
