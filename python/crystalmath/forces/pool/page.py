"""The status page of a worker: 4 kB of memory that it writes and the daemon reads.

Reading costs no message and works while the worker computes, or hangs. A moment of it may be torn
between two fields; nothing is decided on a single look that a torn one could turn around.
"""

from __future__ import annotations

import mmap
import os
import time
from dataclasses import dataclass, fields

from crystalmath.forces.worker import wire


@dataclass(frozen=True, slots=True)
class Look:
    """What the page says.

    Attributes
    ----------
    started_at
        Monotonic time at which the request in hand began; 0 when there is none.
    allowance_s
        What that request may take.
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
    phase: str = ""

    @property
    def busy(self) -> bool:
        """Whether a request is in hand."""
        return self.started_at > 0

    def overdue_s(self, now: float) -> float:
        """Seconds that the request in hand takes longer than it may; negative while it may."""
        return now - self.started_at - self.allowance_s if self.busy else -1.0


_NUMBERS = tuple(part.name for part in fields(Look) if part.name != "phase")


class StatusPage:
    """The daemon's mapping of it."""

    def __init__(self) -> None:
        self.fd = os.memfd_create("crystalmath-status", os.MFD_CLOEXEC)
        os.ftruncate(self.fd, wire.STATUS_BYTES)
        self._map = mmap.mmap(self.fd, wire.STATUS_BYTES, prot=mmap.PROT_READ | mmap.PROT_WRITE)
        self._last = Look()

    def look(self) -> Look:
        """Read it; the last look when it is closed."""
        if self._map.closed:
            return self._last
        found = wire.STATUS.unpack_from(self._map, 0)
        if found[0] == wire.STATUS_MAGIC:
            numbers = dict(zip(_NUMBERS, found[1:-1], strict=True))
            phase = found[-1].partition(b"\0")[0].decode("ascii", "replace")
            self._last = Look(**numbers, phase=phase)
        return self._last

    def close(self) -> None:
        """Take a last look and let it go."""
        if not self._map.closed:
            self.look()
            self._map.close()
            os.close(self.fd)


def now() -> float:
    """The clock of the page, which both processes share."""
    return time.monotonic()
