"""Outputs of CRYSTAL on disk: whole, or as far as they have grown. Bounded in memory.

A growing output is followed: what was read once is not read again. Used by the adapter.
"""

from __future__ import annotations

import os
import re
import threading
import time
from collections import OrderedDict
from pathlib import Path
from typing import Final

from crystalmath.codes.crystal.output import (
    energies,
    equation,
    geometry,
    optimisation,
    response,
)
from crystalmath.codes.crystal.output.lines import Reader
from crystalmath.codes.crystal.output.run import Run
from crystalmath.codes.outputs import open_regular

PARTS: Final = (energies, equation, geometry, optimisation, response)
"""They register what is done at which line."""
CHUNK_BYTES: Final = 1024 * 1024
PIECE_BYTES: Final = 16 * 1024
PAUSE_S: Final = 0.0005
"""What is followed is read by threads of the daemon: after each piece others have their turn."""
FOLLOWED: Final = 32
"""Outputs whose state is kept, the latest ones."""
SEAM_BYTES: Final = 512
_BEGINNING: Final = re.compile(rb"^ \* +CRYSTAL\d\d +\*\s*$|^ EEEEEEEEEE STARTING", re.MULTILINE)


def sniff(head: bytes) -> bool:
    """Whether a file begins as an output of CRYSTAL does (a job script may have written before)."""
    return _BEGINNING.search(head) is not None


def load_run(path: Path) -> Run:
    """Read a whole output; an empty result when there is none."""
    reader = Reader()
    stream = open_regular(path)
    if stream is not None:
        with stream:
            while chunk := stream.read(CHUNK_BYTES):
                reader.feed(chunk)
    return reader.finish()


class _Followed:
    """One output that grows: its state, and how far it was read."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self._start()

    def _start(self) -> None:
        self.reader = Reader()
        self.at = 0
        self.inode: int | None = None
        self.head = self.seam = b""

    def update(self, path: Path) -> tuple[Run, int]:
        """Read what was added; returns the state and how many bytes were read for it."""
        stream = open_regular(path)
        if stream is None:
            self._start()
            return self.reader.run, 0
        with stream:
            status = os.fstat(stream.fileno())
            head = stream.read(SEAM_BYTES)
            stream.seek(max(0, self.at - SEAM_BYTES))
            seam = stream.read(min(self.at, SEAM_BYTES))
            same = head.startswith(self.head) and seam == self.seam
            # Another attempt writes a new file, or the same one from its beginning.
            if status.st_ino != self.inode or status.st_size < self.at or not same:
                self._start()
                self.inode = status.st_ino
                stream.seek(0)
            read = 0
            while chunk := stream.read(PIECE_BYTES):
                if read:
                    time.sleep(PAUSE_S)
                self.reader.feed(chunk)
                self.seam = (self.seam + chunk)[-SEAM_BYTES:]
                read += len(chunk)
            if len(self.head) < SEAM_BYTES:
                self.head = head
            self.at += read
        return self.reader.run, read


class Follower:
    """Follows the outputs of running jobs; safe for several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: OrderedDict[Path, _Followed] = OrderedDict()

    def update(self, path: Path) -> tuple[Run, int]:
        """The state of an output, and how many bytes were read to know it.

        The state goes on with the next update: look at it before.
        """
        with self._lock:
            followed = self._known.setdefault(path, _Followed())
            self._known.move_to_end(path)
            while len(self._known) > FOLLOWED:
                self._known.popitem(last=False)
        with followed.lock:
            return followed.update(path)
