"""Start, stop, status, and what may be in the way: L2, L5, L9, L10, L12, L13, L17 to L22."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from support.daemon import PATIENCE_S, ROOT, Daemon, descriptors, wait_until

MakeDaemon = Callable[..., Daemon]


def mode(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


# --- start, stop, status ------------------------------------------------------------------------


def test_start_twice(odd_daemon: Daemon) -> None:
    first, second = odd_daemon.run("start"), odd_daemon.run("start")
    assert (first.returncode, second.returncode) == (0, 0)
    assert first.stdout.startswith("started (pid ")
    assert second.stdout.startswith("already running (pid ")
    pids = {re.search(r"pid (\d+)", done.stdout).group(1) for done in (first, second)}  # type: ignore[union-attr]
    assert pids == {str(odd_daemon.pid())}
    for word in (odd_daemon.hello()["version"], str(odd_daemon.socket)):
        assert word in second.stdout


def test_status(odd_daemon: Daemon) -> None:
    down = odd_daemon.run("status")
    assert (down.returncode, odd_daemon.pids()) == (3, [])
    assert list(odd_daemon.runtime.iterdir()) == []
    assert json.loads(odd_daemon.run("status", "--json").stdout)["outcome"] == "down"
    odd_daemon.start()
    up = odd_daemon.run("status", "--json")
    assert up.returncode == 0
    document = json.loads(up.stdout)
    assert document["outcome"] == "running"
    assert document["status"]["pid"] == odd_daemon.pid()
    assert str(odd_daemon.pid()) in odd_daemon.run("status").stdout


def test_status_of_a_stopped_process(odd_daemon: Daemon) -> None:
    odd_daemon.start()
    pid = odd_daemon.pid()
    os.kill(pid, signal.SIGSTOP)
    try:
        silent = odd_daemon.run("status")
        assert silent.returncode == 4
        assert "nobody answers" in silent.stdout
    finally:
        os.kill(pid, signal.SIGCONT)
    assert odd_daemon.run("status").returncode == 0


def test_stop(odd_daemon: Daemon) -> None:
    assert odd_daemon.stop().returncode == 0
    odd_daemon.start()
    done = odd_daemon.stop()
    assert (done.returncode, done.stdout.strip()) == (0, "stopped")
    assert [p.name for p in odd_daemon.runtime.iterdir()] == ["crystalmath.sock.lock"]
    assert not (odd_daemon.data / "server.json").exists()
    wait_until(lambda: not odd_daemon.pids(), "no process is left")
    assert odd_daemon.stop().stdout.strip() == "not running"


def test_forced_stop(odd_daemon: Daemon) -> None:
    odd_daemon.start()
    os.kill(odd_daemon.pid(), signal.SIGSTOP)
    done = odd_daemon.run("stop", "--force")
    assert done.returncode == 0, done.stderr
    wait_until(lambda: not odd_daemon.pids(), "it is gone")
    assert odd_daemon.run("status").returncode == 3
    odd_daemon.start()


def test_forced_stop_signals_nobody_else(odd_daemon: Daemon) -> None:
    odd_daemon.start()
    pointer = json.loads((odd_daemon.data / "server.json").read_text("utf-8"))
    pid = odd_daemon.pid()
    with subprocess.Popen(["sleep", "600"]) as bystander:
        pointer["pid"] = bystander.pid  # its start time is another one
        (odd_daemon.data / "server.json").write_text(json.dumps(pointer), encoding="utf-8")
        os.kill(pid, signal.SIGSTOP)
        done = odd_daemon.run("stop", "--force")
        os.kill(pid, signal.SIGCONT)
        assert done.returncode == 1
        assert "nothing is signalled" in done.stderr
        assert bystander.poll() is None
        bystander.kill()


def test_stop_and_start_have_no_gap(odd_daemon: Daemon) -> None:
    instances = {odd_daemon.start()["instance"]}
    for _ in range(3):
        assert odd_daemon.stop().returncode == 0
        instances.add(odd_daemon.start()["instance"])
    assert len(instances) == 4


def test_options_before_and_behind_the_command(odd_daemon: Daemon) -> None:
    path = odd_daemon.root / "other.sock"
    assert odd_daemon.run("--socket", str(path), "start").returncode == 0
    assert path.is_socket()
    assert odd_daemon.run("status", "--socket", "other.sock", cwd=odd_daemon.root).returncode == 0
    assert odd_daemon.run("stop", "--socket", str(path)).returncode == 0


def test_shutdown_of_another_instance(odd_daemon: Daemon) -> None:
    instance = odd_daemon.start()["instance"]
    with odd_daemon.connect() as raw:
        reply = raw.ask(raw.request("system.shutdown", {"if_instance": "another"}))
        assert (reply["error"]["code"], reply["error"]["data"]["kind"]) == (-32000, "conflict")
        answer = raw.data("system.shutdown", {"if_instance": instance})
        assert answer == {"state": "stopping", "remaining": 0}
    wait_until(lambda: not odd_daemon.pids(), "it stops")


def test_logs_and_openrpc_need_no_daemon(daemon: Daemon) -> None:
    assert daemon.run("logs").returncode == 0
    document = daemon.run("openrpc")
    assert document.returncode == 0
    assert "jobs.submit" in {m["name"] for m in json.loads(document.stdout)["methods"]}
    assert daemon.pids() == []


def test_following_the_log(odd_daemon: Daemon) -> None:
    odd_daemon.start()
    follower = odd_daemon.popen("logs", "-f")
    assert follower.stdout is not None
    assert b'"ready' in follower.stdout.readline()
    odd_daemon.log_path.rename(odd_daemon.log_path.with_name("moved"))
    os.kill(odd_daemon.pid(), signal.SIGHUP)
    wait_until(odd_daemon.log_path.exists, "the log is opened anew")
    with odd_daemon.connect() as raw:
        raw.outcome("test.type_error")
    while True:
        line = follower.stdout.readline()
        assert line, "the follower ended"
        if b"test.type_error failed" in line:
            break
    follower.send_signal(signal.SIGINT)
    assert follower.wait(PATIENCE_S) == 0


# --- what is in the way -------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["live", "file", "directory", "symlink", "fifo"])
def test_foreign_objects_at_the_path(odd_daemon: Daemon, kind: str) -> None:
    path = odd_daemon.socket
    live = socket.socket(socket.AF_UNIX)
    if kind == "live":
        live.bind(str(path))
        live.listen(4)
    elif kind == "file":
        path.write_text("mine", encoding="ascii")
    elif kind == "directory":
        path.mkdir()
    elif kind == "symlink":
        path.symlink_to("/nowhere")
    else:
        os.mkfifo(path)
    before = path.lstat()
    done = odd_daemon.run("start")
    assert done.returncode == 1
    assert str(path) in done.stderr
    assert "left as it is" in done.stderr
    after = path.lstat()
    assert (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns)
    live.close()


@pytest.mark.parametrize("length", [107, 108, 130])
def test_length_of_the_path(odd_daemon: Daemon, length: int) -> None:
    name = "s" * 9  # as long as the temporary name, which counts too
    directory = odd_daemon.root / ("d" * (length - len(str(odd_daemon.root)) - 2 - len(name)))
    directory.mkdir(mode=0o700)
    path = f"{directory}/{name}"
    assert len(path) == length
    hello_path = path
    done = odd_daemon.run("start", "--socket", path)
    assert done.returncode == 0, done.stderr
    reported = re.search(r"socket (\S+)\)", done.stdout)
    assert reported is not None
    if length > 107:
        hello_path = reported.group(1)
        assert hello_path != path
        assert re.fullmatch(rf"/tmp/crystalmath-{os.getuid()}/[0-9a-f]{{8}}\.sock", hello_path)
        assert "107 bytes" in done.stderr
        assert path in done.stderr
    with odd_daemon.connect(hello_path) as raw:
        assert raw.data("system.ping")["pong"]
    assert odd_daemon.run("status", "--socket", path).returncode == 0
    assert odd_daemon.run("stop", "--socket", path).returncode == 0
    for left in Path(hello_path).parent.glob(f"{Path(hello_path).name}*"):
        left.unlink()


def test_one_database_two_runtime_directories(odd_daemon: Daemon, make_daemon: MakeDaemon) -> None:
    odd_daemon.start()
    other = make_daemon(data=odd_daemon.data)
    done = other.run("start")
    assert done.returncode == 0
    assert "already running" in done.stdout
    assert str(odd_daemon.socket) in done.stdout
    explicit = other.run("start", "--socket", str(other.root / "x.sock"))
    assert explicit.returncode == 1
    assert str(odd_daemon.socket) in explicit.stderr
    assert not other.socket.exists()
    wait_until(lambda: not other.pids(), "the second one is gone")
    # and the commands find it by the pointer
    assert other.run("status").returncode == 0
    assert other.stop().returncode == 0
    assert odd_daemon.run("status").returncode == 3


def test_stale_pointer_and_socket(odd_daemon: Daemon) -> None:
    odd_daemon.start()
    os.kill(odd_daemon.pid(), signal.SIGKILL)
    wait_until(lambda: not odd_daemon.pids(), "it is dead")
    assert odd_daemon.socket.exists()
    assert (odd_daemon.data / "server.json").exists()
    assert odd_daemon.run("status").returncode == 3
    odd_daemon.start()


def test_lock_file_that_names_a_live_process(odd_daemon: Daemon) -> None:
    lock = odd_daemon.runtime / "crystalmath.sock.lock"
    lock.write_text(str(os.getpid()), encoding="ascii")
    odd_daemon.start()


def test_socket_deleted(odd_daemon: Daemon) -> None:
    first = odd_daemon.start(env={"CRYSTALMATH_DAEMON_SELF_CHECK_S": "0.1"})
    odd_daemon.socket.unlink()
    wait_until(odd_daemon.answers, "it is published again")
    assert odd_daemon.hello()["instance"] == first["instance"]
    # what is not ours is not touched, and everything goes on when it is away again
    odd_daemon.socket.unlink()
    odd_daemon.socket.write_text("mine", encoding="ascii")
    wait_until(
        lambda: any("not our socket" in str(line.get("msg")) for line in odd_daemon.log_lines()),
        "it is noticed",
    )
    assert odd_daemon.socket.read_text("ascii") == "mine"
    odd_daemon.socket.unlink()
    wait_until(odd_daemon.answers, "it is published again")
    assert odd_daemon.hello()["instance"] == first["instance"]


# --- stopping -----------------------------------------------------------------------------------


def test_sigterm_lets_a_request_finish(odd_daemon: Daemon) -> None:
    process = odd_daemon.foreground()
    with odd_daemon.connect() as busy, odd_daemon.connect() as other:
        assert other.is_silent()
        busy.send(busy.request("test.change", {"seconds": 1.0}, id="slow"))
        wait_until(lambda: other.data("system.status")["in_flight"], "it runs")
        process.send_signal(signal.SIGTERM)
        wait_until(lambda: other.outcome("system.ping") == -32010, "new ones are refused")
        assert other.data("system.hello")["state"] == "stopping"
        reply = busy.reply()
        assert (reply["id"], reply["result"]["data"]) == ("slow", {"done": True})
        assert process.wait(100) == 0
    assert not odd_daemon.socket.exists()


def test_second_sigterm_is_now(odd_daemon: Daemon) -> None:
    process = odd_daemon.foreground()
    with odd_daemon.connect() as busy, odd_daemon.connect() as other:
        busy.send(busy.request("test.change", {"seconds": 60}))
        wait_until(lambda: other.data("system.status")["in_flight"], "it runs")
        process.send_signal(signal.SIGTERM)
        wait_until(lambda: other.outcome("system.ping") == -32010, "it stops")
        process.send_signal(signal.SIGTERM)
        process.wait(PATIENCE_S)
    assert not odd_daemon.socket.exists()


def test_stop_now(odd_daemon: Daemon) -> None:
    process = odd_daemon.foreground()
    with odd_daemon.connect() as busy, odd_daemon.connect() as other:
        busy.send(busy.request("test.change", {"seconds": 60}))
        wait_until(lambda: other.data("system.status")["in_flight"], "it runs")
        assert other.data("system.shutdown", {"mode": "now"})["remaining"] == 1
        assert process.wait(PATIENCE_S) == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_sigterm_with_idle_clients(odd_daemon: Daemon, number: signal.Signals) -> None:
    process = odd_daemon.foreground()
    with odd_daemon.connect() as one, odd_daemon.connect() as two:
        assert one.is_silent()
        assert two.is_silent()
        process.send_signal(number)
        assert process.wait(PATIENCE_S) == 0
        assert one.is_closed()
    assert not odd_daemon.socket.exists()


# --- failing to start ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("plan", "message"),
    [
        ("fail:0", "The database is a stone."),
        ("import", "No module named 'unobtainium'"),
        ("die", "died while starting"),
    ],
)
def test_failing_initialisation(odd_daemon: Daemon, plan: str, message: str) -> None:
    done = odd_daemon.run("start", env={"TEST_DAEMON_START": plan})
    assert done.returncode == 1
    assert message in done.stderr
    assert str(odd_daemon.log_path) in done.stderr
    wait_until(lambda: not odd_daemon.pids(), "no process is left")
    odd_daemon.start()


def test_waiting_request_gets_the_reason(odd_daemon: Daemon, tmp_path: Path) -> None:
    go_on = tmp_path / "go-on"
    process = odd_daemon.popen("start", env={"TEST_DAEMON_START": f"fail:{go_on}"})
    wait_until(odd_daemon.socket.exists, "the socket is there")
    with odd_daemon.connect() as raw:
        assert raw.data("system.hello")["state"] == "starting"
        raw.send(raw.request("test.sleep", {"seconds": 0}), raw.request("jobs.list", {}))
        assert raw.data("system.ping")["pong"]  # so it has read both, and they wait
        go_on.touch()
        for _ in range(2):
            error = raw.reply()["error"]
            assert (error["code"], error["message"]) == (-32001, "The database is a stone.")
    assert process.wait(PATIENCE_S) == 1


def test_requests_wait_for_a_slow_start(odd_daemon: Daemon, tmp_path: Path) -> None:
    go_on = tmp_path / "go-on"
    process = odd_daemon.popen("start", env={"TEST_DAEMON_START": f"slow:{go_on}"})
    wait_until(odd_daemon.socket.exists, "the socket is there")
    with odd_daemon.connect() as raw:
        raw.send(raw.request("test.sleep", {"seconds": 0}, id=1), raw.request("no.such", {}, id=2))
        assert raw.data("system.hello")["state"] == "starting"
        assert raw.data("system.ping")["pong"]
        go_on.touch()
        replies = {reply["id"]: reply for reply in (raw.reply(), raw.reply())}
        assert replies[1]["result"]["data"] == {"done": True}
        assert replies[2]["error"]["code"] == -32601
    assert process.wait(PATIENCE_S) == 0


def test_bad_configuration(odd_daemon: Daemon) -> None:
    odd_daemon.write_config("[daemon]\nidle = 3\n")
    for command in (["start"], ["--foreground"]):
        done = odd_daemon.run(*command)
        assert done.returncode == 1
        assert "config.toml, line 2: unknown key 'idle'" in done.stderr
    assert odd_daemon.pids() == []


def test_bad_configuration_hinders_neither_look_nor_stop(odd_daemon: Daemon) -> None:
    odd_daemon.start()
    odd_daemon.write_config("[daemon]\nidle = 3\n")
    assert odd_daemon.run("status").returncode == 0
    assert odd_daemon.run("logs").returncode == 0
    assert odd_daemon.stop().returncode == 0
    assert odd_daemon.pids() == []


def test_a_daemon_started_by_a_job_does_not_carry_its_key(odd_daemon: Daemon) -> None:
    marks = {"CRYSTALMATH_JOB_KEY": "0" * 32, "CRYSTALMATH_JOB_ATTEMPT": "1"}
    odd_daemon.start(env=marks)
    environment = Path(f"/proc/{odd_daemon.pid()}/environ").read_bytes()
    assert b"CRYSTALMATH_JOB" not in environment


def test_bad_configuration_over_the_ready_pipe(odd_daemon: Daemon) -> None:
    odd_daemon.write_config("[daemon]\nidle = 3\n")
    reading, writing = os.pipe()
    process = odd_daemon.popen("start", "--ready-fd", str(writing), pass_fds=[writing])
    os.close(writing)
    with os.fdopen(reading) as lines:
        (message,) = [json.loads(line) for line in lines]
    assert "unknown key" in message["error"]["message"]
    assert process.wait(PATIENCE_S) == 1


def test_ready_pipe(odd_daemon: Daemon) -> None:
    reading, writing = os.pipe()
    env = {"TEST_DAEMON_START": "slow:0.05"}
    process = odd_daemon.popen("start", "--ready-fd", str(writing), pass_fds=[writing], env=env)
    os.close(writing)
    with os.fdopen(reading) as lines:
        messages = [json.loads(line) for line in lines]
    assert messages[0] == {"progress": "taking its time"}
    assert set(messages[-1]) == {"ready"}
    facts = messages[-1]["ready"]
    hello = odd_daemon.hello()
    assert (facts["pid"], facts["instance"]) == (hello["pid"], hello["instance"])
    assert facts["socket"] == str(odd_daemon.socket)
    assert process.wait(PATIENCE_S) == 0


def test_unusable_data_directory(odd_daemon: Daemon) -> None:
    blocked = odd_daemon.root / "blocked"
    blocked.write_text("", encoding="ascii")
    done = odd_daemon.run("start", env={"CRYSTALMATH_DATA_DIR": str(blocked / "data")})
    assert done.returncode == 1
    assert str(blocked) in done.stderr


def test_damaged_database(daemon: Daemon) -> None:
    daemon.data.mkdir(parents=True)
    (daemon.data / "crystalmath.db").write_bytes(b"this is no database" * 1000)
    done = daemon.run("start")
    assert done.returncode == 1
    assert "database" in done.stderr.lower()
    assert str(daemon.log_path) in done.stderr
    assert daemon.run("status").returncode == 3


# --- the process itself -------------------------------------------------------------------------


def test_start_returns_inside_pipes(odd_daemon: Daemon) -> None:
    shell = 'out=$("$CRYSTALMATH_SERVER" start); echo "[$out]"; "$CRYSTALMATH_SERVER" start | cat'
    done = subprocess.run(
        ["/bin/sh", "-c", shell], env=odd_daemon.env, capture_output=True, text=True, timeout=60,
        check=True,
    )  # fmt: skip
    first, second = done.stdout.splitlines()
    assert first.startswith("[started")
    assert second.startswith("already running")


def test_descriptors_of_the_daemon(odd_daemon: Daemon) -> None:
    extra = os.open("/dev/zero", os.O_RDONLY)
    done = odd_daemon.run("start", pass_fds=[extra])
    os.close(extra)
    assert done.returncode == 0, done.stderr
    pid = odd_daemon.pid()
    wait_until(lambda: odd_daemon.call("system.status")["clients"] == 1, "other clients are gone")
    held = descriptors(pid)
    assert held[0] == "/dev/null"
    assert held[1] == held[2] == str(odd_daemon.log_path)
    allowed = re.compile(r"/dev/null|.*/server\.log|.*\.lock|socket:\[\d+\]|pipe:\[\d+\]")
    assert [v for v in held.values() if not allowed.fullmatch(v)] == []
    pipes = {v for v in held.values() if v.startswith("pipe:")}
    assert len(pipes) == 1  # its own wake-up pipe, both ends
    assert Path(f"/proc/{pid}/cwd").readlink() == Path("/")
    assert os.getsid(pid) != pid  # no session leader: it can get no terminal
    assert os.getpgid(pid) == os.getsid(pid)


@pytest.mark.parametrize("closed", ["0<&-", "1>&-", "0<&- 1>&- 2>&-"])
def test_start_with_closed_descriptors(odd_daemon: Daemon, closed: str) -> None:
    shell = f'"$CRYSTALMATH_SERVER" start {closed}'
    done = subprocess.run(["/bin/sh", "-c", shell], env=odd_daemon.env, timeout=60, check=False)
    assert done.returncode == 0
    held = descriptors(odd_daemon.pid())
    assert held[0] == "/dev/null"
    assert held[1] == held[2] == str(odd_daemon.log_path)


def test_modes_under_an_open_umask(odd_daemon: Daemon) -> None:
    done = odd_daemon.run("start", umask=0)
    assert done.returncode == 0
    for path in (odd_daemon.socket, odd_daemon.runtime / "crystalmath.sock.lock",
                 odd_daemon.data / "server.json", odd_daemon.log_path,
                 *odd_daemon.data.glob("*.lock")):  # fmt: skip
        assert mode(path) == 0o600, path
    for path in (odd_daemon.data, odd_daemon.log_path.parent):
        assert mode(path) == 0o700, path


@pytest.mark.skipif(os.getuid() != 0, reason="only root can act as another user")
def test_foreign_user(odd_daemon: Daemon) -> None:
    odd_daemon.start()
    odd_daemon.root.chmod(0o755)
    odd_daemon.runtime.chmod(0o755)
    odd_daemon.socket.chmod(0o777)
    talk = (
        "import socket, sys; s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]);"
        's.sendall(b\'{"jsonrpc":"2.0","id":1,"method":"system.ping"}\\n\'); print(s.recv(99))'
    )
    done = subprocess.run(
        ["/usr/bin/python3", "-c", talk, str(odd_daemon.socket)], user=65534, group=65534,
        capture_output=True, text=True, timeout=30, check=False,
    )  # fmt: skip
    if "No such file" in done.stderr:
        pytest.skip("there is no Python that another user may run")
    assert done.stdout.strip() == "b''" or "Error" in done.stderr
    wait_until(
        lambda: any("another user" in str(line.get("msg")) for line in odd_daemon.log_lines()),
        "it is noticed in the log",
    )


def test_imports_are_lean() -> None:
    code = (
        "import sys, crystalmath.server, crystalmath.server.daemon\n"
        "heavy = {'paramiko', 'ase', 'pymatgen', 'aiida', 'jinja2', 'torch', 'numpy', 'sqlalchemy',"
        " 'crystalmath.api',"
        " 'crystalmath.contract.events', 'crystalmath.contract.jobs',"
        " 'crystalmath.services.ports_materials', 'crystalmath.services.ports_pool'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, check=True,
        env={**os.environ, "PYTHONPATH": str(ROOT / "python")},
    )  # fmt: skip
    assert done.stdout.strip() == "[]"


def test_running_daemon_is_lean(daemon: Daemon) -> None:
    begin = time.monotonic()
    daemon.start()
    assert time.monotonic() - begin < 50  # the aim is 5 s
    maps = Path(f"/proc/{daemon.pid()}/maps").read_text("utf-8")
    for word in ("/numpy/", "/ase/", "/torch/", "/paramiko/"):
        assert word not in maps


def test_setuid_is_refused(tmp_path: Path) -> None:
    from dataclasses import replace

    from crystalmath.errors import ConfigError
    from crystalmath.server import lifecycle
    from support.wire import settings

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "geteuid", lambda: os.getuid() + 1)
        with pytest.raises(ConfigError, match="setuid"):
            lifecycle._prepare(replace(settings(), data_dir=tmp_path, log_dir=tmp_path))


def test_thread_dump(odd_daemon: Daemon) -> None:
    odd_daemon.start()
    os.kill(odd_daemon.pid(), signal.SIGUSR1)
    wait_until(lambda: "Current thread" in odd_daemon.log_path.read_text("utf-8"), "the dump")
    assert odd_daemon.answers()


def test_unwritable_log_does_not_stop_service(odd_daemon: Daemon) -> None:
    odd_daemon.log_path.parent.mkdir(parents=True)
    odd_daemon.log_path.mkdir()
    odd_daemon.start()
    assert odd_daemon.call("system.status")["log_problems"] > 0


def test_python_without_asserts(make_daemon: MakeDaemon) -> None:
    plain = make_daemon()
    optimised = make_daemon(program=(plain.program[0], "-O", *plain.program[1:]))
    optimised.start()
    with optimised.connect() as raw:
        assert raw.outcome("test.type_error") == -32603
        assert raw.outcome("test.value", {"what": "cycle"}) == -32603
        assert raw.outcome("test.nested", {}) == -32602
        assert raw.outcome("no.such") == -32601
        assert raw.data("system.ping")["pong"]
        raw.send({"jsonrpc": "2.0", "method": "test.type_error"})
        assert raw.is_silent()
