"""Advisory file locks: who holds the lock is the daemon, whatever any PID file says.

``flock`` is released by the kernel when its holder dies, so no lock is ever stale. Lock files are
never unlinked: two processes could then each hold "the" lock on two files of the same name.
Called by ``claim`` and ``cli``.
"""

from __future__ import annotations

import errno
import fcntl
import os
import time
from typing import Final

from crystalmath.errors import ConfigError

_POLL_S: Final = 0.02
_NO_LOCKS: Final = (errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS)


class FileLock:
    """An exclusive lock on a file of its own, held until :meth:`release` or the process ends.

    Attributes
    ----------
    degraded
        The file system offers no locks: the lock counts as taken, but protects nothing.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self.degraded = False
        self._fd: int | None = None

    @property
    def held(self) -> bool:
        """Whether this object holds the lock."""
        return self._fd is not None

    def try_acquire(self, *, create: bool = True) -> bool:
        """Take the lock if it is free.

        Parameters
        ----------
        create
            Make the file when it is missing; otherwise a missing file raises ``FileNotFoundError``.

        Raises
        ------
        ConfigError
            The file cannot be opened, e.g. because it is a symbolic link.
        """
        if self._fd is not None:
            return True
        flags = os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW | (os.O_CREAT if create else 0)
        try:
            fd = os.open(self.path, flags, 0o600)
        except FileNotFoundError:
            raise
        except OSError as error:
            raise ConfigError(
                f"Cannot open the lock file {self.path}: {error.strerror}.",
                hint=_hint(error.errno, os.path.dirname(self.path)),  # noqa: PTH120 - text
            ) from None
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno not in _NO_LOCKS:
                os.close(fd)
                if error.errno in (errno.EWOULDBLOCK, errno.EACCES):
                    return False
                raise
            self.degraded = True
        self._fd = fd
        return True

    def acquire(self, deadline: float) -> bool:
        """Wait for the lock until ``deadline`` on the monotonic clock."""
        while not self.try_acquire():
            if time.monotonic() >= deadline:
                return False
            time.sleep(_POLL_S)
        return True

    def release(self) -> None:
        """Give the lock up; the file stays."""
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None


def _hint(number: int | None, directory: str) -> str:
    if number == errno.EROFS:
        return (
            f"{directory} is on a file system that is mounted read-only: give another data "
            "directory or socket with --data-dir or --socket."
        )
    if number in (errno.EACCES, errno.EPERM):
        return f"Check the owner and the permissions of {directory}."
    if number in (errno.ENOSPC, errno.EDQUOT):
        return "Free some space on that disk, or in your quota."
    return "Remove whatever is in its place, if it is not a daemon's lock."


def is_locked(path: str) -> bool:
    """Whether somebody holds the lock; a file that does not exist is not locked."""
    lock = FileLock(path)
    try:
        free = lock.try_acquire(create=False)
    except FileNotFoundError:
        return False
    lock.release()
    return not free
