"""Finds the daemon's socket, and starts the daemon under the start lock. Called by ``client``."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import select
import shutil
import stat
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from crystalmath.client.errors import Busy, StartFailed
from crystalmath.contract.pointer_file import read_trusted
from crystalmath.contract.socket_path import (
    Facts,
    PathRefusedError,
    Platform,
    data_directory,
    private_directory,
    socket_path,
)
from crystalmath.errors import ConfigError

PLATFORM: Platform = "macos" if sys.platform == "darwin" else "linux"
_NOT_FOR_THE_DAEMON: Final = ("PYTHONPATH", "PYTHONHOME", "PYTHONSTARTUP")
_PATIENCE_S: Final = 60.0


def find_socket(flag: str | None, env: Mapping[str, str]) -> str:
    """Choose the socket path by the shared rule."""
    try:
        return socket_path(flag, env, os.getuid(), _probe, PLATFORM).path
    except PathRefusedError as error:
        raise ConfigError(f"{error}.", hint="Give the path of the socket.") from None


def pointed_socket(env: Mapping[str, str]) -> str | None:
    """Read ``server.json``; trusted only if ours, 0600, of this host and boot."""
    try:
        pointer = read_trusted(Path(data_directory(None, env)))
    except PathRefusedError:
        return None
    return None if pointer is None or "socket" not in pointer else str(pointer["socket"])


@contextmanager
def start_lock(path: str, deadline: float) -> Iterator[None]:
    """Hold ``<socket>.start.lock``, so that of many clients only one starts the daemon.

    Parameters
    ----------
    path
        Path of the socket.
    deadline
        On the monotonic clock; ``Busy`` is raised when the lock is not free by then.
    """
    directory = Path(path).parent
    if str(directory) == private_directory(os.getuid()):
        directory.mkdir(mode=0o700, exist_ok=True)  # what is there already passed the path rule
    flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
    try:
        fd = os.open(f"{path}.start.lock", flags, 0o600)
    except OSError as error:
        raise StartFailed(f"Cannot open {path}.start.lock: {error.strerror}.") from None
    try:
        while not _locked(fd):
            if time.monotonic() >= deadline:
                raise Busy("Another client is starting the daemon.", hint="Try again.")
            time.sleep(0.02)
        yield
    finally:
        os.close(fd)


def _locked(fd: int) -> bool:
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        # without locks on this file system, the daemon's own check of the socket must do
        return error.errno in (errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS)
    return True


def _server_command(env: Mapping[str, str]) -> str:
    named = env.get("CRYSTALMATH_SERVER", "")
    sibling = Path(sys.executable).parent / "crystalmath-server"
    found = named or (str(sibling) if sibling.exists() else None)
    found = found or shutil.which("crystalmath-server", path=env.get("PATH"))
    if found is None:
        raise StartFailed(
            f"There is no crystalmath-server beside {sys.executable} or on PATH.",
            hint="Install it, or name it in CRYSTALMATH_SERVER.",
        )
    return found


def spawn(flag: str | None, env: Mapping[str, str], timeout_s: float) -> str:
    """Start the daemon; return the socket it reports. Progress lines renew the wait up to 60 s."""
    reading, writing = os.pipe()
    command = [_server_command(env), "start", "--ready-fd", str(writing)]
    if flag is not None:
        command += ["--socket", flag]
    clean = {k: v for k, v in env.items() if k not in _NOT_FOR_THE_DAEMON}
    try:
        process = subprocess.Popen(
            command,
            env=clean,
            pass_fds=[writing],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
    except OSError as error:
        os.close(reading)
        raise StartFailed(f"Cannot run {command[0]}: {error.strerror}.") from None
    finally:
        os.close(writing)
    try:
        return _await_ready(reading, command[0], timeout_s)
    finally:
        os.close(reading)
        process.wait()


def _await_ready(reading: int, command: str, timeout_s: float) -> str:
    buffer = b""
    begin = time.monotonic()
    until = begin + timeout_s
    while True:
        if not select.select([reading], [], [], max(0.0, until - time.monotonic()))[0]:
            raise StartFailed(f"{command} is not ready after {time.monotonic() - begin:.0f} s.")
        data = os.read(reading, 65536)
        if not data:
            raise StartFailed(
                f"{command} ended without saying why.", hint="`crystalmath-server logs` tells more."
            )
        buffer += data
        *lines, buffer = buffer.split(b"\n")
        for line in lines:
            message = json.loads(line)
            if "ready" in message:
                return str(message["ready"]["socket"])
            if "error" in message:
                error = message["error"]
                failed = StartFailed(error["message"], hint=error["hint"])
                failed.add_note(f"log: {error['log_path']}")
                raise failed
            until = min(time.monotonic() + timeout_s, begin + _PATIENCE_S)


def _probe(path: str) -> Facts | None:
    try:
        found = os.lstat(path)
    except OSError:
        return None
    kinds = {stat.S_IFDIR: "dir", stat.S_IFLNK: "symlink", stat.S_IFREG: "file"}
    return Facts(
        kind=kinds.get(stat.S_IFMT(found.st_mode), "other"),  # type: ignore[arg-type]
        uid=found.st_uid,
        mode=stat.S_IMODE(found.st_mode),
        writable=os.access(path, os.W_OK | os.X_OK),
    )
