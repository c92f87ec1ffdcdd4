"""Run by ``test_private_tmp.py`` in a mount namespace with an empty ``/tmp`` and ``/run/user``."""

from __future__ import annotations

import itertools
import os
import shutil
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from crystalmath.client import Client
from crystalmath.errors import ConfigError
from support.daemon import Daemon, wait_until

pytestmark = pytest.mark.skipif(
    os.environ.get("CRYSTALMATH_PRIVATE_TMP") != "yes", reason="run by test_private_tmp.py"
)

UID = os.getuid()
FALLBACK = Path(f"/tmp/crystalmath-{UID}")
RUN_USER = Path(f"/run/user/{UID}")
VARIANTS = ("unset", "empty", "missing", "0755", "foreign", "read-only", "200 bytes")


@pytest.fixture(autouse=True)
def clean() -> Iterator[None]:
    yield
    for path in (FALLBACK, RUN_USER):
        if path.is_symlink() or path.is_file():
            path.unlink()
        shutil.rmtree(path, ignore_errors=True)


def runtime_directory(daemon: Daemon, variant: str) -> str | None:
    """Return the value of ``XDG_RUNTIME_DIR`` of a variant."""
    if variant == "unset":
        return None
    if variant == "empty":
        return ""
    if variant == "missing":
        return str(daemon.root / "missing")
    path = daemon.root / variant.replace(" ", "-")
    if variant == "200 bytes":
        path = daemon.root / ("d" * (199 - len(str(daemon.root))))
        assert len(str(path)) == 200
    path.mkdir(mode=0o700, exist_ok=True)
    if variant == "0755":
        path.chmod(0o755)
    elif variant == "read-only":
        path.chmod(0o500)
    elif variant == "foreign":
        try:
            os.chown(path, UID + 1, -1)
        except OSError:  # a namespace with one user only: what another one owns is nobody's
            return "/proc/sys/fs"
    return str(path)


def env_of(daemon: Daemon, variant: str) -> dict[str, str]:
    env = {k: v for k, v in daemon.env.items() if k != "XDG_RUNTIME_DIR"}
    value = runtime_directory(daemon, variant)
    return env if value is None else {**env, "XDG_RUNTIME_DIR": value}


@pytest.mark.parametrize("server", VARIANTS)
def test_every_client_finds_every_server(server: str, odd_daemon: Daemon) -> None:
    odd_daemon.env = env_of(odd_daemon, server)
    done = odd_daemon.run("start")
    assert done.returncode == 0, done.stderr
    for variant in VARIANTS:
        with Client(env=env_of(odd_daemon, variant), auto_start=False) as client:
            assert client.system.ping()["pong"], variant
    assert odd_daemon.stop().returncode == 0


@pytest.mark.parametrize("with_directory", [True, False], ids=["/run/user", "/tmp"])
@pytest.mark.parametrize("server_has_variable", [True, False])
def test_variable_on_one_side_only(
    odd_daemon: Daemon, server_has_variable: bool, with_directory: bool
) -> None:
    if with_directory:
        RUN_USER.mkdir(mode=0o700)
        odd_daemon.env["XDG_RUNTIME_DIR"] = str(RUN_USER)
    have = dict(odd_daemon.env)
    lack = {k: v for k, v in have.items() if k != "XDG_RUNTIME_DIR"}
    server, client = (have, lack) if server_has_variable else (lack, have)
    odd_daemon.env = server
    assert odd_daemon.run("start").returncode == 0
    with Client(env=client, auto_start=False) as talk:
        assert talk.system.ping()["pong"]


def test_simultaneous_starts_with_and_without_the_variable(odd_daemon: Daemon) -> None:
    have = dict(odd_daemon.env)
    lack = {k: v for k, v in have.items() if k != "XDG_RUNTIME_DIR"}
    pids: list[int] = []
    failures: list[BaseException] = []

    def work(env: dict[str, str]) -> None:
        try:
            with Client(env=env, start_timeout_s=30) as client:
                pids.append(client.server["pid"])
        except BaseException as error:  # noqa: BLE001 - reported below
            failures.append(error)

    envs = itertools.islice(itertools.cycle((have, lack)), 12)
    threads = [threading.Thread(target=work, args=(env,)) for env in envs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert len(pids) == 12
    assert len(set(pids)) == 1
    wait_until(lambda: odd_daemon.pids() == [pids[0]], "one daemon is left")


def foreign() -> None:
    FALLBACK.mkdir(mode=0o700)
    try:
        os.chown(FALLBACK, UID + 1, -1)
    except OSError:
        pytest.skip("this user cannot make a directory of another user")


def link() -> None:
    (FALLBACK.parent / "target").mkdir(mode=0o700, exist_ok=True)
    FALLBACK.symlink_to(FALLBACK.parent / "target")


def readable_by_others() -> None:
    FALLBACK.mkdir()
    FALLBACK.chmod(0o755)


def file() -> None:
    FALLBACK.touch()


@pytest.mark.parametrize("make", [foreign, link, readable_by_others, file])
def test_fallback_made_by_somebody_else(odd_daemon: Daemon, make: Callable[[], None]) -> None:
    make()
    odd_daemon.env = env_of(odd_daemon, "unset")
    for command in ("start", "status", "stop"):
        done = odd_daemon.run(command)
        assert done.returncode == 1
        assert str(FALLBACK) in done.stderr
    with pytest.raises(ConfigError, match="not a directory of yours"):
        Client(env=odd_daemon.env)
    assert odd_daemon.pids() == []
    assert FALLBACK.is_symlink() or not FALLBACK.is_dir() or not list(FALLBACK.iterdir())


def test_fallback_is_private(odd_daemon: Daemon) -> None:
    odd_daemon.env = env_of(odd_daemon, "unset")
    assert odd_daemon.run("start", umask=0).returncode == 0
    assert FALLBACK.stat().st_mode & 0o777 == 0o700
    assert (FALLBACK / "crystalmath.sock").stat().st_mode & 0o777 == 0o600
