"""Locks of the file system: who builds an environment, and who uses it.

A lock belongs to the open file, so it ends with the last process that holds the descriptor,
however that ends. Lock files are never removed.
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from crystalmath.errors import Cancelled
from crystalmath.isolation.places import Places

_POLL_S: Final = 0.2


def build_lock(places: Places, environment_id: str) -> Path:
    """File that is locked while an environment is built or removed."""
    return places.environments / f".lock-{environment_id}"


def use_lock(places: Places, environment_id: str) -> Path:
    """File that is locked, shared, while a process runs in an environment."""
    return places.environments / f".use-{environment_id}"


@contextmanager
def exclusive(
    path: Path, on_wait: Callable[[], None], cancelled: Callable[[], bool]
) -> Iterator[int]:
    """Hold a lock, waiting for it as long as need be; gives its descriptor."""
    fd = _open(path)
    try:
        while not _lock(fd, fcntl.LOCK_EX):
            on_wait()
            if cancelled():
                raise Cancelled("the installation was stopped")
            time.sleep(_POLL_S)
        yield fd
    finally:
        os.close(fd)


@contextmanager
def if_free(path: Path) -> Iterator[bool]:
    """Hold a lock if nobody else does; tells whether it is held."""
    fd = _open(path)
    try:
        yield _lock(fd, fcntl.LOCK_EX)
    finally:
        os.close(fd)


def shared(path: Path) -> int | None:
    """Return the descriptor of a shared lock, or None when somebody holds it for himself."""
    fd = _open(path)
    if _lock(fd, fcntl.LOCK_SH):
        return fd
    os.close(fd)
    return None


def _open(path: Path) -> int:
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)


def _lock(fd: int, how: int) -> bool:
    try:
        fcntl.flock(fd, how | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
