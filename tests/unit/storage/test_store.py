"""The store and its migrations on real files."""

from __future__ import annotations

import sqlite3
import threading
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory

from crystalmath.domain.states import STATES
from crystalmath.errors import DatabaseError, IllegalTransition, NotFound
from crystalmath.services.ports_store import Documents, Move, NewJob
from crystalmath.storage import migrate as migration
from crystalmath.storage.engine import (
    database_errors,
    ensure_private,
    file_system_of,
    journal_mode_for,
    open_engine,
)
from crystalmath.storage.reserve import RESERVED_PAGES, hold_space
from crystalmath.storage.store import JobStore, open_store
from crystalmath.storage.tables import metadata


def quiet(_: str) -> None:
    """Progress that nobody reads."""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "crystalmath.db"


@pytest.fixture
def store(path: Path) -> JobStore:
    made = open_store(path)
    migration.migrate(made.engine, path, quiet)
    return made


def new(i: int, **row: object) -> NewJob:
    values = {"uuid": f"{i:032x}", "name": "a", "code": "c", "state": "CREATED", "runner": "local"}
    return NewJob(
        row={**values, "created_at": 1.0, **row},
        documents=Documents({}, {}, {}),
        after=(),
        why="submitted",
    )


def test_head_is_the_newest_migration() -> None:
    config = Config()
    config.set_main_option("script_location", str(Path(migration.__file__).parent / "migrations"))
    assert ScriptDirectory.from_config(config).get_current_head() == migration.HEAD


def test_migrations_give_the_tables_of_the_program(store: JobStore) -> None:
    with store.engine.connect() as connection:
        assert compare_metadata(MigrationContext.configure(connection), metadata) == []
    store.close()


def test_every_state_is_allowed_and_nothing_else(store: JobStore) -> None:
    for i, state in enumerate(STATES):
        store.insert(new(i, state=state))
    with pytest.raises(DatabaseError):
        store.insert(new(99, state="running"))
    store.close()


def test_a_newer_schema_is_refused_and_untouched(path: Path, store: JobStore) -> None:
    store.close()
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    before = path.read_bytes()
    again = open_store(path)
    with pytest.raises(DatabaseError, match="newer version"):
        migration.migrate(again.engine, path, quiet)
    again.engine.dispose()
    assert path.read_bytes() == before


@pytest.mark.parametrize("content", [b"this is no database" * 100, b"\x00" * 4096])
def test_a_damaged_file_is_refused(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    with pytest.raises(DatabaseError, match=r"damaged|is not a database"):
        migration.current_revision(path)


def test_a_database_of_another_program_is_refused(path: Path) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE something (x)")
    with pytest.raises(DatabaseError, match="another program"):
        migration.current_revision(path)


def test_a_backup_is_whole(path: Path, store: JobStore, tmp_path: Path) -> None:
    store.insert(new(1))
    copy = tmp_path / "copy.db"
    migration.backup(path, copy)
    store.close()
    with sqlite3.connect(copy) as connection:
        assert connection.execute("SELECT count(*) FROM jobs").fetchone() == (1,)
    assert copy.stat().st_mode & 0o777 == 0o600


def test_the_database_is_private(path: Path, store: JobStore) -> None:
    store.close()
    assert path.stat().st_mode & 0o777 == 0o600


def test_move_compares_before_it_sets(store: JobStore) -> None:
    job, _ = store.insert(new(1))
    rev = store.rev()
    assert store.move(Move(job, ("CREATED",), "STAGED", 2.0, "x"))
    assert not store.move(Move(job, ("CREATED",), "STAGED", 2.0, "x"))
    assert store.rev() == rev + 1
    with pytest.raises(IllegalTransition):
        store.move(Move(job, ("STAGED",), "COMPLETED", 3.0, "x"))
    assert [e["to_state"] for e in store.events(job)] == ["CREATED", "STAGED"]
    store.close()


def test_one_of_many_movers_wins(store: JobStore) -> None:
    job, _ = store.insert(new(1))
    won: list[bool] = []

    def mover() -> None:
        won.append(store.move(Move(job, ("CREATED",), "STAGED", 2.0, "x")))

    threads = [threading.Thread(target=mover) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(won) == [False] * 7 + [True]
    store.close()


def test_a_failed_insert_leaves_nothing(store: JobStore) -> None:
    store.insert(new(1))
    rev = store.rev()
    with pytest.raises(DatabaseError):
        store.insert(new(1))
    assert (store.counts(), store.rev()) == ({"CREATED": 1}, rev)
    with pytest.raises(NotFound):
        store.row(2)
    store.close()


@pytest.mark.parametrize(
    ("kind", "mode"),
    [("ext4", "WAL"), ("nfs4", "DELETE"), ("fuse.sshfs", "DELETE"), ("lustre", "DELETE")],
)
def test_network_file_systems_get_no_wal(tmp_path: Path, kind: str, mode: str) -> None:
    mounts = f"a / ext4 rw 0 0\nserver:/x {tmp_path} {kind} rw 0 0\nb {tmp_path}2 nfs rw 0 0\n"
    assert file_system_of(tmp_path, mounts) == kind
    assert journal_mode_for(tmp_path, mounts) == mode


@pytest.mark.parametrize(
    ("cause", "sentence", "hint"),
    [
        ("attempt to write a readonly database", "opened for writing", "mounted read-only"),
        ("unable to open database file", "opened for writing", "permissions"),
        ("database or disk is full", "quota is full", "free some space"),
        ("database is locked", "locked by another", "end whatever else"),
        ("database disk image is malformed", "damaged", "backups"),
    ],
)
def test_what_the_database_says_becomes_advice(cause: str, sentence: str, hint: str) -> None:
    with pytest.raises(DatabaseError, match=sentence) as caught, database_errors():
        raise sqlite3.OperationalError(cause)
    assert caught.value.hint is not None
    assert hint in caught.value.hint


def test_space_is_held_for_small_writes(store: JobStore, path: Path) -> None:
    pages = []
    for _ in range(2):
        store.hold_space()
        with store.engine.connect() as connection:
            free = connection.exec_driver_sql("PRAGMA freelist_count").scalar_one()
            size = connection.exec_driver_sql("PRAGMA page_size").scalar_one()
            names = connection.exec_driver_sql("SELECT name FROM sqlite_master").scalars().all()
        assert free >= RESERVED_PAGES
        assert "blanks" not in names
        assert path.with_name("crystalmath.db-wal").stat().st_size >= RESERVED_PAGES * size
        pages.append(path.stat().st_size // size)
    assert pages[0] >= RESERVED_PAGES
    assert pages[1] == pages[0], "a second time nothing grows"
    store.close()


def test_where_no_log_is_kept_no_space_is_held(path: Path) -> None:
    ensure_private(path)
    engine = open_engine(path, journal_mode="DELETE")
    hold_space(engine)
    engine.dispose()
    assert path.stat().st_size <= 4096
