"""Finding a program as a shell would, and naming what is wrong with it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from crystalmath.runners.local import program, runner


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    first, second = tmp_path / "first", tmp_path / "second"
    for folder in (first, second):
        folder.mkdir()
    return first, second


def test_the_first_executable_on_the_path_is_taken(folders: tuple[Path, Path]) -> None:
    first, second = folders
    (first / "prog").touch(mode=0o644)
    (second / "prog").touch(mode=0o755)
    env = {"PATH": f":{first}:{second}"}
    assert program.find("prog", env) == str(second / "prog")


def test_the_current_directory_is_not_searched(
    folders: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    (folders[0] / "prog").touch(mode=0o755)
    monkeypatch.chdir(folders[0])
    with pytest.raises(program.NotStarted, match="no such program: prog"):
        program.find("prog", {"PATH": f":{folders[1]}:"})
    assert program.find("./prog", {"PATH": ""}) == "./prog"


def test_a_file_that_may_not_be_executed_is_said_to_be_there(folders: tuple[Path, Path]) -> None:
    (folders[0] / "prog").touch(mode=0o644)
    with pytest.raises(program.NotStarted, match=r"not executable: .*first/prog"):
        program.find("prog", {"PATH": str(folders[0])})
    with pytest.raises(program.NotStarted, match="not executable"):
        program.find(str(folders[0]), {})


def test_a_supervisor_loads_only_a_few_modules_and_none_of_crystalmath() -> None:
    rooms = Path(runner.__file__).parents[1]
    code = (
        f"import sys; sys.path.append({str(rooms)!r}); import local.supervision; "
        "print(*sys.modules)"
    )
    said = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, check=True
    )
    loaded = {name.partition(".")[0] for name in said.stdout.split()}
    assert "local" in loaded
    slow = {"crystalmath", "typing", "pathlib", "subprocess", "socket", "ctypes", "dataclasses"}
    assert loaded & slow == set()
