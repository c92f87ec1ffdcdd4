"""What a process finds around itself, what uv sees and says, and evidence of want of memory."""

from pathlib import Path

import pytest

from crystalmath.isolation.oom import oom_kills
from crystalmath.isolation.places import Places
from crystalmath.isolation.surroundings import library_path, variables
from crystalmath.isolation.uv import Downloads, Uv, _reason, cache_directory, find_uv

HOST = {
    "PATH": "/bin", "PYTHONPATH": "/x", "SECRET": "s", "HOME": "/root", "LANG": "C",
    "LC_TIME": "de_DE", "CUDA_VISIBLE_DEVICES": "1", "LD_LIBRARY_PATH": "/lib/other",
    "HF_TOKEN": "t", "OMP_NUM_THREADS": "64",
}  # fmt: skip


def test_only_listed_variables_pass() -> None:
    found = variables(Path("/c"), threads=3, host=HOST)
    assert found["HOME"] == "/c/home"
    assert found["OMP_NUM_THREADS"] == "3"
    assert (found["PATH"], found["LC_TIME"], found["CUDA_VISIBLE_DEVICES"]) == (
        "/bin",
        "de_DE",
        "1",
    )
    assert not {"PYTHONPATH", "SECRET", "LD_LIBRARY_PATH", "HF_TOKEN"} & found.keys()
    own = {n: v for n, v in found.items() if n.endswith(("HOME", "_DIR", "_PATH", "DIR"))}
    assert all(v.startswith("/c/") for n, v in own.items() if n != "PATH"), own
    assert found["HF_HUB_OFFLINE"] == "1"


def test_the_library_path_is_passed_as_far_as_it_is_needed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("LD_LIBRARY_PATH", raising=False)
    assert library_path("/py/lib", foreign=True) == {}
    monkeypatch.setenv("LD_LIBRARY_PATH", "/cuda/lib:/py/lib")
    assert library_path(None, foreign=True) == {"LD_LIBRARY_PATH": "/cuda/lib:/py/lib"}
    assert library_path("/py/lib", foreign=False) == {"LD_LIBRARY_PATH": "/py/lib"}
    assert library_path("/usr/lib", foreign=False) == {}
    assert library_path(None, foreign=False) == {}


def test_uv_sees_proxies_and_indexes_and_nothing_that_changes_what_is_chosen() -> None:
    host = {
        "PATH": "/bin", "HTTPS_PROXY": "http://proxy", "UV_DEFAULT_INDEX": "https://mirror",
        "UV_INDEX_MINE_PASSWORD": "p", "UV_PRERELEASE": "allow", "UV_LINK_MODE": "symlink",
        "UV_CONSTRAINT": "/c", "PYTHONPATH": "/x", "VIRTUAL_ENV": "/v", "CONDA_PREFIX": "/conda",
        "PIP_INDEX_URL": "x",
    }  # fmt: skip
    places = Places(Path("/d"), Path("/s"), uv_cache=Path("/cache"))
    found = Uv(places)._variables(host)
    assert found["UV_CACHE_DIR"] == "/cache"
    assert found["UV_PYTHON_DOWNLOADS"] == "never"
    kept = {"PATH", "HTTPS_PROXY", "UV_DEFAULT_INDEX", "UV_INDEX_MINE_PASSWORD"}
    assert found.keys() & host.keys() == kept


def test_the_cache_lies_where_hard_links_are_possible(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    places = Places(tmp_path / "data", tmp_path)
    monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path / "own"))
    assert cache_directory(places) == tmp_path / "own"
    monkeypatch.delenv("UV_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache_directory(places) == tmp_path / "xdg" / "uv"
    monkeypatch.setenv("UV_CACHE_DIR", "/proc/uv")
    assert cache_directory(places) == tmp_path / "data" / "caches" / "uv"


def test_the_uv_that_is_set_is_used(tmp_path: Path) -> None:
    assert find_uv(Places(tmp_path, tmp_path, uv=Path("/opt/uv"))) == "/opt/uv"


def test_progress_is_read_from_what_uv_says() -> None:
    downloads = Downloads()
    downloads.read("Resolved 2 packages\nDownloading scipy (33.5MiB)\nDownloading torch (1.5GiB)\n")
    assert downloads.missing == ["scipy", "torch"]
    assert downloads.total_bytes == int(33.5 * 2**20) + int(1.5 * 2**30)
    downloads.read("Downloading scipy (33.5MiB)\nDownloading torch (1.5GiB)\n Downloaded scipy\n")
    assert downloads.done_bytes == int(33.5 * 2**20)
    assert downloads.missing == ["torch"]


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ("Resolved 2\nerror: Failed to fetch\n  cause: no route\n",
         "Failed to fetch cause: no route"),
        ("  × No solution found:\n  ╰─▶ Because a==1\n      and b\n",
         "No solution found: Because a==1 and b"),
        ("warning: x\n", "warning: x"),
        ("", ""),
    ],
)  # fmt: skip
def test_the_reason_is_uvs_own(said: str, reason: str) -> None:
    assert _reason(said) == reason


@pytest.mark.parametrize(
    ("groups", "file", "content", "count"),
    [
        ("0::/a/b\n", "a/b/memory.events", "oom 1\noom_kill 3\n", 3),
        ("4:memory:/a\n0::/\n", "memory/a/memory.oom_control", "under_oom 0\noom_kill 2\n", 2),
        ("0::/a\n", "unified/a/memory.events", "oom_kill 1\n", 1),
        ("0::/a\n", "other", "oom_kill 1\n", None),
        ("0::/a\n", "a/memory.events", "oom 1\n", None),
        ("", "x", "", None),
    ],
)
def test_want_of_memory_is_read_where_the_kernel_tells(
    tmp_path: Path, groups: str, file: str, content: str, count: int | None
) -> None:
    (tmp_path / "cgroup").write_text(groups)
    path = tmp_path / "root" / file
    path.parent.mkdir(parents=True)
    path.write_text(content)
    assert oom_kills(tmp_path / "cgroup", tmp_path / "root") == count
    assert oom_kills(tmp_path / "absent", tmp_path / "root") is None
