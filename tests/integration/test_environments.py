"""Building environments with the real uv, from wheels made on the spot: no network is used."""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from crystalmath.errors import Cancelled, ConfigError, EnvironmentBroken, EnvironmentUnbuildable
from crystalmath.isolation.declaration import load_declaration
from crystalmath.isolation.guard import descendants
from crystalmath.isolation.interpreters import Interpreter, own_interpreter
from crystalmath.isolation.lock import environment_id, load_lock, make_lock
from crystalmath.services.ports_forces import InstallStep
from support.isolated import PATIENCE_S, House, alive, make_wheel, toy_house, toys, until

BUILDER = Path(__file__).parents[1] / "support" / "builder.py"
LARGE = 20_000_000
ROUNDS = 6
SLEEPER = "sys.stderr.write('up'); sys.stderr.flush(); time.sleep(600)"
HOLDER = """
import fcntl, sys
file = open(sys.argv[1], "w")
fcntl.flock(file, fcntl.LOCK_EX)
print(flush=True)
sys.stdin.read()
"""


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheels")
    make_wheel(folder, "toya", "1.0", requires=("toyb==1.0",))
    make_wheel(folder, "toyb", "1.0")
    make_wheel(folder, "toyb", "2.0")
    make_wheel(folder, "toylarge", "1.0", size=LARGE)
    make_wheel(folder, "toyold", "1.0", requires=("toyb==1.0; python_version<'3.12'",
                                                  "toyb==2.0; python_version>='3.12'"))  # fmt: skip
    return folder


@pytest.fixture
def house(tmp_path: Path) -> House:
    return toy_house(tmp_path)


def build_in_process(house: House, engine: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, BUILDER, house.root, engine, "own"],
        stdout=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip


def said(process: subprocess.Popen[str]) -> list[dict[str, str]]:
    out, _ = process.communicate(timeout=PATIENCE_S)
    return [json.loads(line) for line in out.splitlines()]


# --- identity ---------------------------------------------------------------------------------


def test_the_same_lock_is_the_same_directory_and_is_built_once(house: House, wheels: Path) -> None:
    house.declare("one", "toya==1.0", "toyb==1.0", more=toys(wheels))
    house.declare("two", "toyb==1.0", "toya==1.0", more=toys(wheels))
    first = house.provider.install("one")
    built = (house.places.environments / first.id / "env.json").stat().st_mtime_ns
    steps: list[InstallStep] = []
    assert house.provider.install("two", progress=steps.append).id == first.id
    assert "installing" not in [step.phase for step in steps]
    assert (house.places.environments / first.id / "env.json").stat().st_mtime_ns == built
    (row,) = house.provider.environments()
    assert (row.state, row.engines) == ("ready", ("one", "two"))
    assert first.versions == {"toya": "1.0", "toyb": "1.0"}


def test_another_pin_or_interface_is_another_directory(house: House, wheels: Path) -> None:
    house.declare("one", "toyb==1.0", more=toys(wheels))
    first = house.provider.install("one")
    house.declare("one", "toyb==2.0", more=toys(wheels))
    assert house.provider.ready("one") is None
    second = house.provider.install("one")
    other = House(house.root, abi=2, uv_cache=house.places.uv_cache)
    assert other.provider.ready("one") is None
    third = other.provider.install("one")
    assert house.names() == sorted({first.id, second.id, third.id})
    assert [row.state for row in house.provider.environments()].count("unused") == 2


def another_python() -> Interpreter | None:
    own = own_interpreter()
    for folder in os.get_exec_path():
        for path in sorted(Path(folder).glob("python3")):
            command = [path, "-I", "-c", "import platform; print(platform.python_version())"]
            try:
                done = subprocess.run(
                    command, capture_output=True, text=True, check=True, timeout=20
                )
            except (OSError, subprocess.SubprocessError):
                continue
            if done.stdout.strip() not in ("", own.version):
                return Interpreter(str(path), done.stdout.strip(), own.platform)
    return None


def test_another_python_is_found_and_is_another_id(house: House, wheels: Path) -> None:
    other = another_python()
    if other is None:
        pytest.skip("no second Python in PATH")
    python = f'requires-python = "=={other.version}"\n'
    house.declare("one", "toyb==1.0", more=toys(wheels))
    house.declare("two", "toyb==1.0", more=python + toys(wheels))
    first, second = house.provider.install("one"), house.provider.install("two")
    assert second.python_version == other.version
    assert first.id != second.id
    found = house.provider.ready("two")
    assert found == second
    lock = load_lock(load_declaration(house.root / "user" / "one.py", "user"), house.places)
    assert lock is not None
    assert environment_id(lock, own_interpreter(), 1) == first.id


def test_a_python_that_is_not_here_is_named(house: House, wheels: Path) -> None:
    house.declare("one", "toyb==1.0", more='requires-python = "==3.29.*"\n' + toys(wheels))
    with pytest.raises(EnvironmentUnbuildable, match=r"3\.29"):
        house.provider.install("one")


def test_a_lock_holds_for_the_python_that_is_asked_for(house: House, wheels: Path) -> None:
    dependencies = ("toyold==1.0", "toyb==1.0")
    house.declare("one", *dependencies, more='requires-python = "<3.12"\n' + toys(wheels))
    declared = load_declaration(house.root / "user" / "one.py", "user")
    assert make_lock(declared, house.places).wanted("3.11.7") == {"toyold": "1.0", "toyb": "1.0"}
    house.declare("one", *dependencies, more='requires-python = ">=3.11"\n' + toys(wheels))
    declared = load_declaration(house.root / "user" / "one.py", "user")
    with pytest.raises(EnvironmentUnbuildable, match="toyb"):
        make_lock(declared, house.places)


# --- two at once, and killed ones -----------------------------------------------------------------


def test_of_two_processes_one_builds_and_the_other_waits(house: House, wheels: Path) -> None:
    house.declare("one", "toylarge==1.0", "toya==1.0", more=toys(wheels))
    make_lock(load_declaration(house.root / "user" / "one.py", "user"), house.places)
    both = [said(p) for p in [build_in_process(house, "one") for _ in range(2)]]
    ids = {steps[-1].get("id") for steps in both}
    assert ids == set(house.names())
    builders = [steps for steps in both if any(s.get("phase") == "checking" for s in steps)]
    assert len(builders) == 1


def test_a_build_that_is_killed_at_any_moment_leaves_nothing(house: House, wheels: Path) -> None:
    house.declare("one", "toylarge==1.0", "toya==1.0", more=toys(wheels))
    make_lock(load_declaration(house.root / "user" / "one.py", "user"), house.places)
    began = time.monotonic()
    whole = build_in_process(house, "one")
    assert "id" in said(whole)[-1]
    lasts_s = time.monotonic() - began
    randomness = random.Random(20261128)
    for turn in range(ROUNDS):
        shutil.rmtree(house.places.environments)
        builder = build_in_process(house, "one")
        delay_s = lasts_s * (turn + randomness.random()) / ROUNDS
        try:
            builder.wait(delay_s)
        except subprocess.TimeoutExpired:
            os.kill(builder.pid, signal.SIGKILL)  # alone: what it has started must go by itself
        builder.communicate()
        for name in house.names():
            assert house.provider.check("one")["ok"], f"{name} after {delay_s:.2f} s"
        again = house.provider.install("one")
        assert house.names() == [again.id]
        assert house.provider.check("one")["ok"]
        assert house.hidden(".building-") == []


def test_what_a_killed_build_leaves_goes_with_the_next_one(house: House, wheels: Path) -> None:
    house.declare("one", "toya==1.0", more=toys(wheels))
    rubbish = house.places.environments / ".building-0123456789abcdef"
    rubbish.mkdir(parents=True)
    (rubbish / "x").write_text("x")
    (named,) = house.provider.collect_garbage(keep_days=0, apply=False, in_use=[])
    assert (named.kind, named.name, named.removed) == ("rubbish", rubbish.name, False)
    house.provider.install("one")
    assert not rubbish.exists()


def test_an_installation_can_be_stopped(house: House, wheels: Path) -> None:
    house.declare("one", "toya==1.0", more=toys(wheels))
    steps: list[InstallStep] = []
    with pytest.raises(Cancelled):
        house.provider.install("one", cancelled=lambda: True)
    with pytest.raises(Cancelled):
        house.provider.install(
            "one",
            progress=steps.append,
            cancelled=lambda: any(step.phase == "installing" for step in steps),
        )
    assert house.names() == []
    assert house.hidden(".building-") == []


def test_who_waits_can_be_stopped_too(house: House, wheels: Path) -> None:
    house.declare("one", "toylarge==1.0", more=toys(wheels))
    first = house.provider.install("one")
    shutil.rmtree(house.places.environments / first.id)
    steps: list[InstallStep] = []
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDER, house.places.environments / f".lock-{first.id}"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    )  # fmt: skip
    assert holder.stdout is not None
    holder.stdout.readline()
    with pytest.raises(Cancelled):
        house.provider.install(
            "one", progress=steps.append, cancelled=lambda: any(s.phase == "waiting" for s in steps)
        )
    holder.communicate()
    assert house.provider.install("one").id == first.id


# --- what cannot be built -------------------------------------------------------------------------


def test_pins_that_exclude_each_other_are_explained(house: House, wheels: Path) -> None:
    house.declare("never", "toya==1.0", "toyb==2.0", more=toys(wheels))
    with pytest.raises(EnvironmentUnbuildable) as caught:
        house.provider.install("never")
    assert "never" in caught.value.message
    assert "toya==1.0" in caught.value.message
    assert "toyb==2.0" in caught.value.message
    log = Path((caught.value.hint or "").rpartition(" ")[2])
    assert "toyb" in log.read_text()
    assert house.names() == []


def test_an_extra_that_does_not_exist_is_refused(house: House, wheels: Path) -> None:
    house.declare("extra", "toya[nosuch]==1.0", more=toys(wheels))
    with pytest.raises(EnvironmentUnbuildable, match="does not have an extra named `nosuch`"):
        house.provider.install("extra")


def test_a_package_that_has_changed_since_the_lock_is_refused(house: House, tmp_path: Path) -> None:
    folder = tmp_path / "shop"
    make_wheel(folder, "toyc", "1.0", size=10)
    house.declare("one", "toyc==1.0", more=toys(folder))
    make_lock(load_declaration(house.root / "user" / "one.py", "user"), house.places)
    shutil.rmtree(house.root / "cache")
    make_wheel(folder, "toyc", "1.0", size=20)
    with pytest.raises(EnvironmentUnbuildable) as caught:
        house.provider.install("one")
    assert "toyc" in caught.value.message
    assert "ash" in caught.value.message
    assert house.names() == []
    assert house.hidden(".building-") == []


def test_a_package_that_is_not_to_be_had_is_named_with_the_log(house: House, wheels: Path) -> None:
    house.declare("one", "toynowhere==1.0", more=toys(wheels))
    with pytest.raises(EnvironmentUnbuildable) as caught:
        house.provider.install("one")
    assert "toynowhere" in caught.value.message
    assert "log" in (caught.value.hint or "")


def test_a_shipped_lock_is_used_as_it_is_and_a_stale_one_is_refused(
    house: House, wheels: Path
) -> None:
    path = house.declare("one", "toya==1.0", more=toys(wheels), folder="shipped")
    with pytest.raises(EnvironmentUnbuildable, match="lock of one"):
        house.provider.install("one")
    make_lock(load_declaration(path, "shipped"), house.places)
    text = path.with_suffix(".lock").read_text()
    assert str(house.root) not in text
    assert "http" not in text
    steps: list[InstallStep] = []
    house.provider.install("one", progress=steps.append)
    assert "resolving" not in [step.phase for step in steps]
    path.write_text(path.read_text().replace("toya==1.0", "toyb==1.0"))
    assert house.provider.ready("one") is None
    with pytest.raises(EnvironmentUnbuildable, match="lock of one"):
        house.provider.install("one")


def in_small_room(house: House, mount: str, tmp_path: Path) -> list[dict[str, str]]:
    """Build with a small or read-only file system in place of the house's data and cache."""
    script = (
        f"mkdir -p {house.root}/data {house.root}/cache && mount -t tmpfs -o {mount} tmpfs "
        f"{house.root}/data && exec {sys.executable} {BUILDER} {house.root} one"
    )
    isolate = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c"]
    probe = subprocess.run(
        [*isolate, f"mount -t tmpfs tmpfs {tmp_path}"], capture_output=True, text=True, check=False
    )
    if probe.returncode != 0:
        pytest.skip(f"no file system can be mounted here: {probe.stderr.strip()}")
    done = subprocess.run(
        [*isolate, script], capture_output=True, text=True, check=False, timeout=PATIENCE_S,
        env={**os.environ, "UV_CACHE_DIR": str(house.root / "cache")},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_a_full_disk_is_said_with_what_is_left(house: House, wheels: Path, tmp_path: Path) -> None:
    path = house.declare("one", "toylarge==1.0", more=toys(wheels), folder="shipped")
    make_lock(load_declaration(path, "shipped"), house.places)
    last = in_small_room(house, "size=8m", tmp_path)[-1]
    assert last["error"] == "environment_unbuildable"
    assert "full" in last["message"]
    assert "MB are left" in last["message"]


def test_a_data_directory_that_cannot_be_written_is_said(
    house: House, wheels: Path, tmp_path: Path
) -> None:
    path = house.declare("one", "toya==1.0", more=toys(wheels), folder="shipped")
    make_lock(load_declaration(path, "shipped"), house.places)
    last = in_small_room(house, "ro", tmp_path)[-1]
    assert last["error"] == "environment_unbuildable"
    assert "Read-only" in last["message"]


# --- what is broken -------------------------------------------------------------------------------


def test_what_is_gone_is_noticed_at_a_glance_and_mended(house: House, wheels: Path) -> None:
    house.declare("one", "toya==1.0", more=toys(wheels))
    first = house.provider.install("one")
    directory = house.places.environments / first.id
    for pattern in ("site-packages/toya", "site-packages/toyb-1.0.dist-info", "bin/python"):
        victim = next(directory.rglob(pattern))
        shutil.rmtree(victim) if victim.is_dir() and not victim.is_symlink() else victim.unlink()
        assert house.provider.ready("one") is None, pattern
        (row,) = house.provider.environments()
        assert row.state == "broken"
        assert row.problem is not None
        assert not house.provider.check("one")["ok"]
        assert house.provider.install("one").id == first.id
        assert house.provider.check("one")["ok"]
    assert house.hidden(".replaced-") == []


@pytest.mark.parametrize("harm", ["remove", "cut"])
def test_what_no_glance_sees_the_check_and_install_see(
    house: House, wheels: Path, harm: str
) -> None:
    house.declare("one", "toya==1.0", more=toys(wheels))
    first = house.provider.install("one")
    victim = next((house.places.environments / first.id).rglob("toya-1.0.dist-info/WHEEL"))
    victim.unlink()
    if harm == "cut":
        victim.write_text("")
    found = house.provider.check("one")
    assert not found["ok"]
    assert "toya" in found["problems"][0]
    house.provider.install("one")
    assert house.provider.check("one")["ok"]


def test_a_worker_that_was_updated_reaches_built_environments(house: House, wheels: Path) -> None:
    house.declare("one", "toya==1.0", more=toys(wheels))
    house.provider.install("one")
    assert house.run("one", "exec", "sys.stderr.write('old')") == (0, "old")
    (house.worker / "__main__.py").write_text("import sys; sys.stderr.write('new')\n")
    updated = toy_house_like(house)
    assert updated.run("one", "exec", "sys.stderr.write('old')") == (0, "new")
    removed = updated.provider.collect_garbage(keep_days=0, apply=True, in_use=[])
    assert [(one.kind, one.removed) for one in removed] == [("rubbish", True)]
    assert updated.run("one") == (0, "new")


def toy_house_like(house: House) -> House:
    """The same house, seen by a process that starts later."""
    text = (house.worker / "__main__.py").read_text()
    later = toy_house(house.root)
    (house.worker / "__main__.py").write_text(text)
    return later


def test_an_update_under_a_running_process_is_said(house: House, wheels: Path) -> None:
    house.declare("one", "toya==1.0", more=toys(wheels))
    house.provider.install("one")
    (house.worker / "more.py").write_text("")
    ready = house.provider.ready("one")
    assert ready is not None
    house.declare("two", "toyb==1.0", more=toys(wheels))
    with pytest.raises(EnvironmentBroken, match="updated"):
        house.provider.install("two")


# --- declarations of others -----------------------------------------------------------------------

ROOTSTOCK = '''\
# /// script
# requires-python = ">=3.10"
# dependencies = [
#     "toya>=1.0",
#     "toyb",
# ]
#
# [tool.uv.sources]
# toyb = { index = "toys" }
#
# [[tool.uv.index]]
# name = "toys"
# url = "FOLDER"
# format = "flat"
# explicit = true
#
# [tool.uv]
# find-links = ["FOLDER"]
# ///
"""A declaration as Rootstock has them."""

from pathlib import Path

CHECKPOINTS = {
    "toy-small": "small",
    "toy-large": "large",
}
Path("TRAP").write_text("it was executed")


def setup(checkpoint: str, device: str = "cuda"):
    import toya

    return f"{CHECKPOINTS[checkpoint]} on {device} with {toya.__version__}"
'''


def test_a_rootstock_declaration_is_used_unchanged_and_never_executed_here(
    house: House, wheels: Path, tmp_path: Path
) -> None:
    trap = tmp_path / "trap"
    path = house.root / "user" / "rooted.py"
    path.write_text(ROOTSTOCK.replace("FOLDER", str(wheels)).replace("TRAP", str(trap)))
    assert house.provider.declaration("rooted").warnings
    ready = house.provider.install("rooted")
    house.provider.check("rooted")
    house.provider.environments()
    assert [one.declaration.id for one in house.provider.models("rooted")] == [
        "toy-small",
        "toy-large",
    ]
    assert house.provider.resolve_model("rooted", "toy-large").argument == "toy-large"
    assert not trap.exists()
    code = (
        "import runpy; found = runpy.run_path(sys.argv[3]); "
        "sys.stderr.write(found['setup'](sys.argv[4], device='cpu'))"
    )
    assert house.run("rooted", "exec", code, ready.declaration, "toy-large") == (
        0,
        "large on cpu with 1.0",
    )
    assert trap.exists()


def test_a_broken_declaration_is_told_and_blocks_no_other(house: House, wheels: Path) -> None:
    house.declare("one", "toya==1.0", more=toys(wheels))
    (house.root / "user" / "two.py").write_text("no block\n")
    assert [one.name for one in house.provider.declarations()] == ["one", "two"]
    with pytest.raises(ConfigError, match="PEP 723"):
        house.provider.install("two")
    house.provider.install("one")


# --- garbage ----------------------------------------------------------------------------------


@pytest.fixture
def built(house: House, wheels: Path) -> tuple[House, str]:
    house.declare("one", "toya==1.0", more=toys(wheels))
    return house, house.provider.install("one").id


def environments_of(removals: object) -> list[tuple[str, bool]]:
    return [(r.name, r.removed) for r in removals if r.kind == "environment"]  # type: ignore[attr-defined]


def test_what_is_not_needed_goes_only_when_asked(built: tuple[House, str]) -> None:
    house, identity = built
    collect = house.provider.collect_garbage
    assert environments_of(collect(keep_days=0, apply=True, in_use=[])) == []
    (house.root / "user" / "one.py").rename(house.root / "one.py")
    assert environments_of(collect(keep_days=0, apply=True, in_use=[identity])) == []
    assert environments_of(collect(keep_days=30, apply=True, in_use=[])) == []
    assert environments_of(collect(keep_days=0, apply=False, in_use=[])) == [(identity, False)]
    assert house.names() == [identity]
    assert environments_of(collect(keep_days=0, apply=True, in_use=[])) == [(identity, True)]
    assert house.names() == []
    assert house.hidden(".removing-") == []


def test_what_a_live_process_uses_stays_whoever_started_it(built: tuple[House, str]) -> None:
    house, identity = built
    process = house.start("one", "exec", SLEEPER)
    until(lambda: process.stderr_tail() == "up", "it is up")
    (house.root / "user" / "one.py").rename(house.root / "one.py")
    stranger = toy_house(house.root).provider
    assert environments_of(stranger.collect_garbage(keep_days=0, apply=True, in_use=[])) == []
    process.kill()
    assert process.wait(PATIENCE_S) == -signal.SIGKILL
    removed = stranger.collect_garbage(keep_days=0, apply=True, in_use=[])
    assert environments_of(removed) == [(identity, True)]


def test_what_an_unreadable_declaration_may_ask_for_stays(built: tuple[House, str]) -> None:
    house, identity = built
    (house.root / "user" / "one.py").write_text("a slip of the editor\n")
    removed = house.provider.collect_garbage(keep_days=0, apply=True, in_use=[])
    assert environments_of(removed) == []
    assert house.names() == [identity]


def test_sizes_are_told_with_and_without_what_is_shared(house: House, wheels: Path) -> None:
    house.declare("one", "toylarge==1.0", more=toys(wheels))
    house.provider.install("one")
    (row,) = house.provider.environments()
    assert row.apparent_bytes > LARGE
    assert row.size_bytes < LARGE  # the large file is a hard link into the cache


def test_no_process_of_a_stopped_build_stays(house: House, wheels: Path) -> None:
    house.declare("one", "toylarge==1.0", more=toys(wheels))
    builder = build_in_process(house, "one")
    until(lambda: len(descendants(builder.pid)) >= 2, "uv runs under its guard")
    below = descendants(builder.pid)
    os.kill(builder.pid, signal.SIGKILL)
    builder.communicate()
    until(lambda: not any(alive(pid) for pid in below), "uv and its guard are gone")
