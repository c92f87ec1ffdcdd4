"""Job directories on this machine: made complete or not at all, removed only on purpose.

A directory appears under its final name only when every input file is in it, so a daemon that is
killed while it writes leaves nothing that looks ready.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Callable, Generator, Iterable
from pathlib import Path
from typing import IO, Final

from crystalmath.services.ports import InputFile

PIECE_BYTES: Final = 64 * 1024**2
"""What is copied at a time: some tenths of a second, for which the other jobs wait."""
CHUNK_BYTES: Final = 4 * 1024**2
_MARK = ".cm/removal"
_CANCEL = ".cm/cancel"


class JobDirectories:
    """``<root>/<key>`` for each job; ``key`` is the job's uuid."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def path(self, key: str) -> Path:
        """Directory of the job with this key."""
        return self.root / key

    def creating(
        self, key: str, files: Iterable[InputFile]
    ) -> Generator[int, None, dict[str, str]]:
        """Write the job's files into a fresh directory, piece by piece; safe to repeat.

        Whoever runs it may do something else between two pieces of :data:`PIECE_BYTES`. A generator
        that is closed before its end leaves nothing.

        Yields
        ------
        int
            Bytes that are done.

        Returns
        -------
        dict
            Path → SHA-256 of every file.

        Raises
        ------
        OSError
            A source is gone, or the disk is full; nothing is left under the final name.
        """
        files = list(files)
        final = self.path(key)
        if final.is_dir():
            return (yield from _in_pieces((f.path, _hashing(final / f.path)) for f in files))
        part = self.root / f"{key}.part"
        shutil.rmtree(part, ignore_errors=True)
        try:
            (part / ".cm").mkdir(parents=True, mode=0o700)
            hashes = yield from _in_pieces((f.path, _placing(part, f)) for f in files)
            part.rename(final)
        except BaseException:
            shutil.rmtree(part, ignore_errors=True)
            raise
        return hashes

    def mark_for_removal(self, key: str) -> None:
        """Note that the directory may go as soon as the database has forgotten the job."""
        if self.path(key).is_dir():
            (self.path(key) / ".cm").mkdir(exist_ok=True)
            (self.path(key) / _MARK).touch()

    def mark_for_cancel(self, key: str) -> bool:
        """Note that the job is to be ended, where the database cannot; False if nor can this.

        A name without content needs no space on most file systems.
        """
        try:
            (self.path(key) / _CANCEL).touch()
        except OSError:
            return False
        return True

    def is_marked_for_cancel(self, key: str) -> bool:
        """Whether :meth:`mark_for_cancel` was asked for."""
        return (self.path(key) / _CANCEL).exists()

    def remove(self, key: str) -> None:
        """Remove the directory."""
        shutil.rmtree(self.path(key), ignore_errors=True)

    def sweep(self, is_known: Callable[[str], bool]) -> int:
        """Finish removals and drop half-written directories that a killed daemon left.

        A directory without a mark is kept, also when no job knows it: it holds somebody's results.
        """
        removed = 0
        for entry in os.scandir(self.root):
            key, _, suffix = entry.name.partition(".")
            if suffix == "part" or (
                not suffix and (Path(entry) / _MARK).exists() and not is_known(key)
            ):
                shutil.rmtree(entry.path, ignore_errors=True)
                removed += 1
        return removed


def hash_file(path: Path) -> str:
    """SHA-256 of a file, read in pieces."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _in_pieces(
    files: Iterable[tuple[str, Generator[int, None, str]]],
) -> Generator[int, None, dict[str, str]]:
    """Work on files one after the other, and pause whenever a piece is done."""
    hashes: dict[str, str] = {}
    done = paused = 0
    for path, work in files:
        while True:
            try:
                done += next(work)
            except StopIteration as end:
                hashes[path] = end.value
                break
            if done - paused >= PIECE_BYTES:
                paused = done
                yield done
    return hashes


def _placing(directory: Path, file: InputFile) -> Generator[int, None, str]:
    target = directory / file.path
    target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    if file.source is not None:
        with target.open("wb") as copy:
            digest = yield from _hashing(Path(file.source), copy)
    else:
        content = (file.content or "").encode()
        target.write_bytes(content)
        digest = hashlib.sha256(content).hexdigest()
    target.chmod(0o700 if file.executable else 0o600)
    return digest


def _hashing(source: Path, copy: IO[bytes] | None = None) -> Generator[int, None, str]:
    """SHA-256 of a file, and a copy of it, in one pass; yields how much was read each time."""
    digest = hashlib.sha256()
    with source.open("rb") as stream:
        while chunk := stream.read(CHUNK_BYTES):
            digest.update(chunk)
            if copy is not None:
                copy.write(chunk)
            yield len(chunk)
    return digest.hexdigest()
