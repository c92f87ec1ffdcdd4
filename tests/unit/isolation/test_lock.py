"""Locks, the id that follows from them, and the project that uv is asked with."""

import tomllib
from dataclasses import replace
from pathlib import Path

import pytest

from crystalmath.errors import EnvironmentUnbuildable
from crystalmath.isolation.declaration import Declared, load_declaration
from crystalmath.isolation.interpreters import Interpreter
from crystalmath.isolation.lock import Lock, declared_digest, environment_id, load_lock, lock_path
from crystalmath.isolation.places import Places, user_declarations
from crystalmath.isolation.uv_project import lowest_python, write_asking, write_locations

LOCK = Lock(
    "# lock of 0123\n"
    "numpy==1.26.4 \\\n    --hash=sha256:00\n"
    "    # via toy\n"
    "nvidia-cublas==12.1 ; sys_platform == 'nowhere' \\\n    --hash=sha256:11\n"
    "ase==3.29.0 ; python_full_version >= '3.11' \\\n    --hash=sha256:22\n"
    "Old_Name==1 ; python_full_version < '3.11' \\\n    --hash=sha256:33\n"
    "by.address @ https://example.org/x.whl \\\n    --hash=sha256:44\n"
)
PYTHON = Interpreter("/usr/bin/python3", "3.11.7", "linux-x86_64 cpython-311")
TABLES = """\
# [tool.uv]
# find-links = ["wheels", "https://example.org/links"]
# exclude-newer = 2026-01-01T00:00:00Z
# [[tool.uv.index]]
# name = "torch"
# url = "https://example.org/torch"
# explicit = true
# [tool.uv.sources]
# torch = { index = "torch" }
# mine = { path = "mine.whl" }
"""


def declared(tmp_path: Path, python: str | None = None, tables: str = "") -> Declared:
    path = tmp_path / "one.py"
    requires = "" if python is None else f'# requires-python = "{python}"\n'
    text = f'# /// script\n{requires}# dependencies = ["torch==2.13.0"]\n{tables}# ///\n'
    path.write_text(text + "def setup(model): ...\n")
    found = load_declaration(path, "user")
    assert found.engine.problem is None
    return found


def test_a_lock_knows_what_belongs_here() -> None:
    assert LOCK.wanted("3.11.7") == {"numpy": "1.26.4", "ase": "3.29.0", "by-address": "*"}
    assert "old-name" in LOCK.wanted("3.10.1")


def test_the_id_follows_lock_python_platform_and_interface() -> None:
    first = environment_id(LOCK, PYTHON, 1)
    assert len(first) == 16
    assert environment_id(Lock(LOCK.text.replace("# lock of 0123", "# other")), PYTHON, 1) == first
    others = {
        environment_id(Lock(LOCK.text.replace("1.26.4", "1.26.3")), PYTHON, 1),
        environment_id(Lock(LOCK.text.replace(":00", ":01")), PYTHON, 1),
        environment_id(LOCK, replace(PYTHON, version="3.11.8"), 1),
        environment_id(LOCK, replace(PYTHON, platform="linux-aarch64"), 1),
        environment_id(LOCK, PYTHON, 2),
    }
    assert len(others | {first}) == 6


def test_a_lock_belongs_to_one_declaration(tmp_path: Path) -> None:
    places = Places(tmp_path / "data", tmp_path)
    one = declared(tmp_path)
    assert load_lock(one, places) is None
    path = lock_path(one, places)
    assert path.is_relative_to(places.data_dir)
    path.parent.mkdir(parents=True)
    path.write_text(f"# lock of {declared_digest(one)}\n")
    assert load_lock(one, places) is not None
    path.write_text(f"# lock of {declared_digest(one)[:8]}\n")
    assert load_lock(one, places) is None
    path.write_bytes(b"\xff\xff")
    assert load_lock(one, places) is None


@pytest.mark.parametrize(
    ("python", "lowest"),
    [
        (None, "3.11"),
        (">=3.9", "3.11"),
        ("==3.11.*", "3.11"),
        (">=3.12.2,<3.14", "3.12.2"),
        ("==3.11.7", "3.11.7"),
        ("==3.10.*", "3.10"),
        ("~=3.12", "3.12"),
    ],
)
def test_a_lock_is_made_for_the_oldest_python_that_is_asked_for(
    python: str | None, lowest: str
) -> None:
    assert lowest_python(python) == lowest


def test_no_python_at_all(tmp_path: Path) -> None:
    with pytest.raises(EnvironmentUnbuildable, match="no Python is <3"):
        lowest_python("<3")


def test_uv_is_asked_for_what_is_declared(tmp_path: Path) -> None:
    folder = tmp_path / "project"
    folder.mkdir()
    path = write_asking(declared(tmp_path, "==3.11.*", TABLES), folder)
    asked = tomllib.loads(path.read_text())
    assert asked["project"]["dependencies"] == ["torch==2.13.0"]
    uv = asked["tool"]["uv"]
    assert uv["find-links"] == [str(tmp_path / "wheels"), "https://example.org/links"]
    assert uv["sources"]["mine"] == {"path": str(tmp_path / "mine.whl")}
    assert uv["sources"]["torch"] == {"index": "torch"}
    assert uv["index"][0]["explicit"]
    assert uv["environments"] == [
        f"python_full_version == '3.11.*' and python_full_version >= '3.11' and "
        f"sys_platform == '{platform}'"
        for platform in ("linux", "darwin")
    ]


def test_uv_is_told_where_files_are_and_nothing_else(tmp_path: Path) -> None:
    folder = tmp_path / "project"
    folder.mkdir()
    path = write_locations(declared(tmp_path, None, TABLES), folder)
    told = tomllib.loads(path.read_text())
    assert told["project"]["dependencies"] == []
    assert sorted(told["tool"]["uv"]) == ["find-links", "index", "index-strategy"]
    assert told["tool"]["uv"]["index"] == [{"name": "torch", "url": "https://example.org/torch"}]


def test_where_the_users_declarations_are(monkeypatch: pytest.MonkeyPatch) -> None:
    assert user_declarations({"XDG_CONFIG_HOME": "/c"}) == Path("/c/crystalmath/engines")
    monkeypatch.setenv("HOME", "/home/me")
    default = Path("/home/me/.config/crystalmath/engines")
    assert user_declarations({}) == default
    assert user_declarations({"XDG_CONFIG_HOME": "relative"}) == default
