"""A database file that is deleted or replaced while the daemon has it open."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from crystalmath.errors import DatabaseError
from crystalmath.services.ports_store import Documents, Move, NewJob
from crystalmath.storage.migrate import migrate
from crystalmath.storage.store import JobStore, open_store


def add(store: JobStore, number: int) -> int:
    row = {"uuid": f"{number:032x}", "name": "a", "code": "c", "state": "CREATED"}
    job = NewJob({**row, "runner": "local", "created_at": 1.0}, Documents({}, {}, {}), (), "why")
    return store.insert(job)[0]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    (tmp_path / "odd #%?name").mkdir()
    return tmp_path / "odd #%?name" / "crystalmath.db"


@pytest.fixture
def store(path: Path) -> Iterator[JobStore]:
    made = open_store(path)
    migrate(made.engine, path, lambda _: None)
    add(made, 1)
    yield made
    made.close()


def saved(path: Path) -> list[Path]:
    return list(path.parent.glob("crystalmath.db.saved-*"))


def test_a_deleted_file_is_noticed_and_its_content_saved(store: JobStore, path: Path) -> None:
    for file in path.parent.glob("crystalmath.db*"):
        file.unlink()
    for call in (
        lambda: store.row(1),
        lambda: add(store, 2),
        lambda: store.move(Move(1, ("CREATED",), "STAGED", 2.0)),
        store.counts,
    ):
        with pytest.raises(DatabaseError, match="was deleted or moved while") as caught:
            call()
    (copy,) = saved(path)
    assert caught.value.hint is not None
    assert copy.name in caught.value.hint
    assert copy.stat().st_mode & 0o777 == 0o600
    with closing(sqlite3.connect(copy)) as connection:
        assert connection.execute("SELECT id, state FROM jobs").fetchall() == [(1, "CREATED")]
    assert not path.exists(), "nothing has made an empty one in its place"


def test_a_replaced_file_is_not_written(store: JobStore, path: Path) -> None:
    other = path.with_name("other.db")
    with closing(sqlite3.connect(other)) as connection:
        connection.execute("CREATE TABLE mine (x)")
        connection.commit()
    before = other.read_bytes()
    other.replace(path)
    with pytest.raises(DatabaseError, match="was replaced while"):
        add(store, 2)
    assert len(saved(path)) == 1
    store.close()
    assert path.read_bytes() == before


def test_a_file_that_is_put_back_is_good_again(store: JobStore, path: Path) -> None:
    path.rename(path.with_name("aside"))
    with pytest.raises(DatabaseError):
        store.rev()
    path.with_name("aside").rename(path)
    assert add(store, 2) == 2
    assert store.counts() == {"CREATED": 2}


def test_the_saved_copy_takes_its_place(store: JobStore, path: Path) -> None:
    path.unlink()
    with pytest.raises(DatabaseError):
        store.rev()
    store.close()
    (copy,) = saved(path)
    for name in ("crystalmath.db-wal", "crystalmath.db-shm"):
        path.with_name(name).unlink(missing_ok=True)
    copy.rename(path)
    again = open_store(path)
    migrate(again.engine, path, lambda _: None)
    assert again.counts() == {"CREATED": 1}
    again.close()


def test_without_its_directory_nothing_is_saved(store: JobStore, path: Path) -> None:
    shutil.rmtree(path.parent)
    with pytest.raises(DatabaseError, match="deleted") as caught:
        store.rev()
    assert caught.value.hint is not None
    assert "backups" in caught.value.hint
