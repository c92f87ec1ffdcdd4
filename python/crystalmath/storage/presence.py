"""Whether the database file is still the one that was opened; and a copy of it when it is not.

SQLite does not notice that its file was deleted or replaced: it would go on writing where nobody
will ever look again. So every transaction first asks here. Used by ``store``.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from contextlib import closing
from pathlib import Path
from typing import Final

from sqlalchemy import Engine, PoolProxiedConnection

from crystalmath.errors import DatabaseError
from crystalmath.storage.engine import driver_of

_PATH_ONLY: Final = getattr(os, "O_PATH", None)
"""Closing such a descriptor drops no lock that SQLite holds on the file, as any other would."""


class Presence:
    """The database file, as it was when the daemon opened it."""

    def __init__(self, path: Path, engine: Engine) -> None:
        self._path = path
        self._name = os.fspath(path)  # looked at in every transaction
        self._engine = engine
        self._opened = path.stat()
        # An open descriptor keeps the number of the file from being given to another one.
        self._descriptor = None if _PATH_ONLY is None else os.open(path, _PATH_ONLY | os.O_CLOEXEC)
        self._lock = threading.Lock()
        self._keeper: PoolProxiedConnection | None = None
        self._saved: str | None = None

    def check(self) -> None:
        """Cheap: it looks at the file's identity.

        Raises
        ------
        DatabaseError
            The file was deleted, moved or replaced. What it held is saved beside it, once.
        """
        what = self._lost()
        if what is None:
            self._saved = None
            if self._keeper is None:
                self._keep()
            return
        with self._lock:
            if self._saved is None and self._keeper is not None:
                self._saved = _save(self._keeper, self._path)
        raise DatabaseError(
            f"the database file {self._path.name} was {what} while the daemon ran",
            hint=_advice(self._path.name, self._saved),
        )

    def close(self) -> None:
        """Fold the write-ahead log into the file that was opened, and look no more."""
        with self._lock:
            if self._keeper is not None:
                driver_of(self._keeper).execute("PRAGMA wal_checkpoint(TRUNCATE)")
                self._keeper.close()
                self._keeper = None
            if self._descriptor is not None:
                os.close(self._descriptor)
                self._descriptor = None

    def _keep(self) -> None:
        """Hold a connection, which reaches the content also when the file has lost its name.

        A new one would find another file then, or none.
        """
        with self._lock:
            if self._keeper is None:
                self._keeper = self._engine.raw_connection()

    def _lost(self) -> str | None:
        opened = self._opened if self._descriptor is None else os.fstat(self._descriptor)
        try:
            found = os.stat(self._name)  # noqa: PTH116 - a third of the time of Path.stat
        except OSError:
            return "deleted or moved"
        return None if os.path.samestat(opened, found) else "replaced"


def _save(keeper: PoolProxiedConnection, path: Path) -> str | None:
    """Copy the content; the copy's name, or None where that fails."""
    stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
    target = path.with_name(f"{path.name}.saved-{stamp}")
    part = path.with_name(f"{target.name}.part")
    try:
        os.close(os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o600))
        with closing(sqlite3.connect(part)) as copy:
            driver_of(keeper).backup(copy)
        part.replace(target)
    except (OSError, sqlite3.Error):
        part.unlink(missing_ok=True)
        return None
    return target.name


def _advice(name: str, saved: str | None) -> str:
    if saved is None:
        return (
            f"put {name} back where it was; or `crystalmath-server stop`, and put back one of the "
            "backups beside it; jobs on this machine go on meanwhile"
        )
    return (
        f"all that it held is saved beside it: `crystalmath-server stop`, remove {name}, "
        f"{name}-wal and {name}-shm as far as they are there, rename {saved} to {name}, and go on; "
        "jobs on this machine run on meanwhile"
    )
