"""The status page as the worker writes it: memory shared with whoever watches, no system calls."""

from __future__ import annotations

import mmap
import struct
import time

from . import wire

# The fields from "requests begun" on; the magic is written last, once.
_FIELDS = struct.Struct("<4Q2d2I2dQ32s")
assert _FIELDS.size == wire.STATUS.size - len(wire.STATUS_MAGIC)
_START = len(wire.STATUS_MAGIC)


class StatusPage:
    """The page; see ``wire.STATUS``.

    Parameters
    ----------
    fd
        Of the shared memory; None: the page is seen by nobody.
    """

    def __init__(self, fd: int | None) -> None:
        size = wire.STATUS_BYTES
        self._map = mmap.mmap(-1, size) if fd is None else mmap.mmap(fd, size)
        self._phase = b"starting"
        self.begun = 0
        self.done = 0
        self.structures = 0
        self.evaluations = 0
        self.clients = 0
        self._last_done_at = 0.0
        self._computing_s = 0.0
        self._write(0.0, 0.0, 0, 0)
        self._map[:_START] = wire.STATUS_MAGIC

    @property
    def phase(self) -> str:
        """What it is doing, in a word or two."""
        return self._phase.decode("ascii")

    def enter(self, phase: str) -> None:
        """Say what it is doing now."""
        self._phase = phase.encode("ascii")[:32]
        self._write(0.0, 0.0, 0, 0)

    def begin(self, now: float, allowance_s: float, atoms: int, waiting: int) -> None:
        """Note that a request is in hand."""
        self.begun += 1
        self._write(now, allowance_s, atoms, waiting, b"computing")

    def end(self, now: float, seconds: float, structures: int, waiting: int) -> None:
        """Note that it is answered."""
        self.done += 1
        self.structures += structures
        self._last_done_at = now
        self._computing_s += seconds
        self._write(0.0, 0.0, 0, waiting)

    def attached(self, clients: int) -> None:
        """Note how many data channels are open."""
        self.clients = clients
        self._write(0.0, 0.0, 0, 0)

    def _write(
        self, started: float, allowance_s: float, atoms: int, waiting: int, phase: bytes = b""
    ) -> None:
        _FIELDS.pack_into(
            self._map,
            _START,
            self.begun,
            self.done,
            self.structures,
            self.evaluations,
            started,
            allowance_s,
            self.clients,
            atoms,
            self._last_done_at,
            self._computing_s,
            waiting,
            phase or self._phase,
        )


def now() -> float:
    """The clock that both ends share."""
    return time.monotonic()
