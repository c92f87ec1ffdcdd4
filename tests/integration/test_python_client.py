"""The Python client and its auto-start against the real daemon: L1, L3, L14, L15 and its errors."""

from __future__ import annotations

import os
import random
import signal
import socket
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from crystalmath.client import Busy, Client, Disconnected, Down, ServerError, StartFailed
from crystalmath.client.starting import spawn
from crystalmath.errors import InvalidParams, NotFound, ShuttingDown, TransportError
from support.daemon import Daemon, wait_until


def client(daemon: Daemon, **options: Any) -> Client:
    return Client(env=daemon.env, **options)


def in_threads(count: int, work: Any) -> list[BaseException]:
    """Run ``work(number)`` in threads that begin together; return what they raised."""
    failures: list[BaseException] = []
    barrier = threading.Barrier(count)

    def run(number: int) -> None:
        barrier.wait(30)
        try:
            work(number)
        except BaseException as error:  # noqa: BLE001 - reported by the test
            failures.append(error)

    threads = [threading.Thread(target=run, args=(n,)) for n in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return failures


# --- talking ------------------------------------------------------------------------------------


def test_calls(running: Daemon) -> None:
    with client(running, auto_start=False) as talk:
        assert talk.server["server"] == "crystalmath-server"
        assert talk.system.ping()["pong"] is True
        assert talk.call("test.sleep", seconds=0) == {"done": True}
        assert talk.test.value(what="rows", size=3) == [{"i": 0}, {"i": 1}, {"i": 2}]
        assert talk.request("test.sleep", seconds=0) == {"status": "ok", "data": {"done": True}}
        assert "methods" in talk.rpc.discover()


def test_errors_are_the_exceptions_of_the_tree(running: Daemon) -> None:
    with client(running, auto_start=False) as talk:
        with pytest.raises(NotFound) as not_found:
            talk.test.not_found()
        error = not_found.value
        assert (error.message, error.hint, error.field) == (
            "There is no such thing.", "Look elsewhere.", "what",
        )  # fmt: skip
        assert any("trace id" in note for note in error.__notes__)
        with pytest.raises(InvalidParams) as invalid:
            talk.test.nested(name="x", inner={"number": 0})
        assert invalid.value.field == "inner.number"
        with pytest.raises(ServerError) as internal:
            talk.test.type_error()
        assert internal.value.rpc_code == -32603
        with pytest.raises(ServerError) as unknown:
            talk.no.such()
        assert unknown.value.rpc_code == -32601
        with pytest.raises(AttributeError):
            talk._private  # noqa: B018


def test_one_client_in_many_threads(running: Daemon) -> None:
    with client(running, auto_start=False) as talk:

        def work(number: int) -> None:
            for _ in range(20):
                assert len(talk.test.value(what="text", size=number)) == number

        assert in_threads(8, work) == []


def test_no_answer_in_time(running: Daemon) -> None:
    with client(running, auto_start=False, timeout_s=0.1) as talk:
        with pytest.raises(Busy, match=r"0\.1 s"):
            talk.test.sleep(seconds=5)
        assert talk.system.ping()["pong"]  # on a new connection: the late answer cannot mix in


def test_down(odd_daemon: Daemon) -> None:
    with pytest.raises(Down, match="No daemon listens"):
        client(odd_daemon, auto_start=False)
    assert odd_daemon.pids() == []


def test_somebody_who_never_answers(odd_daemon: Daemon) -> None:
    with socket.socket(socket.AF_UNIX) as mute:
        mute.bind(str(odd_daemon.socket))
        mute.listen(8)
        with pytest.raises(Busy):
            client(odd_daemon, start_timeout_s=0.2)
        assert odd_daemon.pids() == []


def test_no_server_program(odd_daemon: Daemon) -> None:
    odd_daemon.env["CRYSTALMATH_SERVER"] = "/nowhere/crystalmath-server"
    with pytest.raises(StartFailed, match="/nowhere/crystalmath-server"):
        client(odd_daemon)


def test_start_that_fails(odd_daemon: Daemon) -> None:
    odd_daemon.env["TEST_DAEMON_START"] = "fail:0"
    with pytest.raises(StartFailed, match="The database is a stone") as caught:
        client(odd_daemon)
    assert any(str(odd_daemon.log_path) in note for note in caught.value.__notes__)


# --- starting the daemon ------------------------------------------------------------------------


@pytest.mark.parametrize("before", ["nothing", "stale socket", "lock of a live process"])
def test_many_clients_start_one_daemon(odd_daemon: Daemon, before: str) -> None:
    lock = Path(f"{odd_daemon.socket}.lock")
    if before == "stale socket":
        with socket.socket(socket.AF_UNIX) as dead:
            dead.bind(str(odd_daemon.socket))
    elif before == "lock of a live process":
        lock.write_text(str(os.getpid()), encoding="ascii")
    pids: list[int] = []

    def work(_number: int) -> None:
        with client(odd_daemon, start_timeout_s=30) as talk:
            pids.append(talk.server["pid"])
            assert talk.system.ping()["pong"]

    assert in_threads(32, work) == []
    assert len(pids) == 32
    assert len(set(pids)) == 1
    wait_until(lambda: odd_daemon.pids() == [pids[0]], "one process is left")
    assert odd_daemon.call("system.status")["state"] == "ready"


def test_started_by_a_client(odd_daemon: Daemon) -> None:
    with client(odd_daemon):
        pointer = (odd_daemon.data / "server.json").read_text("utf-8")
        assert '"started": "auto"' in pointer
    assert odd_daemon.answers()  # it outlives the client


def test_killed_in_the_middle_of_a_call(odd_daemon: Daemon) -> None:
    with client(odd_daemon) as talk:
        first = talk.server["instance"]
        killer = threading.Timer(0.1, os.kill, (talk.server["pid"], signal.SIGKILL))
        killer.start()
        begin = time.monotonic()
        with pytest.raises(Disconnected):
            talk.test.change(seconds=30)
        killer.join()
        assert time.monotonic() - begin < 10
        assert talk.test.sleep(seconds=0) == {"done": True}  # started again
        assert talk.server["instance"] != first


def test_found_by_the_pointer(odd_daemon: Daemon) -> None:
    odd_daemon.start()
    elsewhere = odd_daemon.root / "elsewhere"
    elsewhere.mkdir(mode=0o700)
    odd_daemon.env["XDG_RUNTIME_DIR"] = str(elsewhere)
    with client(odd_daemon) as talk:
        assert talk.server["pid"] == odd_daemon.pid()
    assert not any(path.name.endswith(".start.lock") for path in elsewhere.iterdir())


# --- leaving ------------------------------------------------------------------------------------


def test_idle_exit(odd_daemon: Daemon) -> None:
    with client(odd_daemon) as talk:
        talk.system.ping()
    assert odd_daemon.stop().returncode == 0
    assert odd_daemon.run("start", "--idle-timeout", "0.2").returncode == 0
    wait_until(lambda: not odd_daemon.pids(), "it leaves")
    assert [p.name for p in odd_daemon.runtime.iterdir() if "lock" not in p.name] == []
    assert not (odd_daemon.data / "server.json").exists()
    assert any("idle" in str(line.get("msg")) for line in odd_daemon.log_lines())


def test_clients_and_jobs_keep_it_alive(odd_daemon: Daemon) -> None:
    marker = odd_daemon.root / "live"
    marker.touch()
    odd_daemon.start("--idle-timeout", "0.1", env={"TEST_DAEMON_LIVE_MARKER": str(marker)})
    pid = odd_daemon.pid()
    assert threading.Event().wait(0.5) is False  # five times the idle time, with a live job
    with odd_daemon.connect() as raw:
        assert raw.data("system.hello")["pid"] == pid
        marker.unlink()
        assert threading.Event().wait(0.5) is False  # and with a client
        assert raw.is_silent()
    wait_until(lambda: not odd_daemon.pids(), "it leaves")


def test_whoever_starts_it_may_come_late(odd_daemon: Daemon) -> None:
    """On a busy machine the starter's connection comes long after a short idle time."""
    odd_daemon.env["CRYSTALMATH_DAEMON_IDLE_TIMEOUT_S"] = "0.05"
    spawn(None, odd_daemon.env, 30)
    assert threading.Event().wait(0.5) is False
    with client(odd_daemon, auto_start=False) as talk:
        talk.system.ping()
    wait_until(lambda: not odd_daemon.pids(), "it leaves")


def test_clients_at_every_phase_of_the_idle_exit(odd_daemon: Daemon) -> None:
    """A sample of the 500 phases of the soak run."""
    rng = random.Random(15)
    odd_daemon.env["CRYSTALMATH_DAEMON_IDLE_TIMEOUT_S"] = "0.15"
    instances = set()
    for _ in range(10):
        with client(odd_daemon, start_timeout_s=30) as talk:
            assert talk.test.sleep(seconds=0) == {"done": True}
            instances.add(talk.server["instance"])
        threading.Event().wait(0.1 + rng.random() * 0.2)
    assert len(instances) > 1


def test_restarts_under_load(odd_daemon: Daemon) -> None:
    """A sample of the 50 restarts of the soak run: nothing is lost, nothing is left behind."""
    odd_daemon.start()
    over = threading.Event()
    wrong: list[BaseException] = []
    answered = 0

    def load() -> None:
        nonlocal answered
        talk: Client | None = None
        while not over.is_set():
            try:
                talk = talk or client(odd_daemon, start_timeout_s=30)
                talk.test.sleep(seconds=0.001)
                answered += 1
            except (ShuttingDown, Disconnected, Down):
                continue  # each of them says: try again
            except BaseException as error:  # noqa: BLE001 - reported by the test
                wrong.append(error)
                return
        if talk is not None:
            talk.close()

    threads = [threading.Thread(target=load) for _ in range(4)]
    for thread in threads:
        thread.start()
    for _ in range(5):
        before = answered
        wait_until(lambda before=before: answered > before + 20 or wrong, "the load goes on")
        assert odd_daemon.stop().returncode == 0
        assert odd_daemon.run("start").returncode == 0
    over.set()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert odd_daemon.stop().returncode == 0
    wait_until(lambda: not odd_daemon.pids(), "no process is left")
    left = {path.name for path in odd_daemon.runtime.iterdir()}
    assert left <= {"crystalmath.sock.lock", "crystalmath.sock.start.lock"}
    assert not (odd_daemon.data / "server.json").exists()


def test_foreign_server_is_refused(odd_daemon: Daemon, monkeypatch: pytest.MonkeyPatch) -> None:
    odd_daemon.start()
    monkeypatch.setattr(os, "getuid", lambda: 12345)
    with pytest.raises(TransportError, match="another user"):
        Client(odd_daemon.socket, env=odd_daemon.env)
