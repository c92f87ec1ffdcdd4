"""A temporary directory in which one daemon lives: paths, environment, its commands.

The daemon is the real one, started by its command line as a process of its own. Nothing of the
user's own CrystalMath is read or touched. Used by ``bench``, ``soak`` and their tests.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

from rig import processes
from rig.wire import Wire

POLL_S = 0.005


class RigError(Exception):
    """Something that has to work for any measurement does not."""


def server_command() -> Path:
    """The ``crystalmath-server`` of this environment, or the one ``CRYSTALMATH_SERVER`` names."""
    named = os.environ.get("CRYSTALMATH_SERVER")
    command = Path(named) if named else Path(sys.executable).parent / "crystalmath-server"
    if not command.exists():
        raise RigError(f"{command} is not there: run scripts/crystalmath --help once")
    return command


def wait_until(what: str, check: Callable[[], bool], timeout_s: float) -> None:
    """Poll until ``check`` holds; raises ``RigError`` that names ``what`` at the deadline."""
    deadline = time.monotonic() + timeout_s
    while not check():
        if time.monotonic() > deadline:
            raise RigError(f"not within {timeout_s:g} s: {what}")
        time.sleep(POLL_S)


class Place:
    """See the module docstring; a context manager that leaves nothing behind.

    Parameters
    ----------
    env
        More variables, for the daemon and for clients.
    patience_s
        Deadline of everything that is only waited for.
    """

    def __init__(self, env: dict[str, str] | None = None, *, patience_s: float = 60.0) -> None:
        self.root = Path(tempfile.mkdtemp(prefix="cm-"))
        self.patience_s = patience_s
        self.socket = str(self.root / "s")
        self.data_dir = self.root / "data"
        self.data_dir.mkdir(mode=0o700)
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("CRYSTALMATH_", "XDG_"))}
        self.env = kept | {
            "HOME": str(self.root),
            "CRYSTALMATH_SOCKET": self.socket,
            "CRYSTALMATH_DATA_DIR": str(self.data_dir),
            "CRYSTALMATH_SERVER": str(server_command()),
            **(env or {}),
        }
        self._children: list[subprocess.Popen[bytes]] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exception: object) -> None:
        processes.kill_of_place(self.root)
        for child in self._children:
            child.wait()
        shutil.rmtree(self.root)

    @property
    def log_path(self) -> Path:
        """The daemon's log."""
        return self.root / ".local/state/crystalmath/server.log"

    @property
    def database(self) -> Path:
        """The daemon's database."""
        return self.data_dir / "crystalmath.db"

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run ``crystalmath-server`` with these arguments, to its end."""
        return subprocess.run(
            [self.env["CRYSTALMATH_SERVER"], *arguments],
            env=self.env, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
            timeout=self.patience_s,
        )  # fmt: skip

    def start(self) -> int:
        """Start the daemon, unless it runs, and return its pid when it is ready.

        On a busy machine that may take longer than ``start`` waits for it.
        """
        ended = self.run("start")
        if ended.returncode != 0:
            try:
                wait_until("a daemon that is ready", self.is_ready, self.patience_s)
            except RigError as error:
                said = f"{ended.stderr}{self.log_tail()}"
                raise RigError(f"start failed ({ended.returncode}): {said}") from error
        return self.pid()

    def stop(self) -> None:
        """Stop the daemon and wait until it is gone."""
        ended = self.run("stop")
        if ended.returncode != 0:
            raise RigError(f"stop failed ({ended.returncode}): {ended.stderr}{self.log_tail()}")

    def foreground(self, *, program: list[str] | None = None) -> subprocess.Popen[bytes]:
        """Start the daemon as a child, without waiting for it.

        Parameters
        ----------
        program
            What to run instead of ``crystalmath-server``.
        """
        child = subprocess.Popen(
            [*(program or [self.env["CRYSTALMATH_SERVER"]]), "--foreground"],
            env=self.env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )  # fmt: skip
        self._children.append(child)
        return child

    def forget(self, child: subprocess.Popen[bytes]) -> None:
        """Kill a child of :meth:`foreground` and collect it."""
        child.kill()
        child.wait()
        self._children.remove(child)

    def wait_ready(self) -> int:
        """Wait until the daemon is ready; return its pid."""

        def ready() -> bool:
            if any(child.poll() is not None for child in self._children):
                raise RigError(f"the daemon ended instead of serving{self.log_tail()}")
            return self.is_ready()

        wait_until("a daemon that is ready", ready, self.patience_s)
        return self.pid()

    def is_ready(self) -> bool:
        """Whether a daemon answers here and is ready."""
        answer = self.hello()
        return answer is not None and answer["state"] == "ready"

    def hello(self) -> dict[str, Any] | None:
        """The answer to hello; None when nobody answers."""
        try:
            with Wire(self.socket) as wire:
                answer: dict[str, Any] = wire.call("system.hello")["data"]
                return answer
        except OSError:
            return None

    def pid(self) -> int:
        """Pid of the daemon that answers."""
        answer = self.hello()
        if answer is None:
            raise RigError(f"nobody answers at {self.socket}{self.log_tail()}")
        return int(answer["pid"])

    def kill(self, pid: int) -> None:
        """Kill a daemon and wait until it is gone."""
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            return
        for child in self._children:
            if child.pid == pid:
                child.wait()
        wait_until("the end of a killed daemon", lambda: not processes.is_running(pid), 10.0)

    def tracebacks(self) -> list[str]:
        """Unexpected errors in the log, each once: its last two frames and what it said."""
        found: dict[str, int] = {}
        for path in sorted(self.log_path.parent.glob("server.log*")):
            for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
                if '"traceback"' in line:
                    text = str(json.loads(line)["traceback"]).rstrip()
                    end = "\n".join(text.splitlines()[-5:])
                    found[end] = found.get(end, 0) + 1
        return [f"{n} × in the log: {end}" for end, n in found.items()]

    def log_tail(self, lines: int = 15) -> str:
        """The end of the log, for a message."""
        try:
            text = self.log_path.read_text(encoding="utf-8", errors="replace")
        except OSError:
            return ""
        return "\n" + "\n".join(text.splitlines()[-lines:])
