"""File locks: exclusive, never unlinked, and harmless where the file system has none."""

from __future__ import annotations

import errno
import fcntl
import os
import re
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from crystalmath.errors import ConfigError
from crystalmath.server.locks import FileLock, is_locked
from support.daemon import wait_until

HOLDER = """
import sys
from crystalmath.server.locks import FileLock
lock = FileLock(sys.argv[1])
assert lock.try_acquire()
print("held", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "a.lock")


def test_exclusive_between_processes(path: str) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        assert is_locked(path)
        assert not FileLock(path).try_acquire()
        assert not FileLock(path).acquire(time.monotonic() + 0.05)
        holder.kill()
        holder.wait()
        wait_until(lambda: not is_locked(path), "the kernel releases it")
    lock = FileLock(path)
    assert lock.acquire(time.monotonic() + 10)
    assert lock.held


def test_release_keeps_the_file(path: str) -> None:
    lock = FileLock(path)
    assert lock.try_acquire()
    assert lock.try_acquire()  # it is ours already
    lock.release()
    assert Path(path).exists()
    assert not is_locked(path)
    assert stat.S_IMODE(Path(path).stat().st_mode) == 0o600


def test_looking_makes_no_file(path: str) -> None:
    assert not is_locked(path)
    assert not Path(path).exists()


def test_not_inherited(path: str) -> None:
    lock = FileLock(path)
    assert lock.try_acquire()
    command = [sys.executable, "-c", "import sys; sys.stdin.read()"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, close_fds=False):
        lock.release()
        # not at once: the kernel lets the parent go on before it closes what exec closes
        wait_until(lambda: not is_locked(path), "nobody has inherited it")


def test_link_is_refused(path: str, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").touch()
    Path(path).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(ConfigError, match="lock file"):
        FileLock(path).try_acquire()


@pytest.mark.parametrize("number", [errno.ENOLCK, errno.EOPNOTSUPP])
def test_file_system_without_locks(path: str, number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_locks(_fd: int, _operation: int) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(fcntl, "flock", no_locks)
    lock = FileLock(path)
    assert lock.try_acquire()
    assert lock.degraded


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (errno.EROFS, "mounted read-only"),
        (errno.EACCES, "permissions of"),
        (errno.ENOSPC, "Free some space"),
        (errno.ELOOP, "in its place"),
    ],
)
def test_the_hint_fits_what_is_in_the_way(
    path: str, monkeypatch: pytest.MonkeyPatch, number: int, words: str
) -> None:
    def refuse(*_: object) -> int:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(ConfigError, match=re.escape(os.strerror(number))) as caught:
        FileLock(path).try_acquire()
    assert caught.value.hint is not None
    assert words in caught.value.hint
