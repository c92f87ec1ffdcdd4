"""The files in a job directory's ``.cm``, by which daemon and supervisor understand each other.

====================  ============================================================================
``launch.N.json``     what attempt N shall run; written by the runner, by temporary file and rename
``claim.N/``          attempt N is taken; ``owner.json`` in it says by which process
``start.json``        the newest attempt's program has started
``end.json``          how the newest attempt ended
``supervisor.log``    what the supervisors had to complain about
====================  ============================================================================

A claim appears whole: it is a directory prepared under another name and renamed, which fails where
a non-empty directory is already (rename(2)). So there is no moment at which an attempt is taken by
nobody knows whom. The space of ``start.json`` and ``end.json`` is part of the claim: both are
written there as blanks beforehand and overwritten in place, so a disk that fills up during the run
cannot keep the receipt from being written. (On file systems that never overwrite in place, such as
btrfs and zfs, this is a help and no guarantee.)

Not the meaning of these files: that is in ``runner`` and ``supervision``, which call this module.
Standard library only.
"""

# pathlib would cost every supervisor several milliseconds at its start.
# ruff: noqa: PTH102, PTH104, PTH106, PTH108, PTH110, PTH118, PTH120, PTH123, PTH208

from __future__ import annotations

import errno
import json
import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

FOLDER = ".cm"
FORMAT = 1
RESERVED_BYTES = 4096


def path_of(directory: str | os.PathLike[str], *names: str) -> str:
    """Return the path of a file in ``.cm``."""
    return os.path.join(directory, FOLDER, *names)


def launch_name(attempt: int) -> str:
    """Return the name of an attempt's launch document."""
    return f"launch.{attempt}.json"


def claim_name(attempt: int) -> str:
    """Return the name of an attempt's claim."""
    return f"claim.{attempt}"


def attempts(directory: str | os.PathLike[str]) -> tuple[set[int], set[int]]:
    """Return the attempts that have a launch document, and those that are claimed."""
    launched: set[int] = set()
    claimed: set[int] = set()
    try:
        names = os.listdir(path_of(directory))
    except FileNotFoundError:
        return launched, claimed
    for name in names:
        kind, _, rest = name.partition(".")
        number, _, suffix = rest.partition(".")
        if number.isdigit() and kind == "launch" and suffix == "json":
            launched.add(int(number))
        elif number.isdigit() and kind == "claim" and not suffix:
            claimed.add(int(number))
    return launched, claimed


def load(path: str) -> dict[str, Any] | None:
    """Return a document, or None where there is none, or none yet (blanks)."""
    try:
        with open(path, "rb") as file:
            document = json.loads(file.read())
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return None
    return document if isinstance(document, dict) else None


def _sync_directory(path: str) -> None:
    fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def _write(path: str, content: bytes, *, new: bool = True, sync: bool = True) -> None:
    flags = os.O_CREAT | os.O_EXCL if new else 0
    fd = os.open(path, os.O_WRONLY | flags, 0o600)
    try:
        rest = memoryview(content)
        while rest:
            rest = rest[os.write(fd, rest) :]
        if sync:
            os.fsync(fd)
    finally:
        os.close(fd)


def save(path: str, document: Mapping[str, Any]) -> None:
    """Write a document so that a reader sees all of it or nothing, also after a power cut."""
    draft = f"{path}.{os.urandom(4).hex()}.tmp"
    try:
        _write(draft, json.dumps(document).encode("ascii"))
        os.rename(draft, path)
    except OSError:
        if os.path.exists(draft):
            os.unlink(draft)
        raise
    _sync_directory(os.path.dirname(path))


def claim(directory: str | os.PathLike[str], attempt: int, owner: Mapping[str, Any]) -> bool:
    """Take an attempt, together with the space of its receipts; False where it is taken already."""
    target = path_of(directory, claim_name(attempt))
    if os.path.exists(target):
        return False
    draft = path_of(directory, f"draft.{attempt}.{os.urandom(4).hex()}")
    os.mkdir(draft, 0o700)
    try:
        for name in ("start.json", "end.json"):
            _write(os.path.join(draft, name), b" " * RESERVED_BYTES, sync=False)
        _write(os.path.join(draft, "owner.json"), json.dumps(owner).encode("ascii"))
        os.rename(draft, target)
    except OSError as error:
        for name in os.listdir(draft):
            os.unlink(os.path.join(draft, name))
        os.rmdir(draft)
        if error.errno in (errno.ENOTEMPTY, errno.EEXIST):
            return False
        raise
    _sync_directory(path_of(directory))
    return True


def publish(
    directory: str | os.PathLike[str], attempt: int, name: str, document: Mapping[str, Any]
) -> None:
    """Write a receipt into the space its claim holds, then put it into place."""
    reserved = path_of(directory, claim_name(attempt), name)
    # Blanks behind a JSON document are allowed; shortening the file would give its space away.
    _write(reserved, json.dumps(document).encode("ascii").ljust(RESERVED_BYTES), new=False)
    os.rename(reserved, path_of(directory, name))
    _sync_directory(path_of(directory))


def owner_of(directory: str | os.PathLike[str], attempt: int) -> dict[str, Any] | None:
    """Return who has claimed an attempt."""
    return load(path_of(directory, claim_name(attempt), "owner.json"))


def receipt(
    directory: str | os.PathLike[str], attempt: int, name: str, *, unpublished: bool = False
) -> dict[str, Any] | None:
    """Return ``start.json`` or ``end.json`` of an attempt.

    Parameters
    ----------
    unpublished
        Also take a receipt that its dead writer had completed, but not put into place.
    """
    document = load(path_of(directory, name))
    if document is not None and document.get("attempt") == attempt:
        return document
    return load(path_of(directory, claim_name(attempt), name)) if unpublished else None
