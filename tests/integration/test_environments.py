"""Real environments with real packages, and processes in them.

Two small dependency sets that exclude each other (numpy 1.26 and 2.x) are built once for all tests.
"""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from crystalmath.errors import Cancelled, EnvironmentBroken, EnvironmentUnbuildable
from crystalmath.isolation.build import load_record
from crystalmath.isolation.declaration import load_declarations
from crystalmath.isolation.lock import make_lock
from crystalmath.isolation.places import Places
from crystalmath.isolation.process import Processes, program_pids
from crystalmath.isolation.provider import Environments, WorkerKit

PATIENCE_S = 60.0
WORKER = '''\
"""Does what its arguments say."""
import json, os, sys, time
if sys.argv[1] == "tell":
    import numpy
    print(json.dumps({"version": numpy.__version__, "file": numpy.__file__, "path": sys.path,
                      "env": dict(os.environ), "cwd": os.listdir("."),
                      "fds": sorted(int(f) for f in os.listdir("/proc/self/fd"))}), file=sys.stderr)
elif sys.argv[1] == "exec":
    exec(sys.argv[2])
'''


def declare(folder: Path, name: str, *dependencies: str, more: str = "") -> None:
    folder.mkdir(exist_ok=True)
    wanted = json.dumps(list(dependencies))
    (folder / f"{name}.py").write_text(
        f"# /// script\n# dependencies = {wanted}\n{more}# ///\ndef setup(model): ...\n"
    )


class House:
    """A provider with its places."""

    def __init__(self, root: Path, abi: int = 1) -> None:
        self.root = root
        self.worker = root / "worker"
        self.worker.mkdir(exist_ok=True)
        (self.worker / "__main__.py").write_text(WORKER)
        (root / "shipped").mkdir(exist_ok=True)
        (root / "data").mkdir(exist_ok=True)
        self.places = Places(root / "data", root / "shipped", root / "user")
        self.provider = Environments(self.places, WorkerKit(self.worker, abi))
        self.host = Processes(self.places)

    def run(self, engine: str, *arguments: str) -> tuple[int | None, str]:
        ready = self.provider.ready(engine)
        assert ready is not None
        process = self.host.start(ready, arguments)
        return process.wait(PATIENCE_S), process.stderr_tail()


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> House:
    made = House(tmp_path_factory.mktemp("house"))
    declare(made.root / "user", "old", "numpy==1.26.4")
    declare(made.root / "user", "new", "numpy==2.2.6")
    for name in ("old", "new"):
        made.provider.install(name)
    return made


@pytest.fixture
def traps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A host that is full of things which leak into careless children."""
    trap = "raise SystemExit('a trap was imported')\n"
    for name in ("numpy.py", "usercustomize.py", "sitecustomize.py"):
        (tmp_path / name).write_text(trap)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setenv("PYTHONUSERBASE", str(tmp_path))
    monkeypatch.setenv("PYTHONHOME", "/nonexistent")
    monkeypatch.setenv("PYTHONSTARTUP", str(tmp_path / "numpy.py"))
    monkeypatch.setenv("MY_API_KEY", "a secret")
    return tmp_path


def test_what_excludes_each_other_lives_side_by_side(house: House, traps: Path) -> None:
    secret = os.open("/dev/null", os.O_RDONLY)
    os.set_inheritable(secret, True)
    found = {}
    for name in ("old", "new"):
        code, said = house.run(name, "tell")
        assert code == 0, said
        found[name] = json.loads(said)
    os.close(secret)
    assert found["old"]["version"] == "1.26.4"
    assert found["new"]["version"] == "2.2.6"
    for name, told in found.items():
        ready = house.provider.ready(name)
        assert ready is not None
        assert told["file"].startswith(str(house.places.environments / ready.id))
        assert "MY_API_KEY" not in told["env"]
        assert told["env"]["HOME"].startswith(str(house.places.caches(name)))
        assert told["cwd"] == []
        assert [fd for fd in told["fds"] if fd > 2] in ([3], [])
        assert house.provider.check(name)["ok"]


def test_the_same_lock_is_the_same_directory(house: House) -> None:
    declare(house.root / "user", "twin", "numpy==1.26.4")
    began = load_record(house.places.environments / house.provider.ready("old").id)  # type: ignore[union-attr]
    twin = house.provider.install("twin")
    assert twin.id == house.provider.ready("old").id  # type: ignore[union-attr]
    assert load_record(house.places.environments / twin.id) == began
    other = Environments(house.places, WorkerKit(house.worker, 2))
    assert other.ready("old") is None
    (house.root / "user" / "twin.py").unlink()


def test_a_process_that_writes_home_hits_its_own(house: House) -> None:
    code, said = house.run("new", "exec", "open(os.path.expanduser('~/x'), 'w').write('1')")
    assert code == 0, said
    assert (house.places.caches("new") / "home" / "x").read_text() == "1"
    assert not (Path.home() / "x").exists()


def test_how_a_process_ended_is_told(house: House) -> None:
    ready = house.provider.ready("new")
    assert ready is not None
    process = house.host.start(ready, ["exec", "sys.stderr.write('last words'); sys.exit(7)"])
    assert process.wait(PATIENCE_S) == 7
    report = process.report("loading")
    assert (report.exit_code, report.signal, report.phase) == (7, None, "loading")
    assert report.stderr_tail == "last words"
    process = house.host.start(ready, ["exec", "os.kill(os.getpid(), 11)"])
    assert process.wait(PATIENCE_S) == -11
    assert process.report("x").signal == 11


def test_a_flood_of_words_is_cut_and_blocks_nothing(house: House) -> None:
    flood = "for _ in range(2000): sys.stderr.write('x' * 5000)\nsys.stderr.write('the end')"
    ready = house.provider.ready("new")
    assert ready is not None
    process = house.host.start(ready, ["exec", flood])
    assert process.wait(PATIENCE_S) == 0
    assert process.stderr_tail().endswith("the end")
    assert len(process.stderr_tail()) <= 8192
    assert max(p.stat().st_size for p in house.places.logs.glob("*.stderr")) <= 64 * 1024


DEAF = (
    "import signal, subprocess; signal.signal(15, signal.SIG_IGN); "
    "subprocess.Popen(['setsid', 'sleep', '600']); "
    "sys.stderr.write('up'); sys.stderr.flush(); time.sleep(600)"
)


def until(condition: object, what: str) -> None:
    end = time.monotonic() + PATIENCE_S
    while not condition():  # type: ignore[operator]
        assert time.monotonic() < end, f"not in {PATIENCE_S} s: {what}"
        time.sleep(0.02)


def alive(pid: int) -> bool:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] != "Z"


def family(guard: int) -> list[int]:
    found, stack = [guard], [guard]
    while stack:
        below = program_pids(stack.pop())
        found += below
        stack += below
    return found


def test_what_is_deaf_to_term_is_killed_with_its_children(house: House) -> None:
    ready = house.provider.ready("new")
    assert ready is not None
    process = house.host.start(ready, ["exec", DEAF])
    until(lambda: process.stderr_tail() == "up" and len(family(process.pid)) >= 3, "it is up")
    everybody = family(process.pid)
    process.stop(0.2)
    until(lambda: not any(alive(pid) for pid in everybody), "all are gone")


def test_a_killed_host_leaves_nothing(house: House) -> None:
    script = (
        "import sys, time, json\n"
        "from pathlib import Path\n"
        "from crystalmath.isolation.places import Places\n"
        "from crystalmath.isolation.process import Processes\n"
        "from crystalmath.isolation.provider import Environments, WorkerKit\n"
        "data, shipped, user, worker, deaf = sys.argv[1:]\n"
        "places = Places(Path(data), Path(shipped), Path(user))\n"
        "ready = Environments(places, WorkerKit(Path(worker), 1)).ready('new')\n"
        "process = Processes(places).start(ready, ['exec', deaf])\n"
        "print(process.pid, flush=True)\n"
        "time.sleep(600)\n"
    )
    places = house.places
    host = subprocess.Popen(
        [sys.executable, "-c", script, places.data_dir, places.shipped, house.root / "user",
         house.worker, DEAF],
        stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert host.stdout is not None
    with host.stdout:
        guard = int(host.stdout.readline())
    until(lambda: len(family(guard)) >= 3, "the grandchild is up")
    everybody = family(guard)
    host.send_signal(signal.SIGKILL)
    host.wait()
    until(lambda: not any(alive(pid) for pid in everybody), "all are gone")


def test_pins_that_exclude_each_other_are_explained(house: House) -> None:
    declare(house.root / "user", "never", "numpy==1.26.4", "numpy==2.2.6")
    with pytest.raises(EnvironmentUnbuildable) as caught:
        house.provider.install("never")
    assert "numpy" in caught.value.message
    assert "log" in (caught.value.hint or "")
    (house.root / "user" / "never.py").unlink()


def test_an_extra_that_does_not_exist_is_refused(house: House) -> None:
    declare(house.root / "user", "extra", "click[nosuch]==8.1.8")
    with pytest.raises(EnvironmentUnbuildable) as caught:
        house.provider.install("extra")
    assert "nosuch" in caught.value.message
    (house.root / "user" / "extra.py").unlink()


def test_a_build_that_is_killed_leaves_nothing_under_the_final_name(tmp_path: Path) -> None:
    house = House(tmp_path)
    declare(house.root / "user", "new", "numpy==2.2.6")
    (declared,) = load_declarations(house.places.shipped, house.places.user)
    make_lock(declared, house.places)
    script = (
        "import sys\nfrom pathlib import Path\n"
        "from crystalmath.isolation.places import Places\n"
        "from crystalmath.isolation.provider import Environments, WorkerKit\n"
        "places = Places(*map(Path, sys.argv[1:4]))\n"
        "Environments(places, WorkerKit(Path(sys.argv[4]), 1)).install(\n"
        "    'new', progress=lambda s: print(s.phase, flush=True))\n"
    )
    arguments = [house.places.data_dir, house.places.shipped, house.root / "user", house.worker]
    for phase in ("installing", "checking"):
        builder = subprocess.Popen(
            [sys.executable, "-c", script, *arguments],
            stdout=subprocess.PIPE, text=True, start_new_session=True,
        )  # fmt: skip
        assert builder.stdout is not None
        with builder.stdout:
            for line in builder.stdout:
                if line.strip() == phase:
                    break
        os.killpg(builder.pid, signal.SIGKILL)
        builder.wait()
        assert house.provider.ready("new") is None
        assert [p for p in house.places.environments.glob("*") if not p.name.startswith(".")] == []
    both = [subprocess.Popen([sys.executable, "-c", script, *arguments]) for _ in range(2)]
    assert [one.wait(PATIENCE_S) for one in both] == [0, 0]
    ready = house.provider.ready("new")
    assert ready is not None
    assert [p.name for p in house.places.environments.glob(".building-*")] == []


def test_an_installation_can_be_stopped(tmp_path: Path) -> None:
    house = House(tmp_path)
    declare(house.root / "user", "new", "numpy==2.2.6")
    with pytest.raises(Cancelled):
        house.provider.install("new", cancelled=lambda: True)
    assert house.provider.ready("new") is None


def test_files_that_are_gone_are_noticed_and_mended(tmp_path: Path) -> None:
    house = House(tmp_path)
    declare(house.root / "user", "new", "numpy==2.2.6")
    first = house.provider.install("new")
    Path(first.worker).unlink()
    assert house.provider.ready("new") is None
    assert [row.state for row in house.provider.environments()] == ["broken"]
    assert house.provider.install("new").id == first.id
    numpy = next((house.places.environments / first.id).rglob("site-packages/numpy/__init__.py"))
    numpy.unlink()
    found = house.provider.check("new")
    assert not found["ok"]
    assert "numpy" in found["problems"][0]


def test_what_is_not_needed_goes_only_when_asked(tmp_path: Path) -> None:
    house = House(tmp_path)
    declare(house.root / "user", "new", "numpy==2.2.6")
    ready = house.provider.install("new")
    collect = house.provider.collect_garbage
    assert collect(keep_days=0, apply=True, in_use=[]) == []
    (house.root / "user" / "new.py").unlink()
    assert collect(keep_days=0, apply=True, in_use=[ready.id]) == []
    assert collect(keep_days=30, apply=True, in_use=[]) == []
    (named,) = collect(keep_days=0, apply=False, in_use=[])
    assert (named.name, named.removed) == (ready.id, False)
    assert (house.places.environments / ready.id).is_dir()
    (removed,) = collect(keep_days=0, apply=True, in_use=[])
    assert removed.removed
    assert not (house.places.environments / ready.id).exists()


def test_an_external_interpreter_is_watched(house: House, tmp_path: Path) -> None:
    ready = house.provider.ready("new")
    assert ready is not None
    copy = tmp_path / "site"
    subprocess.run(["cp", "-a", house.places.environments / ready.id, copy], check=True)
    python = copy / "bin" / "python"
    declare(
        house.root / "user", "site", more=f'# [tool.crystalmath]\n# python = "{python}"\n'
    )  # fmt: skip
    text = (house.root / "user" / "site.py").read_text().replace("# dependencies = []\n", "")
    (house.root / "user" / "site.py").write_text(text)
    found = house.provider.install("site")
    assert found.external
    code, said = house.run("site", "tell")
    assert code == 0, said
    assert json.loads(said)["file"].startswith(str(copy))
    meta = next(copy.rglob("numpy-*.dist-info/METADATA"))
    meta.write_text(meta.read_text().replace("Version: 2.2.6", "Version: 2.2.7"))
    with pytest.raises(EnvironmentBroken) as caught:
        house.run("site", "tell")
    assert "2.2.6 → 2.2.7" in caught.value.message
    (house.root / "user" / "site.py").unlink()


def test_once_built_no_network_is_needed(
    house: House, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:1")
    monkeypatch.setenv("UV_OFFLINE", "1")
    again = House(tmp_path)
    declare(again.root / "user", "new", "numpy==2.2.6")
    lock = next(house.places.locks.glob("new-*.lock"))
    again.places.locks.mkdir(parents=True)
    (again.places.locks / lock.name).write_bytes(lock.read_bytes())
    assert again.provider.install("new").id == house.provider.ready("new").id  # type: ignore[union-attr]
