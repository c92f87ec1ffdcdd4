"""``server.json`` is trusted only if it is ours, private, and of this host and boot."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path
from typing import Any

import pytest

from crystalmath.server.instance import Process, boot_id, host_name, process_start, this_process
from crystalmath.server.pointer import Pointer, read_pointer, remove_pointer, write_pointer


def pointer(**changes: Any) -> Pointer:
    me = this_process()
    values: dict[str, Any] = {
        "socket": "/a.sock", "pid": me.pid, "pid_start": me.pid_start, "boot_id": me.boot_id,
        "host": me.host, "version": "1", "instance": "i", "started": "manual",
    }  # fmt: skip
    return Pointer(**{**values, **changes})


def test_round_trip(tmp_path: Path) -> None:
    write_pointer(tmp_path, pointer())
    path = tmp_path / "server.json"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert read_pointer(tmp_path) == pointer()
    assert [p.name for p in tmp_path.iterdir()] == ["server.json"]
    found = read_pointer(tmp_path)
    assert found is not None
    assert found.process.is_alive()


@pytest.mark.parametrize("changes", [{"boot_id": "other"}, {"host": "elsewhere"}], ids=repr)
def test_other_boot_or_host(tmp_path: Path, changes: dict[str, str]) -> None:
    write_pointer(tmp_path, pointer(**changes))
    assert read_pointer(tmp_path) is None


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '{"socket": 1}', '{"more": 1}'])
def test_damaged(tmp_path: Path, text: str) -> None:
    path = tmp_path / "server.json"
    path.write_text(text, encoding="ascii")
    path.chmod(0o600)
    assert read_pointer(tmp_path) is None


def test_readable_by_others_or_a_link(tmp_path: Path) -> None:
    write_pointer(tmp_path, pointer())
    path = tmp_path / "server.json"
    path.chmod(0o644)
    assert read_pointer(tmp_path) is None
    path.chmod(0o600)
    path.rename(tmp_path / "real")
    path.symlink_to(tmp_path / "real")
    assert read_pointer(tmp_path) is None


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a file away")
def test_foreign(tmp_path: Path) -> None:
    write_pointer(tmp_path, pointer())
    os.chown(tmp_path / "server.json", 12345, -1)
    assert read_pointer(tmp_path) is None


def test_removed_only_by_its_own_run(tmp_path: Path) -> None:
    write_pointer(tmp_path, pointer())
    remove_pointer(tmp_path, "another")
    assert read_pointer(tmp_path) is not None
    remove_pointer(tmp_path, "i")
    assert json.dumps([p.name for p in tmp_path.iterdir()]) == "[]"


def test_process_identity() -> None:
    me = this_process()
    assert me.is_alive()
    assert not Process(me.pid, me.pid_start + 1, boot_id(), host_name()).is_alive()
    assert not Process(me.pid, me.pid_start, "other boot", host_name()).is_alive()
    assert process_start(2**22 + 1) is None
