"""Judging what an environment tells of itself, and what is missing on its disk."""

from pathlib import Path

import pytest

from crystalmath.isolation.check import judge
from crystalmath.isolation.inventory import damage, landmarks
from crystalmath.isolation.sizes import sizes_of


def facts(root: Path, **more: object) -> dict[str, object]:
    return {
        "prefix": str(root),
        "isolated": 1,
        "path": [str(root / "lib/python3.11/site-packages"), "/usr/lib/python3.11",
                 "/usr/lib/python3.11/lib-dynload", "/usr/lib/python311.zip"],
        "stdlib": ["/usr/lib/python3.11"],
        "files": {"numpy": str(root / "lib/numpy/__init__.py"), "built_in": None},
        "failures": {},
        "mapped": [str(root / "lib/python3.11/site-packages/n.so"), "/lib/libc.so.6"],
        "distributions": {"NumPy": {"version": "1.26.4", "path": str(root / "lib")}},
        **more,
    }  # fmt: skip


def test_an_environment_that_is_clean(tmp_path: Path) -> None:
    assert judge(facts(tmp_path), str(tmp_path), {"numpy": "1.26.4"}) == ()
    assert judge(facts(tmp_path), str(tmp_path), {"numpy": "*"}) == ()
    local = {"numpy": {"version": "1.26.4+cpu", "path": str(tmp_path / "lib")}}
    assert judge(facts(tmp_path, distributions=local), str(tmp_path), {"numpy": "1.26.4"}) == ()
    padded = {"numpy": {"version": "1.26.4.0", "path": str(tmp_path / "lib")}}
    assert judge(facts(tmp_path, distributions=padded), str(tmp_path), {"numpy": "1.26.4"}) == ()


@pytest.mark.parametrize(
    ("leak", "says"),
    [
        ({"prefix": "/usr"}, "sys.prefix is /usr"),
        ({"isolated": 0}, "isolated"),
        ({"path": ["/usr/lib/python3/dist-packages"]}, "sys.path holds"),
        ({"path": ["/usr/lib/python3.11/site-packages"]}, "sys.path holds"),
        ({"path": ["/home/me"]}, "sys.path holds /home/me"),
        ({"path": ["/home/me/python311.zip"]}, "sys.path holds"),
        ({"path": [""]}, "sys.path holds"),
        ({"files": {"numpy": "/usr/lib/python3/dist-packages/numpy/__init__.py"}}, "comes from"),
        ({"failures": {"torch": "Traceback\nImportError: no"}}, "torch cannot be imported: Import"),
        ({"mapped": ["/usr/lib/python3/dist-packages/numpy/core.so"]}, "another environment"),
        ({"distributions": {}}, "numpy 1.26.4 is not installed"),
        ({"distributions": {"numpy": {"version": "2.0", "path": "/x"}}}, "numpy is 2.0, the lock"),
        ({"distributions": {"numpy": {"version": "1.26.4", "path": "/usr/lib"}}}, "lies in /usr"),
    ],
)
def test_every_leak_is_named(tmp_path: Path, leak: dict[str, object], says: str) -> None:
    problems = judge(facts(tmp_path, **leak), str(tmp_path), {"numpy": "1.26.4"})
    assert any(says in one for one in problems), problems


def test_what_is_not_locked_is_named(tmp_path: Path) -> None:
    assert judge(facts(tmp_path), str(tmp_path), {}) == (
        "numpy 1.26.4 is installed, but not locked",
    )


@pytest.fixture
def site(tmp_path: Path) -> Path:
    for name in ("toya", "toyb"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("12345")
        info = tmp_path / f"{name}-1.0.dist-info"
        info.mkdir()
        (info / "RECORD").write_text(
            f"{name}/__init__.py,sha256=x,5\n{name}/__pycache__/a.pyc,,\n{info.name}/RECORD,,\n"
        )
    return tmp_path


def test_nothing_is_missing(site: Path) -> None:
    assert damage(site) == []
    assert landmarks(site) == [
        "toya-1.0.dist-info/RECORD",
        "toyb-1.0.dist-info/RECORD",
        "toya/__init__.py",
        "toyb/__init__.py",
    ]


def test_what_is_missing_or_cut_is_named(site: Path) -> None:
    (site / "toya" / "__init__.py").unlink()
    (site / "toyb" / "__init__.py").write_text("1234")
    assert damage(site) == [
        "a file of toya-1.0 is missing: toya/__init__.py",
        "a file of toyb-1.0 has changed: toyb/__init__.py",
    ]


def test_sizes_count_shared_files_apart(tmp_path: Path) -> None:
    import os

    inside, outside = tmp_path / "in", tmp_path / "out"
    inside.mkdir()
    outside.mkdir()
    (outside / "shared").write_bytes(b"x" * 100_000)
    os.link(outside / "shared", inside / "shared")
    (inside / "own").write_bytes(b"x" * 50_000)
    os.link(inside / "own", inside / "again")
    (inside / "link").symlink_to(outside)
    own, apparent = sizes_of(inside)
    assert 200_000 <= apparent < 201_000
    assert 50_000 <= own < 100_000
    assert sizes_of(tmp_path / "absent") == (0, 0)
