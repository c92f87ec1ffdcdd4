"""Outputs on disk: the beginning of a file, and which file of a directory is the output of a code.

Follows no link in a job directory, where a program may have put anything, and never waits. Shared
by the adapters.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO, Final

from crystalmath.errors import InvalidParams

STDOUT: Final = "stdout.log"
SNIFF_BYTES: Final = 64 * 1024
MAX_ENTRIES: Final = 2000
"""Files of a directory that are looked at."""
_NAMED: Final = 10

Sniff = Callable[[bytes], bool]
"""Whether the first bytes of a file are those of a code's output."""


def open_regular(path: Path) -> BinaryIO | None:
    """Open a regular file for reading; None when it is none or cannot be read."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return None
    if stat.S_ISREG(os.fstat(handle).st_mode):
        return os.fdopen(handle, "rb")
    os.close(handle)
    return None


def read_head(path: Path, limit: int) -> tuple[bytes, int]:
    """The first bytes of a regular file and its size; nothing when it cannot be read."""
    stream = open_regular(path)
    if stream is None:
        return b"", 0
    with stream:
        try:
            return stream.read(limit), os.fstat(stream.fileno()).st_size
        except OSError:
            return b"", 0


def is_output(path: Path, sniff: Sniff) -> bool:
    """Whether a file begins as an output of the code does."""
    return sniff(read_head(path, SNIFF_BYTES)[0])


def find_outputs(directory: Path, sniff: Sniff) -> list[Path]:
    """The outputs of a code in a directory, the newest first; of a job, the one it wrote."""
    if (directory / ".cm").is_dir() and is_output(directory / STDOUT, sniff):
        return [directory / STDOUT]
    found: list[tuple[float, str, Path]] = []
    try:
        with os.scandir(directory) as entries:
            for _, entry in zip(range(MAX_ENTRIES), entries, strict=False):
                path = Path(entry.path)
                if entry.is_file() and is_output(path, sniff):
                    found.append((-entry.stat().st_mtime, entry.name, path))
    except OSError:
        return []
    return [path for _, _, path in sorted(found)]


def meant_output(path: Path, sniff: Sniff, program: str) -> Path | None:
    """The output that a path means; None when it is none of the code's.

    Parameters
    ----------
    program
        What a user calls the program.

    Raises
    ------
    InvalidParams
        The directory holds several.
    """
    if not path.is_dir():
        resolved = path.resolve()
        return resolved if is_output(resolved, sniff) else None
    found = find_outputs(path, sniff)
    if len(found) > 1:
        names = ", ".join(sorted(one.name for one in found)[:_NAMED])
        raise InvalidParams(
            f"the directory holds {len(found)} outputs of {program}: {names}",
            hint="name one of these files",
            field="path",
        )
    return found[0] if found else None
