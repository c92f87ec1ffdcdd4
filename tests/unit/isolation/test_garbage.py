"""What garbage collection names and removes, on directories that look like the real ones."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from crystalmath.isolation.garbage import Collector, Wanted, touch
from crystalmath.isolation.locks import build_lock, if_free, shared, use_lock
from crystalmath.isolation.models import ModelStore
from crystalmath.isolation.places import Places
from crystalmath.services.ports_forces import Removal

NOW = 2_000_000_000.0
DAY = 86400.0
HASH = "ab" * 32


@pytest.fixture
def places(tmp_path: Path) -> Places:
    made = Places(tmp_path / "data", tmp_path / "shipped")
    made.environments.mkdir(parents=True)
    return made


def environment(places: Places, name: str, engine: str = "e", used: float = 0.0) -> Path:
    directory = places.environments / name
    (directory / "bin").mkdir(parents=True)
    record = dict.fromkeys(
        ("python_version", "library_dir", "abi", "lock_sha256", "site", "landmarks", "versions")
    )
    record |= {"id": name, "engine": engine, "built_at": NOW - 100 * DAY}
    (directory / "env.json").write_text(json.dumps(record))
    touch(directory, used or NOW - 90 * DAY)
    return directory


def weights(places: Places, sha256: str = HASH, age_days: float = 90) -> Path:
    directory = places.models / "sha256" / sha256
    directory.mkdir(parents=True)
    (directory / "m.model").write_bytes(b"x" * 5000)
    os.utime(directory, (NOW - age_days * DAY,) * 2)
    return directory


def collect(
    places: Places, *, apply: bool = True, keep_days: float = 30, **wanted: set[str]
) -> list[Removal]:
    names = ("environments", "models", "engines", "unreadable", "in_use")
    every = {name: wanted.get(name, set()) for name in names}
    return Collector(
        places, ModelStore(places), Wanted(**every), keep_s=keep_days * DAY, now=NOW, apply=apply
    ).collect()


def test_old_and_unwanted_goes(places: Places) -> None:
    gone, fresh = environment(places, "gone"), environment(places, "fresh", used=NOW - DAY)
    (named,) = collect(places, apply=False)
    assert (named.kind, named.name, named.removed) == ("environment", "gone", False)
    assert named.size_bytes > 0
    assert gone.is_dir()
    (removed,) = collect(places)
    assert removed.removed
    assert not gone.exists()
    assert fresh.is_dir()
    assert list(places.environments.glob(".removing-*")) == []


@pytest.mark.parametrize(
    "wanted",
    [{"environments": {"one"}}, {"in_use": {"one"}}, {"unreadable": {"e"}}],
)
def test_what_is_wanted_used_or_not_known_stays(
    places: Places, wanted: dict[str, set[str]]
) -> None:
    environment(places, "one")
    assert collect(places, **wanted) == []


def test_an_environment_without_a_record_goes_when_it_is_old(places: Places) -> None:
    directory = environment(places, "one")
    (directory / "env.json").write_text("{")
    assert [r.name for r in collect(places)] == ["one"]


@pytest.mark.parametrize("lock", [build_lock, use_lock])
def test_what_another_process_builds_or_uses_stays(
    places: Places, lock: Callable[[Places, str], Path]
) -> None:
    environment(places, "one")
    fd = shared(lock(places, "one"))
    assert fd is not None
    assert collect(places) == []
    os.close(fd)
    assert [r.name for r in collect(places)] == ["one"]


def test_weights_that_no_declaration_names(places: Places) -> None:
    weights(places)
    weights(places, "cd" * 32, age_days=1)
    assert collect(places, models={HASH}) == []
    assert collect(places, in_use={HASH}) == []
    assert collect(places, unreadable={"e"}) == []
    (removed,) = collect(places)
    assert (removed.kind, removed.name, removed.removed) == ("model", HASH, True)
    assert removed.size_bytes >= 5000


def test_a_build_at_work_is_no_rubbish(places: Places) -> None:
    staged = places.environments / ".building-x"
    staged.mkdir()
    with if_free(build_lock(places, "x")) as held:
        assert held
        assert collect(places) == []
    assert [(r.kind, r.name, r.removed) for r in collect(places)] == [
        ("rubbish", ".building-x", True)
    ]
    assert not staged.exists()


def test_remains_of_all_kinds(places: Places) -> None:
    old = NOW - 40 * DAY
    for folder in (".replaced-x-1", ".removing-y-2", ".logs"):
        (places.environments / folder).mkdir()
    kept = places.logs / "fresh.stderr"
    stale = places.logs / "old.stderr"
    for log, moment in ((kept, NOW), (stale, old)):
        log.write_text("x")
        os.utime(log, (moment, moment))
    work = places.caches("e") / "work-1"
    orphan = places.caches("undeclared")
    for folder in (work, orphan, places.caches("uv")):
        folder.mkdir(parents=True)
        os.utime(folder, (old, old))
    external = places.environments / "external-undeclared.json"
    external.write_text("{}")
    (places.environments / "external-e.json").write_text("{}")
    names = {r.name for r in collect(places, engines={"e"})}
    assert names == {
        ".replaced-x-1", ".removing-y-2", "old.stderr", "work-1", "caches/undeclared",
        "external-undeclared.json",
    }  # fmt: skip
    assert kept.exists()
    assert places.caches("uv").exists()
    assert collect(places, engines={"e"}) == []


def test_old_copies_of_the_worker_go_unless_a_process_may_run_from_them(places: Places) -> None:
    directory = environment(places, "one")
    for name, age in (("worker-a", 2), ("worker-b", 1)):
        (directory / name).mkdir()
        os.utime(directory / name, (NOW - age, NOW - age))
    fd = shared(use_lock(places, "one"))
    assert fd is not None
    assert collect(places, environments={"one"}) == []
    os.close(fd)
    assert [r.name for r in collect(places, environments={"one"})] == ["one/worker-a"]
    assert (directory / "worker-b").is_dir()
