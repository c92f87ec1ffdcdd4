"""Opens the SQLite database: pragmas, file modes, network file systems. No queries of its own."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

from sqlalchemy import (
    Connection,
    Engine,
    PoolProxiedConnection,
    QueuePool,
    create_engine,
    event,
)
from sqlalchemy.exc import DBAPIError

from crystalmath.errors import DatabaseError
from crystalmath.storage.reserve import CHECKPOINT_PAGES

NETWORK_FILE_SYSTEMS = ("nfs", "gpfs", "lustre", "cifs", "smb", "beegfs", "fuse")


def file_system_of(directory: Path, mounts: str | None = None) -> str:
    """Type of the file system that holds ``directory``; empty where the system does not tell.

    Parameters
    ----------
    mounts
        Text in the form of ``/proc/mounts``; read from there when left out.
    """
    if mounts is None:
        try:
            mounts = Path("/proc/mounts").read_text(encoding="utf-8", errors="replace")
        except OSError:
            return ""
    wanted = str(directory.resolve())
    best, kind = "", ""
    for line in mounts.splitlines():
        fields = line.split()
        if len(fields) < 3:
            continue
        mount = fields[1].replace("\\040", " ")
        inside = wanted == mount or wanted.startswith(mount.rstrip("/") + "/")
        if inside and len(mount) >= len(best):
            best, kind = mount, fields[2]
    return kind


def journal_mode_for(directory: Path, mounts: str | None = None) -> str:
    """``WAL``, or ``DELETE`` on network file systems, where WAL fails or corrupts."""
    kind = file_system_of(directory, mounts)
    return "DELETE" if kind.startswith(NETWORK_FILE_SYSTEMS) else "WAL"


def open_engine(path: Path, *, journal_mode: str, busy_timeout_s: float = 5.0) -> Engine:
    """Create the engine; every connection gets the same pragmas.

    ``synchronous=FULL`` because an accepted job must survive a power cut, and the commits of this
    program are few and small.
    """

    def connect() -> sqlite3.Connection:
        # rw, not rwc: a file that somebody deletes must not come back empty.
        address = f"file:{quote(str(path))}?mode=rw"
        return sqlite3.connect(address, uri=True, check_same_thread=False, timeout=busy_timeout_s)

    engine = create_engine(
        "sqlite://", creator=connect, poolclass=QueuePool, pool_size=16, max_overflow=16
    )

    @event.listens_for(engine, "connect")
    def _configure(connection: Any, _record: object) -> None:
        # The driver's own transaction control starts transactions late and ends them early;
        # BEGIN is sent explicitly below.
        connection.isolation_level = None
        for pragma in (
            f"journal_mode={journal_mode}",
            "synchronous=FULL",
            "foreign_keys=ON",
            f"busy_timeout={int(busy_timeout_s * 1000)}",
            f"wal_autocheckpoint={CHECKPOINT_PAGES}",
        ):
            connection.execute(f"PRAGMA {pragma}")

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        mode = connection.get_execution_options().get("transaction", "DEFERRED")
        connection.exec_driver_sql(f"BEGIN {mode}")

    return engine


def driver_of(connection: Connection | PoolProxiedConnection) -> sqlite3.Connection:
    """The driver's own connection, for what is asked so often that building it would cost most."""
    raw = connection.connection if isinstance(connection, Connection) else connection
    driver = raw.driver_connection
    assert isinstance(driver, sqlite3.Connection)
    return driver


def ensure_private(path: Path) -> None:
    """Create the database file with mode 0600 before SQLite would create it with the umask."""
    try:
        os.close(os.open(path, os.O_CREAT | os.O_CLOEXEC | os.O_RDWR, 0o600))
    except OSError as error:
        raise DatabaseError(
            f"the database cannot be opened: {error.strerror}",
            hint="check the data directory's permissions and free space",
        ) from error


@contextmanager
def database_errors() -> Iterator[None]:
    """Turn driver errors into ``DatabaseError`` with a sentence a user can act on."""
    try:
        yield
    except (DBAPIError, sqlite3.Error) as error:
        cause = getattr(error, "orig", error)
        raise DatabaseError(_sentence(str(cause)), hint=_hint(str(cause))) from error


def _sentence(cause: str) -> str:
    if "disk is full" in cause or "disk I/O error" in cause:
        return "the database cannot be written: the disk or the quota is full"
    if "locked" in cause:
        return "the database is locked by another program"
    if "malformed" in cause or "not a database" in cause:
        return "the database file is damaged or is not a database"
    if "readonly" in cause or "unable to open" in cause:
        return "the database cannot be opened for writing"
    return "the database refused an operation"


def _hint(cause: str) -> str:
    if "malformed" in cause or "not a database" in cause:
        return "move the file away, or put back one of the backups beside it"
    if "disk" in cause:
        return "free some space, then try again"
    if "locked" in cause:
        return "end whatever else has the database open, then try again"
    if "readonly" in cause or "unable to open" in cause:
        return (
            "check the owner and the permissions of the data directory and its files, and whether "
            "their file system is mounted read-only"
        )
    return "the log has the details"
