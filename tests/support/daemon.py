"""Runs ``crystalmath-server`` for a test and talks to it in raw bytes.

A :class:`Daemon` owns a short temporary directory (socket paths are limited) with the runtime,
data, state, configuration and home directories of one imaginary user. Every process that carries
its mark in the environment is killed by :meth:`Daemon.cleanup`, whatever the test did.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

ROOT = Path(__file__).resolve().parents[2]
PRODUCTION: tuple[str, ...] = (
    sys.executable, "-P", "-c", "from crystalmath.server.cli import main; main()",
)  # fmt: skip
TEST_METHODS: tuple[str, ...] = (
    sys.executable, str(ROOT / "tests" / "integration" / "daemon_with_test_methods.py"),
)  # fmt: skip
PATIENCE_S = 60.0
"""How long a test waits for something that takes milliseconds, before it calls it a hang."""


def wait_until(
    true: Callable[[], Any], what: str, timeout_s: float = PATIENCE_S, *, every_s: float = 0.005
) -> Any:
    """Poll until ``true()`` is truthy and return its value; fail after ``timeout_s``."""
    deadline = time.monotonic() + timeout_s
    while True:
        value = true()
        if value:
            return value
        if time.monotonic() >= deadline:
            raise AssertionError(f"timed out after {timeout_s:g} s: {what}")
        time.sleep(every_s)


class RawSocket:
    """A connection that sends bytes and reads lines; every line must be strict JSON."""

    def __init__(self, path: str | Path, timeout_s: float = PATIENCE_S) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(timeout_s)
        try:
            self.sock.connect(str(path))
        except OSError:
            self.sock.close()
            raise
        self._buffer = bytearray()
        self._next_id = 1000

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exception: object) -> None:
        self.close()

    def close(self) -> None:
        self.sock.close()

    def send(self, *messages: bytes | Mapping[str, Any] | Sequence[Any]) -> None:
        """Send lines; bytes go out as they are (a newline is added when there is none)."""
        for message in messages:
            data = message if isinstance(message, bytes) else json.dumps(message).encode()
            self.sock.sendall(data if data.endswith(b"\n") else data + b"\n")

    def line(self) -> bytes:
        """Read one line; empty at the end of the stream."""
        searched = 0
        while (end := self._buffer.find(b"\n", searched)) < 0:
            searched = len(self._buffer)
            data = self.sock.recv(1 << 20)
            if not data:
                assert not self._buffer, f"the stream ended inside a line: {self._buffer[:100]!r}"
                return b""
            self._buffer += data
        line = bytes(self._buffer[:end])
        del self._buffer[: end + 1]
        return line

    def reply(self) -> Any:
        """Read one reply, strictly."""
        line = self.line()
        assert line, "the server closed the connection"
        return strict_loads(line)

    def ask(self, message: bytes | Mapping[str, Any] | Sequence[Any]) -> Any:
        """Send one message and read one reply."""
        self.send(message)
        return self.reply()

    def request(self, method: str, params: Any = None, **more: Any) -> dict[str, Any]:
        """Make a request with a fresh id."""
        self._next_id += 1
        request = {"jsonrpc": "2.0", "id": self._next_id, "method": method, **more}
        if params is not None:
            request["params"] = params
        return request

    def call(self, method: str, params: Mapping[str, Any] | None = None) -> Any:
        """Call a method; return its ``result`` or raise ``RpcFailure``."""
        request = self.request(method, params or {})
        reply = self.ask(request)
        assert reply["id"] == request["id"], reply
        if "error" in reply:
            raise RpcFailure(reply["error"])
        return reply["result"]

    def data(self, method: str, params: Mapping[str, Any] | None = None) -> Any:
        """Call a method; return ``data``."""
        return self.call(method, params)["data"]

    def outcome(self, method: str, params: Mapping[str, Any] | None = None) -> int | None:
        """Call a method; return the code of its error, or None."""
        reply = self.ask(self.request(method, params or {}))
        code: int | None = reply["error"]["code"] if "error" in reply else None
        return code

    def is_silent(self) -> bool:
        """Whether a ping's reply is the next thing that comes."""
        request = self.request("system.ping", {})
        return bool(self.ask(request).get("id") == request["id"])

    def is_closed(self) -> bool:
        """Whether the server ends the connection; drops what still comes."""
        try:
            while self.sock.recv(1 << 20):
                continue
        except ConnectionResetError:
            return True
        except TimeoutError:
            return False
        return True


class RpcFailure(Exception):
    """An error reply."""

    def __init__(self, error: dict[str, Any]) -> None:
        super().__init__(f"{error['code']} {error['message']}")
        self.error = error
        self.code: int = error["code"]
        self.data: dict[str, Any] = error["data"]


class Daemon:
    """One imaginary user's daemon.

    Parameters
    ----------
    program
        ``PRODUCTION`` or ``TEST_METHODS``.
    env
        Added to the environment; a value of None removes a variable.
    data
        Another data directory, e.g. that of another daemon.
    """

    def __init__(
        self,
        *,
        program: tuple[str, ...] = TEST_METHODS,
        env: Mapping[str, str | None] | None = None,
        data: Path | None = None,
    ) -> None:
        self.root = Path(tempfile.mkdtemp(prefix="cm-", dir="/tmp"))
        self.program = program
        self.mark = uuid.uuid4().hex
        self.runtime = self.root / "run"
        self.data = data or self.root / "data" / "crystalmath"
        self.state = self.root / "state"
        self.config = self.root / "config"
        for directory in (self.runtime, self.state, self.config, self.root / "home"):
            directory.mkdir(mode=0o700)
        self.env: dict[str, str] = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.root / "home"),
            "LANG": "C.UTF-8",
            "PYTHONPATH": str(ROOT / "python"),
            "XDG_RUNTIME_DIR": str(self.runtime),
            "XDG_STATE_HOME": str(self.state),
            "XDG_CONFIG_HOME": str(self.config),
            "CRYSTALMATH_DATA_DIR": str(self.data),
            "CRYSTALMATH_START_TIMEOUT": f"{PATIENCE_S:g}",
            "TEST_DAEMON_MARK": self.mark,
        }
        for name, value in (env or {}).items():
            if value is None:
                self.env.pop(name, None)
            else:
                self.env[name] = value
        self._processes: list[subprocess.Popen[bytes]] = []
        script = self.root / "bin" / "crystalmath-server"
        script.parent.mkdir()
        words = " ".join(shlex.quote(word) for word in program)
        script.write_text(f'#!/bin/sh\nexec {words} "$@"\n', encoding="utf-8")
        script.chmod(0o755)
        self.env["CRYSTALMATH_SERVER"] = str(script)  # what clients start

    @property
    def socket(self) -> Path:
        return self.runtime / "crystalmath.sock"

    @property
    def log_path(self) -> Path:
        return self.state / "crystalmath" / "server.log"

    def write_config(self, text: str) -> None:
        """Write ``config.toml``."""
        path = self.config / "crystalmath" / "config.toml"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")

    # --- commands -------------------------------------------------------------------------------

    def run(
        self, *arguments: str, env: Mapping[str, str] | None = None, **more: Any
    ) -> subprocess.CompletedProcess[str]:
        """Run ``crystalmath-server`` with arguments and wait for it."""
        return subprocess.run(
            [*self.program, *arguments],
            env={**self.env, **(env or {})},
            capture_output=more.pop("capture_output", True),
            text=True,
            timeout=more.pop("timeout", 2 * PATIENCE_S),
            check=False,
            **more,
        )

    def start(self, *arguments: str, env: Mapping[str, str] | None = None) -> dict[str, Any]:
        """Start it detached and return the hello; fails when the start fails."""
        done = self.run("start", *arguments, env=env)
        assert done.returncode == 0, f"{done.stdout}{done.stderr}{self.log_tail()}"
        return self.hello()

    def popen(
        self, *arguments: str, env: Mapping[str, str] | None = None, **more: Any
    ) -> subprocess.Popen[bytes]:
        """Run a command without waiting."""
        more.setdefault("stdout", subprocess.PIPE)
        more.setdefault("stderr", subprocess.PIPE)
        process = subprocess.Popen(
            [*self.program, *arguments], env={**self.env, **(env or {})}, **more
        )
        self._processes.append(process)
        return process

    def foreground(
        self, *arguments: str, env: Mapping[str, str] | None = None
    ) -> subprocess.Popen[bytes]:
        """Run it in the foreground and wait until it is ready."""
        process = self.popen(
            "--foreground", *arguments, env=env, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )  # fmt: skip
        wait_until(lambda: self.answers() or process.poll() is not None, "the daemon is ready")
        assert process.poll() is None, f"it ended with {process.returncode}:\n{self.log_tail()}"
        return process

    def stop(self) -> subprocess.CompletedProcess[str]:
        """Run ``stop``."""
        return self.run("stop")

    # --- talking --------------------------------------------------------------------------------

    def connect(self, path: str | Path | None = None) -> RawSocket:
        """Open a raw connection."""
        return RawSocket(path or self.socket)

    def hello(self) -> dict[str, Any]:
        """Say hello on a connection of its own."""
        with self.connect() as raw:
            answer: dict[str, Any] = raw.data("system.hello", {"client": "tests"})
            return answer

    def call(self, method: str, params: Mapping[str, Any] | None = None) -> Any:
        """Call a method on a connection of its own; return ``data``."""
        with self.connect() as raw:
            return raw.data(method, params)

    def answers(self) -> bool:
        """Whether hello is answered and the daemon is ready."""
        try:
            return bool(self.hello()["state"] == "ready")
        except (OSError, AssertionError):
            return False

    def pid(self) -> int:
        """PID of the running daemon, as hello tells."""
        return int(self.hello()["pid"])

    # --- evidence -------------------------------------------------------------------------------

    def log_lines(self) -> list[dict[str, Any]]:
        """Every line of the log; each must be JSON."""
        if not self.log_path.exists():
            return []
        return [json.loads(line) for line in self.log_path.read_text("utf-8").splitlines()]

    def log_tail(self) -> str:
        """The end of the log, for messages."""
        return self.log_path.read_text("utf-8")[-4000:] if self.log_path.exists() else "(no log)"

    def pids(self) -> list[int]:
        """Every process that carries this daemon's mark, the commands included."""
        wanted = f"TEST_DAEMON_MARK={self.mark}".encode()
        found = []
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit() and int(entry.name) != os.getpid():
                try:
                    if wanted in (entry / "environ").read_bytes().split(b"\0"):
                        found.append(int(entry.name))
                except OSError:
                    continue
        return found

    def cleanup(self) -> None:
        """Kill whatever still runs and remove the directories."""

        def killed() -> bool:
            pids = self.pids()
            for pid in pids:
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    continue
            for process in self._processes:
                process.poll()
            return not pids

        wait_until(killed, "the processes of the test end")
        for process in self._processes:
            process.wait()
            for stream in (process.stdout, process.stderr):
                if stream is not None:
                    stream.close()
        shutil.rmtree(self.root, ignore_errors=True)


def strict_loads(line: bytes) -> Any:
    """Parse strictly: UTF-8, no NaN, no lone surrogates, and one value only."""

    def refuse(name: str) -> Any:
        raise AssertionError(f"{name} in a reply")

    value = json.loads(line.decode("utf-8"), parse_constant=refuse)
    json.dumps(value, ensure_ascii=False).encode("utf-8")
    return value


def resident_kib(pid: int) -> int:
    """Resident memory of a process."""
    for line in Path(f"/proc/{pid}/status").read_text("ascii").splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1])
    raise AssertionError("no VmRSS")


def descriptors(pid: int) -> dict[int, str]:
    """Open descriptors of a process → what they are."""
    found = {}
    for entry in Path(f"/proc/{pid}/fd").iterdir():
        try:
            found[int(entry.name)] = str(entry.readlink())
        except FileNotFoundError:
            continue
    return found
