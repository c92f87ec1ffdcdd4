"""Copies of the worker's files in environments."""

from pathlib import Path

import pytest

from crystalmath.errors import EnvironmentBroken
from crystalmath.isolation.kit import WorkerKit


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "kit"
    (made / "__pycache__").mkdir(parents=True)
    (made / "__pycache__" / "a.pyc").write_bytes(b"x")
    (made / "__main__.py").write_text("1")
    (made / "part.py").write_text("2")
    return made


def test_it_is_copied_once(folder: Path, tmp_path: Path) -> None:
    kit, there = WorkerKit(folder, 1), tmp_path / "env"
    there.mkdir()
    entry = kit.place_in(there)
    assert entry.read_text() == "1"
    assert sorted(p.name for p in entry.parent.iterdir()) == ["__main__.py", "part.py"]
    written = entry.stat().st_mtime_ns
    assert WorkerKit(folder, 1).place_in(there) == entry
    assert entry.stat().st_mtime_ns == written
    assert [p.name for p in there.iterdir()] == [entry.parent.name]


def test_another_content_is_another_copy(folder: Path, tmp_path: Path) -> None:
    there = tmp_path / "env"
    there.mkdir()
    first = WorkerKit(folder, 1).place_in(there)
    (folder / "part.py").write_text("3")
    second = WorkerKit(folder, 1).place_in(there)
    assert first != second
    assert first.is_file()


def test_a_copy_that_lost_files_is_made_anew(folder: Path, tmp_path: Path) -> None:
    there = tmp_path / "env"
    there.mkdir()
    entry = WorkerKit(folder, 1).place_in(there)
    entry.unlink()
    assert WorkerKit(folder, 1).place_in(there).read_text() == "1"


def test_files_that_change_under_a_process_are_not_mixed(folder: Path, tmp_path: Path) -> None:
    kit, there = WorkerKit(folder, 1), tmp_path / "env"
    there.mkdir()
    assert kit.digest
    (folder / "part.py").write_text("3")
    with pytest.raises(EnvironmentBroken, match="updated"):
        kit.place_in(there)
    assert list(there.iterdir()) == []


def test_what_cannot_be_copied_is_said(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(EnvironmentBroken, match="cannot be copied"):
        WorkerKit(folder, 1).place_in(tmp_path / "absent")
