"""Real packages that exclude each other, side by side, and processes in their environments.

numpy 1.26 and 2.2 are installed once for all tests; they are fetched if uv's cache has them not.
"""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from crystalmath.errors import EnvironmentBroken, EnvironmentUnbuildable
from crystalmath.isolation.declaration import load_declaration
from crystalmath.isolation.guard import descendants
from crystalmath.isolation.lock import lock_path
from crystalmath.isolation.uv import cache_directory
from support.isolated import PATIENCE_S, House, alive, until

OLD, NEW = "numpy==1.26.4", "numpy==2.2.6"
STARTER = Path(__file__).parents[1] / "support" / "starter.py"
SLEEPER = "sys.stderr.write('up'); sys.stderr.flush(); time.sleep(600)"
DEAF = (
    "import signal, subprocess; signal.signal(15, signal.SIG_IGN); "
    "subprocess.Popen([sys.executable, '-c', 'import os, time; os.setsid(); time.sleep(600)']); "
    "sys.stderr.write('up'); sys.stderr.flush(); time.sleep(600)"
)


@contextmanager
def traps(folder: Path) -> Iterator[None]:
    """A host that is full of things which leak into careless children."""
    trap = f"open({str(folder / 'caught')!r}, 'a').write(__file__)\nraise SystemExit('a trap')\n"
    for name in ("numpy.py", "usercustomize.py", "sitecustomize.py", "json.py"):
        (folder / name).write_text(trap)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("PYTHONPATH", str(folder))
        patch.setenv("PYTHONUSERBASE", str(folder))
        patch.setenv("PYTHONHOME", "/nonexistent")
        patch.setenv("PYTHONSTARTUP", str(folder / "numpy.py"))
        patch.setenv("VIRTUAL_ENV", "/nonexistent")
        patch.setenv("LD_LIBRARY_PATH", str(folder))
        patch.setenv("MY_API_KEY", "a secret")
        yield


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> House:
    """Both environments, built on a host with traps."""
    made = House(tmp_path_factory.mktemp("house"))
    made.declare("old", OLD)
    made.declare("new", NEW)
    with traps(tmp_path_factory.mktemp("building")):
        for name in ("old", "new"):
            try:
                made.provider.install(name)
            except EnvironmentUnbuildable as error:
                if os.environ.get("CI") == "true" or "fetch" not in error.message:
                    raise
                pytest.skip(f"the package index cannot be reached: {error.message}")
    return made


def told(house: House, engine: str, tmp_path: Path, **more: object) -> dict[str, object]:
    answer = tmp_path / f"{engine}.json"
    code, said = house.run(engine, "tell", str(answer), **more)
    assert (code, said) == (0, "")
    found: dict[str, object] = json.loads(answer.read_text())
    return found


# --- isolation --------------------------------------------------------------------------------


def test_what_excludes_each_other_lives_side_by_side(house: House, tmp_path: Path) -> None:
    for name, version in (("old", "1.26.4"), ("new", "2.2.6")):
        ready = house.provider.ready(name)
        assert ready is not None
        directory = str(house.places.environments / ready.id)
        with traps(tmp_path):
            found = told(house, name, tmp_path)
            checked = house.provider.check(name)
        assert found["version"] == version
        assert str(found["file"]).startswith(directory)
        assert str(tmp_path) not in str(found["path"])
        assert checked["ok"], checked["problems"]
        assert checked["facts"]["shared_objects"] > 5
    assert not (tmp_path / "caught").exists()


def test_no_variable_descriptor_or_file_is_inherited(house: House, tmp_path: Path) -> None:
    secret = os.open("/dev/null", os.O_RDONLY)
    os.set_inheritable(secret, True)
    given, other = socket.socketpair()
    with traps(tmp_path), given, other:
        found = told(house, "new", tmp_path, pass_fds=(given.fileno(),), threads=3)
        fds = found["fds"]
        assert isinstance(fds, list)
        assert fds == [0, 1, 2, given.fileno()]
    os.close(secret)
    env = found["env"]
    assert isinstance(env, dict)
    for name in ("MY_API_KEY", "PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "LD_LIBRARY_PATH"):
        assert name not in env
    assert env["OMP_NUM_THREADS"] == "3"
    assert found["cwd"] == []


def test_what_a_process_writes_lands_in_its_own_caches(house: House) -> None:
    variables = ("HOME", "XDG_CACHE_HOME", "HF_HOME", "TORCH_HOME", "MPLCONFIGDIR",
                 "TRITON_CACHE_DIR", "TORCHINDUCTOR_CACHE_DIR", "WARP_CACHE_PATH")  # fmt: skip
    code = (
        f"for name in {variables!r}:\n"
        "    os.makedirs(os.environ[name], exist_ok=True)\n"
        "    open(os.environ[name] + '/mark-' + name, 'w').write('1')\n"
        "open(os.path.expanduser('~/mark-tilde'), 'w').write('1')\n"
        "open('mark-cwd', 'w').write('1')\n"
    )
    assert house.run("new", "exec", code) == (0, "")
    found = sorted(p.name for p in house.places.data_dir.rglob("mark-*"))
    assert found == sorted([*(f"mark-{name}" for name in variables), "mark-tilde"])
    assert all(p.is_relative_to(house.places.caches("new")) for p in
               house.places.data_dir.rglob("mark-*"))  # fmt: skip
    assert not (Path.home() / "mark-tilde").exists()
    assert list(house.places.caches("new").glob("work-*")) == []


def test_two_children_live_at_once(house: House) -> None:
    code = "import numpy; sys.stderr.write(numpy.__version__); sys.stderr.flush(); time.sleep(600)"
    both = {name: house.start(name, "exec", code) for name in ("old", "new")}
    until(lambda: both["old"].stderr_tail() == "1.26.4", "numpy 1.26 is imported")
    until(lambda: both["new"].stderr_tail() == "2.2.6", "numpy 2.2 is imported")
    assert [one.poll() for one in both.values()] == [None, None]
    for one in both.values():
        one.stop(0.0)
        assert one.poll() is not None


# --- without a network ----------------------------------------------------------------------------


@pytest.fixture
def proxy(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[bytes]]:
    """What tries to use the network says so here."""
    asked: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer() -> None:
            while True:
                try:
                    connection, _ = server.accept()
                except OSError:
                    return
                with connection:
                    asked.append(connection.recv(4096))

        thread = threading.Thread(target=answer, daemon=True)
        thread.start()
        address = f"http://127.0.0.1:{server.getsockname()[1]}"
        for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
            monkeypatch.setenv(name, address)
            monkeypatch.setenv(name.lower(), address)
        monkeypatch.delenv("NO_PROXY", raising=False)
        monkeypatch.delenv("no_proxy", raising=False)
        yield asked
        server.shutdown(socket.SHUT_RDWR)


def test_what_the_cache_holds_is_installed_without_the_network(
    house: House, tmp_path: Path, proxy: list[bytes]
) -> None:
    again = House(tmp_path)
    path = again.declare("new", NEW)
    (house.root / "user" / "new.py").write_bytes(path.read_bytes())
    lock = lock_path(load_declaration(path, "user"), again.places)
    lock.parent.mkdir(parents=True)
    lock.write_bytes(next(house.places.locks.glob("new-*.lock")).read_bytes())
    first = house.provider.ready("new")
    assert first is not None
    assert again.provider.install("new").id == first.id
    assert told(again, "new", tmp_path)["version"] == "2.2.6"
    assert proxy == []
    # The trap itself works: what is not in the cache is asked for there.
    empty = House(tmp_path, uv_cache=tmp_path / "empty")
    again.declare("other", "numpy==2.2.5")
    with pytest.raises(EnvironmentUnbuildable):
        empty.provider.install("other")
    assert proxy != []


def test_packages_are_hard_links_where_that_is_possible(house: House) -> None:
    same = cache_directory(house.places).stat().st_dev == house.places.data_dir.stat().st_dev
    assert same, "uv's cache is chosen so that it lies on the same file system"
    (row,) = [row for row in house.provider.environments() if "new" in row.engines]
    assert row.apparent_bytes > 40_000_000
    assert row.size_bytes < row.apparent_bytes / 2


# --- other interpreters ---------------------------------------------------------------------------


def test_an_external_interpreter_is_used_as_it_is_and_watched(house: House, tmp_path: Path) -> None:
    ready = house.provider.ready("new")
    assert ready is not None
    copy = tmp_path / "site"
    subprocess.run(["cp", "-a", house.places.environments / ready.id, copy], check=True)
    for bytecode in copy.rglob("__pycache__"):
        subprocess.run(["rm", "-r", bytecode], check=True)
    path = house.root / "user" / "site.py"
    path.write_text(
        f'# /// script\n# [tool.crystalmath]\n# python = "{copy}/bin/python"\n# ///\n'
        "def setup(model): ...\n"
    )
    try:
        assert house.provider.ready("site") is None
        found = house.provider.install("site")
        assert found.external
        assert house.provider.ready("site") == found
        assert str(told(house, "site", tmp_path)["file"]).startswith(str(copy))
        assert house.provider.check("site")["ok"]
        assert [r.state for r in house.provider.environments() if r.external] == ["ready"]
        meta = next(copy.rglob("numpy-*.dist-info/METADATA"))
        changed = meta.read_text().replace("Version: 2.2.6", "Version: 2.2.7")
        meta.unlink()  # it may be a hard link
        meta.write_text(changed)
        with pytest.raises(EnvironmentBroken, match=r"2\.2\.6 → 2\.2\.7"):
            house.start("site", "exec", "pass")
        assert not house.provider.check("site")["ok"]
        house.provider.install("site")
        assert house.provider.check("site")["ok"]
    finally:
        path.unlink()


def test_the_hosts_own_interpreter_runs_apart(house: House) -> None:
    path = house.root / "user" / "own.py"
    path.write_text("# /// script\n# [tool.crystalmath]\n# host = true\n# ///\n"
                    "def setup(model): ...\n")  # fmt: skip
    try:
        ready = house.provider.ready("own")
        assert ready is not None
        assert (ready.id, ready.python) == ("host", sys.executable)
        assert house.provider.expected_bytes("own") == 0
        assert house.provider.check("own")["ok"]
        assert house.run("own", "exec", "import ase; sys.stderr.write(str(os.getpid()))")[0] == 0
    finally:
        path.unlink()


# --- ends -------------------------------------------------------------------------------------


def test_how_a_process_ended_is_told(house: House) -> None:
    process = house.start("new", "exec", "sys.stderr.write('last words'); sys.exit(7)")
    assert process.wait(PATIENCE_S) == 7
    report = process.report("loading")
    assert (report.exit_code, report.signal, report.phase) == (7, None, "loading")
    assert report.stderr_tail == "last words"
    assert report.oom_killed in (False, None)
    process = house.start("new", "exec", "os.kill(os.getpid(), 11)")
    assert process.wait(PATIENCE_S) == -signal.SIGSEGV
    assert process.report("x").signal == signal.SIGSEGV
    process = house.start("new", "exec", "os._exit(137)")
    assert process.wait(PATIENCE_S) == 137


def test_an_interpreter_that_cannot_be_started_says_why(house: House) -> None:
    ready = house.provider.ready("new")
    assert ready is not None
    process = house.host.start(replace(ready, python="/nonexistent/python"), ["exec", "pass"])
    assert process.wait(PATIENCE_S) == 127
    assert "/nonexistent/python: No such file" in process.stderr_tail()


def test_a_flood_of_words_is_cut_and_blocks_nothing(house: House) -> None:
    flood = "for _ in range(2000): sys.stderr.write('x' * 5000)\nsys.stderr.write('the end')"
    process = house.start("new", "exec", flood, name="flood")
    assert process.wait(PATIENCE_S) == 0
    assert process.stderr_tail().endswith("the end")
    assert len(process.stderr_tail()) <= 8192
    (log,) = house.places.logs.glob("flood-*.stderr")
    assert 32 * 1024 <= log.stat().st_size <= 64 * 1024


def test_who_obeys_term_ends_by_himself(house: House) -> None:
    code = (
        "import signal\n"
        "def end(*_):\n    sys.stderr.write(' bye'); sys.stderr.flush(); os._exit(3)\n"
        "signal.signal(15, end)\nsys.stderr.write('up'); sys.stderr.flush(); time.sleep(600)"
    )
    process = house.start("new", "exec", code)
    until(lambda: process.stderr_tail() == "up", "it is up")
    process.stop(PATIENCE_S)
    assert process.poll() == 3
    assert process.stderr_tail() == "up bye"


@pytest.mark.parametrize("stopped", [False, True])
def test_what_is_deaf_to_term_is_killed_with_its_children(house: House, stopped: bool) -> None:
    process = house.start("new", "exec", DEAF)
    until(lambda: process.stderr_tail() == "up", "it is up")
    until(lambda: len(descendants(process.pid)) == 2, "its child is up")
    everybody = [process.pid, *descendants(process.pid)]
    if stopped:
        for pid in everybody[1:]:
            os.kill(pid, signal.SIGSTOP)
    process.stop(0.2)
    assert process.poll() == -signal.SIGKILL
    assert not any(alive(pid) for pid in everybody)


def test_what_a_process_leaves_behind_goes_with_it(house: House) -> None:
    code = "import subprocess; subprocess.Popen(['setsid', 'sleep', '600']); print('x')"
    process = house.start("new", "exec", code)
    assert process.wait(PATIENCE_S) == 0
    assert descendants(process.pid) == []


def test_a_killed_host_leaves_nothing(house: House) -> None:
    host = subprocess.Popen(
        [sys.executable, STARTER, house.root, "new", DEAF], stdout=subprocess.PIPE, text=True
    )
    assert host.stdout is not None
    with host.stdout:
        guard = int(host.stdout.readline())
    until(lambda: len(descendants(guard)) == 2, "the grandchild is up")
    everybody = [guard, *descendants(guard)]
    host.send_signal(signal.SIGKILL)
    host.wait()
    until(lambda: not any(alive(pid) for pid in everybody), "all are gone", patience_s=20)


def test_a_killed_guard_takes_the_process_with_it(house: House) -> None:
    process = house.start("new", "exec", SLEEPER)
    until(lambda: process.stderr_tail() == "up", "it is up")
    (worker,) = descendants(process.pid)
    os.kill(process.pid, signal.SIGKILL)
    assert process.wait(PATIENCE_S) == -signal.SIGKILL
    until(lambda: not alive(worker), "the process is gone")


def test_nothing_heavy_is_loaded_here() -> None:
    code = (
        "import sys; before = set(sys.modules)\n"
        "import crystalmath.isolation.provider, crystalmath.isolation.process\n"
        "heavy = {'numpy', 'ase', 'torch', 'aiida', 'scipy'} & {m.partition('.')[0] for m in\n"
        "         set(sys.modules) - before}\n"
        "sys.exit(str(heavy) if heavy else 0)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
