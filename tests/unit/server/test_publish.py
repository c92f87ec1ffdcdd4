"""The socket in the file system: only a stale one of ours is ever replaced."""

from __future__ import annotations

import os
import socket
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from crystalmath.errors import Conflict
from crystalmath.server.publish import Publication


@pytest.fixture
def publication(tmp_path: Path) -> Iterator[Publication]:
    made = Publication(str(tmp_path / "a.sock"))
    yield made
    made.withdraw()


def answers(path: str) -> bool:
    with socket.socket(socket.AF_UNIX) as client:
        return client.connect_ex(path) == 0


def test_publish_and_withdraw(publication: Publication, tmp_path: Path) -> None:
    old = os.umask(0)
    try:
        publication.publish()
    finally:
        os.umask(old)
    assert stat.S_IMODE(os.lstat(publication.path).st_mode) == 0o600
    assert answers(publication.path)
    assert publication.is_ours()
    publication.withdraw()
    assert list(tmp_path.iterdir()) == []


def test_stale_socket_is_replaced(publication: Publication) -> None:
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(publication.path)
    assert not answers(publication.path)
    publication.publish()
    assert answers(publication.path)


def test_live_socket_is_left(publication: Publication) -> None:
    with socket.socket(socket.AF_UNIX) as live:
        live.bind(publication.path)
        live.listen(1)
        before = os.lstat(publication.path).st_ino
        with pytest.raises(Conflict, match="listens"):
            publication.publish()
        assert os.lstat(publication.path).st_ino == before


def test_live_socket_with_a_full_backlog_is_left(publication: Publication) -> None:
    with socket.socket(socket.AF_UNIX) as live:
        live.bind(publication.path)
        live.listen(0)
        clients = []
        for _ in range(8):
            client = socket.socket(socket.AF_UNIX)
            client.setblocking(False)
            client.connect_ex(publication.path)
            clients.append(client)
        with pytest.raises(Conflict, match="listens"):
            publication.publish()
        for client in clients:
            client.close()


@pytest.mark.parametrize("kind", ["file", "directory", "link", "dangling", "fifo"])
def test_anything_else_is_left(publication: Publication, tmp_path: Path, kind: str) -> None:
    path = Path(publication.path)
    if kind == "file":
        path.write_text("mine", encoding="ascii")
    elif kind == "directory":
        path.mkdir()
    elif kind == "fifo":
        os.mkfifo(path)
    else:
        target = tmp_path / "target"
        if kind == "link":
            target.touch()
        path.symlink_to(target)
    before = os.lstat(path)
    with pytest.raises(Conflict, match="not a socket"):
        publication.publish()
    after = os.lstat(path)
    assert (after.st_ino, after.st_mtime) == (before.st_ino, before.st_mtime)
    assert not [p for p in tmp_path.iterdir() if p.name.startswith(".cm")]


def test_withdraw_leaves_a_successor(publication: Publication) -> None:
    publication.publish()
    other = Publication(publication.path)
    Path(publication.path).unlink()
    other.publish()
    assert not publication.is_ours()
    publication.withdraw()
    assert other.is_ours()
    other.withdraw()


def test_aside_and_back(publication: Publication) -> None:
    publication.publish()
    with socket.socket(socket.AF_UNIX) as early:
        early.connect(publication.path)
        aside = publication.set_aside()
        assert aside is not None
        assert len(Path(aside).name) == 9
        assert publication.is_gone()
        assert publication.listener is not None
        accepted, _ = publication.listener.accept()
        accepted.close()
        publication.put_back(aside)
        assert publication.is_ours()
    Path(publication.path).unlink()
    assert publication.set_aside() is None


def test_temporary_name_is_gone_after_a_failure(
    publication: Publication, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_self: Path, _target: str) -> Path:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "rename", fail)
    with pytest.raises(OSError, match="No space"):
        publication.publish()
    assert list(tmp_path.iterdir()) == []
