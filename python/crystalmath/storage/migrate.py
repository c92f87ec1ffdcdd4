"""Brings the database to the newest schema, with a backup before each migration.

Alembic is imported only when there is something to migrate: it costs start-up time.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from sqlalchemy import Engine

from crystalmath.errors import DatabaseError

HEAD = "0010"
"""The newest revision in ``migrations/versions``; a test holds it equal to Alembic's own answer."""


def current_revision(path: Path) -> str | None:
    """Revision of the database at ``path``; None when it is empty.

    Raises
    ------
    DatabaseError
        The file is no database, or holds tables of something else.
    """
    try:
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
            tables = {
                row[0]
                for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
            }
            if "alembic_version" in tables:
                row = connection.execute("SELECT version_num FROM alembic_version").fetchone()
                return str(row[0]) if row else None
    except sqlite3.Error as error:
        raise DatabaseError(
            "the database file is damaged or is not a database",
            hint=f"move {path.name} away, or put back one of the backups beside it",
        ) from error
    if tables - {"sqlite_sequence"}:
        raise DatabaseError(
            "the database file belongs to another program",
            hint="give another data directory",
        )
    return None


def migrate(engine: Engine, path: Path, progress: Callable[[str], None]) -> None:
    """Upgrade to :data:`HEAD`.

    Raises
    ------
    DatabaseError
        A newer version of the program has used this database, or a migration failed; the backup
        is then named and the database is as it was.
    """
    before = current_revision(path)
    if before == HEAD:
        return
    from alembic import command
    from alembic.config import Config
    from alembic.script import ScriptDirectory

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    known = {script.revision for script in ScriptDirectory.from_config(config).walk_revisions()}
    if before is not None and before not in known:
        raise DatabaseError(
            f"the database has schema {before} of a newer version; this one knows {HEAD}",
            hint="use the newer program, or another data directory",
        )
    if before is not None:
        progress(f"database: backup before the change from schema {before} to {HEAD}")
        backup(path, path.with_name(f"{path.name}.before-{HEAD}"))
    progress("database: preparing")
    with engine.connect().execution_options(transaction="IMMEDIATE") as connection:
        config.attributes["connection"] = connection
        with connection.begin():
            command.upgrade(config, HEAD)


def backup(source: Path, target: Path) -> None:
    """Copy a database that may be in use, completely or not at all."""
    part = target.with_name(target.name + ".part")
    part.unlink(missing_ok=True)
    with closing(sqlite3.connect(source)) as old, closing(sqlite3.connect(part)) as new:
        old.backup(new)
    part.chmod(0o600)
    part.replace(target)
