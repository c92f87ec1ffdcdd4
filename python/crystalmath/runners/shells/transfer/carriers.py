"""What moves bytes: SFTP, a stream over exec, or the file system of this machine.

They only appends to and reads from files. Directories, sizes, checksums and renames are
commands, the same for all of them.
"""

from __future__ import annotations

import errno
import hashlib
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

from crystalmath.errors import DiskFull, InputRejected, TransferFailed
from crystalmath.services.ports_shell import Put

STALL_S: Final = 60.0
CHUNK_BYTES: Final = 256 * 1024


class CarrierBroken(Exception):
    """That way of moving bytes does not work on this host; another may."""


class CarrierFailed(Exception):
    """The host refused a read or write, e.g. because its disk is full."""


class CarrierLost(Exception):
    """The connection was lost, or nothing moved for too long; what arrived is kept."""


class Progress:
    """Counts bytes, and says when to give up: at the deadline, or when nothing moves.

    Parameters
    ----------
    until
        The deadline of the whole transfer, on the monotonic clock.
    """

    def __init__(
        self, until: float, on_bytes: Callable[[int], None], stall_s: float = STALL_S
    ) -> None:
        self._until = until
        self._on_bytes = on_bytes
        self._stall_s = stall_s
        self._moved_at = time.monotonic()

    def moved(self, n_bytes: int) -> None:
        """Bytes have moved."""
        self._moved_at = time.monotonic()
        self._on_bytes(n_bytes)

    def until(self) -> float:
        """When to give up, as it stands."""
        return min(self._until, self._moved_at + self._stall_s)

    def left(self) -> float:
        """Seconds until then, or ``CarrierLost``."""
        left = self.until() - time.monotonic()
        if left <= 0:
            raise CarrierLost("nothing moved in time")
        return left


@dataclass(frozen=True, slots=True)
class Source:
    """The local side of a :class:`Put`: its content is read once beforehand, for the checksum."""

    put: Put
    size: int
    sha256: str
    mtime_ns: int | None

    @classmethod
    def of(cls, put: Put) -> Source:
        """Look at a file to be sent.

        Raises
        ------
        InputRejected
            It cannot be read.
        """
        if put.content is not None:
            digest = hashlib.sha256(put.content).hexdigest()
            return cls(put, len(put.content), digest, None)
        assert put.source is not None
        try:
            with put.source.open("rb") as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
                stat = put.source.stat()
        except OSError as err:
            raise InputRejected(
                f"the file {put.source} cannot be read: {err.strerror}",
                hint="It is needed on the host.",
            ) from err
        return cls(put, stat.st_size, digest, stat.st_mtime_ns)

    def chunks(self, offset: int) -> Iterator[bytes]:
        """The bytes from an offset on."""
        if self.put.content is not None:
            for at in range(offset, self.size, CHUNK_BYTES):
                yield self.put.content[at : at + CHUNK_BYTES]
            return
        assert self.put.source is not None
        with self.put.source.open("rb") as file:
            file.seek(offset)
            while chunk := file.read(CHUNK_BYTES):
                yield chunk

    def unchanged(self) -> bool:
        """Whether the file is still what it was."""
        if self.put.source is None:
            return True
        try:
            stat = self.put.source.stat()
        except OSError:
            return False
        return (stat.st_size, stat.st_mtime_ns) == (self.size, self.mtime_ns)


@dataclass(frozen=True, slots=True)
class Sending:
    """Bytes to append to a file of the host, which has ``offset`` bytes already."""

    part: str
    offset: int
    source: Source


@dataclass(frozen=True, slots=True)
class Fetching:
    """Bytes to append to a local file, from an offset on."""

    remote: str
    offset: int
    count: int
    part: Path


class Sender(Protocol):
    """One way of bringing bytes; raises the three exceptions of this module."""

    def send(self, directory: str, sendings: Sequence[Sending], progress: Progress) -> None:
        """Append to files under a directory of the host; an offset of 0 starts a file anew."""


class Fetcher(Protocol):
    """One way of fetching bytes; raises ``CarrierFailed`` and ``CarrierLost``."""

    def fetch(self, fetchings: Sequence[Fetching], progress: Progress) -> None:
        """Append to local files."""


class LocalPart:
    """A local file that is being fetched.

    Raises
    ------
    DiskFull
        This machine's disk is full.
    """

    def __init__(self, fetching: Fetching) -> None:
        self._path = fetching.part
        self._file = fetching.part.open("ab" if fetching.offset else "wb")

    def write(self, data: bytes) -> None:
        """Append."""
        try:
            self._file.write(data)
        except OSError as err:
            raise disk_full(str(self._path.parent), "this machine", err) from err

    def close(self) -> None:
        """Bring what was written to the disk, so that it may be resumed from."""
        try:
            self._file.close()
        except OSError as err:
            raise disk_full(str(self._path.parent), "this machine", err) from err


def disk_full(place: str, where: str, err: OSError | None = None) -> TransferFailed:
    """The error for a disk or quota that is full; for another trouble of a disk, that."""
    if err is not None and err.errno not in {errno.ENOSPC, errno.EDQUOT}:
        return TransferFailed(
            f"{place} on {where} cannot be written: {err.strerror}", stage="transfer"
        )
    return DiskFull(
        f"quota or disk full at {place} on {where}",
        hint="Make room there, then try again.",
        stage="transfer",
    )
