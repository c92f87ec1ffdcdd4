"""Weights by their hash, consent to licences, ids, sizes, and the judging of a probe."""

import hashlib
import os
from pathlib import Path

import pytest

from crystalmath.errors import EnvironmentUnbuildable, InputRejected, LicenceNotAccepted
from crystalmath.isolation.check import judge
from crystalmath.isolation.lock import Lock, environment_id
from crystalmath.isolation.models import ModelStore
from crystalmath.isolation.places import Places
from crystalmath.isolation.sizes import sizes_of
from crystalmath.isolation.surroundings import variables
from crystalmath.services.ports_forces import ModelDeclaration

LOCK = Lock(
    "# lock of x\n"
    "numpy==1.26.4 \\\n    --hash=sha256:00\n"
    "nvidia-cublas==12.1 ; sys_platform == 'nowhere' \\\n    --hash=sha256:11\n"
    "ase==3.29.0 ; python_full_version >= '3.11' \\\n    --hash=sha256:22\n"
)


@pytest.fixture
def places(tmp_path: Path) -> Places:
    return Places(tmp_path / "data", tmp_path / "shipped")


def download(tmp_path: Path, content: bytes, sha256: str | None = None) -> ModelDeclaration:
    source = tmp_path / "weights"
    source.write_bytes(content)
    return ModelDeclaration(
        id="m",
        source="download",
        properties=("energy",),
        url=source.as_uri(),
        sha256=sha256 or hashlib.sha256(content).hexdigest(),
        size_bytes=len(content),
    )


def test_a_download_is_verified_and_kept(tmp_path: Path, places: Places) -> None:
    store = ModelStore(places)
    model = download(tmp_path, b"weights")
    path = store.download(model, lambda _s: None, lambda: False)
    assert path.read_bytes() == b"weights"
    (tmp_path / "weights").unlink()
    assert store.download(model, lambda _s: None, lambda: False) == path
    assert [sha for sha, _ in store.stored()] == [model.sha256]


def test_another_hash_names_both_and_keeps_nothing(tmp_path: Path, places: Places) -> None:
    store = ModelStore(places)
    model = download(tmp_path, b"weights", "0" * 64)
    with pytest.raises(EnvironmentUnbuildable) as caught:
        store.download(model, lambda _s: None, lambda: False)
    assert "0" * 64 in caught.value.message
    assert hashlib.sha256(b"weights").hexdigest() in caught.value.message
    assert store.stored() == []
    assert [p for p in places.models.rglob("*") if p.is_file()] == []


def test_no_network_is_said(tmp_path: Path, places: Places) -> None:
    model = download(tmp_path, b"weights")
    (tmp_path / "weights").unlink()
    with pytest.raises(EnvironmentUnbuildable):
        ModelStore(places).download(model, lambda _s: None, lambda: False)


def test_a_users_file_is_hashed_again_when_it_changes(tmp_path: Path, places: Places) -> None:
    store = ModelStore(places)
    path = tmp_path / "my.model"
    path.write_bytes(b"one")
    first = store.hash_file(path)
    assert store.hash_file(path) == first
    path.write_bytes(b"two")
    os.utime(path, ns=(1, 1))
    assert store.hash_file(path) == hashlib.sha256(b"two").hexdigest()


@pytest.mark.parametrize("name", ["absent", "."])
def test_what_is_no_file_is_refused(tmp_path: Path, places: Places, name: str) -> None:
    with pytest.raises(InputRejected) as caught:
        ModelStore(places).hash_file(tmp_path / name)
    assert caught.value.field == "model"


def test_consent_is_given_once_for_a_text(places: Places) -> None:
    model = ModelDeclaration(
        id="m", source="file", properties=(), license_id="ASL", license_text="no profit"
    )
    store = ModelStore(places)
    with pytest.raises(LicenceNotAccepted) as caught:
        store.check_consent("mace", model)
    assert "no profit" in caught.value.message
    assert "--accept-license" in (caught.value.hint or "")
    store.accept("mace", model)
    later = ModelStore(places)
    later.check_consent("mace", model)
    assert later.consent(model) == "given"


def test_the_lock_knows_what_belongs_here() -> None:
    assert LOCK.wanted("3.11.7") == {"numpy": "1.26.4", "ase": "3.29.0"}


def test_the_id_follows_lock_python_and_interface() -> None:
    first = environment_id(LOCK, "3.11.7", 1)
    assert len(first) == 16
    assert environment_id(LOCK, "3.11.7", 1) == first
    others = {
        environment_id(Lock(LOCK.text + "\n"), "3.11.7", 1),
        environment_id(LOCK, "3.11.8", 1),
        environment_id(LOCK, "3.11.7", 2),
    }
    assert len(others | {first}) == 4


def test_only_listed_variables_pass() -> None:
    host = {"PATH": "/bin", "PYTHONPATH": "/x", "SECRET": "s", "HOME": "/root", "LANG": "C"}
    found = variables(Path("/c"), threads=3, host=host)
    assert found["HOME"] == "/c/home"
    assert found["OMP_NUM_THREADS"] == "3"
    assert found["PATH"] == "/bin"
    assert not {"PYTHONPATH", "SECRET"} & found.keys()


def test_sizes_count_shared_files_apart(tmp_path: Path) -> None:
    inside, outside = tmp_path / "in", tmp_path / "out"
    inside.mkdir()
    outside.mkdir()
    (outside / "shared").write_bytes(b"x" * 100_000)
    os.link(outside / "shared", inside / "shared")
    (inside / "own").write_bytes(b"x" * 50_000)
    os.link(inside / "own", inside / "again")
    own, apparent = sizes_of(inside)
    assert apparent == 200_000
    assert 50_000 <= own < 100_000


def facts(root: Path, **more: object) -> dict[str, object]:
    return {
        "prefix": str(root),
        "isolated": 1,
        "path": [str(root / "lib/python3.11/site-packages"), "/usr/lib/python3.11"],
        "stdlib": ["/usr/lib/python3.11"],
        "files": {"numpy": str(root / "lib/numpy/__init__.py")},
        "failures": {},
        "missing": [],
        "mapped": [str(root / "lib/python3.11/site-packages/n.so"), "/lib/libc.so.6"],
        "distributions": {"numpy": {"version": "1.26.4", "path": str(root / "lib")}},
        **more,
    }


def test_an_environment_that_is_clean(tmp_path: Path) -> None:
    assert judge(facts(tmp_path), str(tmp_path), {"numpy": "1.26.4"}) == ()


@pytest.mark.parametrize(
    "leak",
    [
        {"prefix": "/usr"},
        {"isolated": 0},
        {"path": ["/usr/lib/python3/dist-packages"]},
        {"path": ["/home/me"]},
        {"files": {"numpy": "/usr/lib/python3/dist-packages/numpy/__init__.py"}},
        {"failures": {"torch": "Traceback\nImportError: no"}},
        {"mapped": ["/usr/lib/python3/dist-packages/numpy/core.so"]},
        {"missing": ["numpy: numpy/__init__.py"]},
        {"distributions": {}},
        {"distributions": {"numpy": {"version": "2.0", "path": "/x"}}},
        {"distributions": {"numpy": {"version": "1.26.4", "path": "/usr/lib"}}},
    ],
)
def test_every_leak_is_named(tmp_path: Path, leak: dict[str, object]) -> None:
    assert judge(facts(tmp_path, **leak), str(tmp_path), {"numpy": "1.26.4"})
