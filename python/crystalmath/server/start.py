"""Detaches the daemon from the terminal and reports its start, or why it failed, over a pipe.

The pipe carries JSON lines: ``{"progress": text}``*, then ``{"ready": {...}}`` or
``{"error": {...}}``; its end without either means that the daemon died. Called by ``cli``.
"""

from __future__ import annotations

import json
import os
import select
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, NoReturn

from crystalmath.runners.local.procfs import JOB_VARIABLES

READY_FD: Final = 3


def leave_job(env: Mapping[str, str]) -> None:
    """Begin again without the marks of a job, when a job's program started the daemon.

    The cancel of a job ends every process that carries its key. What a process carries is what it
    was started with, so forgetting the variables here is not enough.
    """
    if JOB_VARIABLES.isdisjoint(env):
        return
    clean = {name: value for name, value in env.items() if name not in JOB_VARIABLES}
    os.execve(sys.executable, [sys.executable, *sys.orig_argv[1:]], clean)  # noqa: S606 - no shell


class ReadyPipe:
    """The writing end. Whoever started the daemon may be gone: that is no error.

    Parameters
    ----------
    fd
        Descriptor of the pipe, or None when nobody wants to know.
    """

    def __init__(self, fd: int | None) -> None:
        self._fd = fd
        if fd is not None:
            os.set_inheritable(fd, False)

    def progress(self, text: str) -> None:
        """Tell what the daemon is busy with."""
        self._write({"progress": text})

    def ready(self, **facts: Any) -> None:
        """Report that the daemon serves; the last word."""
        self._write({"ready": facts})
        self.close()

    def error(self, *, code: int, message: str, hint: str | None, log_path: str) -> None:
        """Report why it does not; the last word."""
        self._write(
            {"error": {"code": code, "message": message, "hint": hint, "log_path": log_path}}
        )
        self.close()

    def close(self) -> None:
        """Close the pipe."""
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None

    def _write(self, message: dict[str, Any]) -> None:
        if self._fd is not None:
            try:
                os.write(self._fd, json.dumps(message).encode() + b"\n")
            except OSError:
                self.close()


def keep_standard_descriptors() -> None:
    """Open what is missing of descriptors 0 to 2, so that no socket or file lands there."""
    while True:
        fd = os.open(os.devnull, os.O_RDWR)
        if fd > 2:
            os.close(fd)
            break
        os.set_inheritable(fd, True)
    # the interpreter has left out the streams of descriptors that were closed
    sys.stdout = sys.stdout or os.fdopen(1, "w", closefd=False)
    sys.stderr = sys.stderr or os.fdopen(2, "w", closefd=False)


def detach(run: Callable[[ReadyPipe], int], log_path: Path) -> int:
    """Run ``run`` in a detached process; return the reading end of its pipe.

    Parameters
    ----------
    run
        The daemon; gets the writing end, returns its exit code.
    log_path
        Where its standard output and error go.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    reading, writing = os.pipe()
    middle = os.fork()
    if middle:
        os.close(writing)
        os.waitpid(middle, 0)
        return reading
    try:
        os.setsid()
        if os.fork():
            os._exit(0)  # the daemon is no session leader, so it can never get a terminal
        _become_daemon(writing, log_path)
        code = run(ReadyPipe(READY_FD))
        leave(code)
    except BaseException:  # noqa: BLE001 - nothing may return into the caller's code in this process
        sys.excepthook(*sys.exc_info())
        leave(1)


def leave(code: int) -> NoReturn:
    """End the process at once: threads that wait for a peer must not hold it."""
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            try:
                stream.flush()
            except OSError:
                code = code or 1
    os._exit(code)


class Relay:
    """Passes the daemon's messages on to whoever started the starter.

    Parameters
    ----------
    fd
        Descriptor to write to, or None.
    """

    def __init__(self, fd: int | None) -> None:
        self._fd = fd

    def pass_on(self, message: dict[str, Any]) -> None:
        """Write one message; a reader that is gone is no error."""
        if self._fd is not None:
            try:
                os.write(self._fd, json.dumps(message).encode() + b"\n")
            except OSError:
                self._fd = None


def messages(
    fd: int,
    first_s: float,
    patience_s: float,
    tell_after_s: float,
    tell: Callable[[], None],
) -> Iterator[dict[str, Any]]:
    """Yield the messages of the pipe; ends at its end.

    Parameters
    ----------
    first_s
        Seconds to wait for each message.
    patience_s
        Seconds in all, however many progress lines come.
    tell_after_s, tell
        When and how to say once that it takes a moment.

    Raises
    ------
    TimeoutError
        Nothing came in time.
    """
    buffer = b""
    begin = time.monotonic()
    until = begin + first_s
    told = False
    while True:
        while b"\n" in buffer:
            line, _, buffer = buffer.partition(b"\n")
            until = min(time.monotonic() + first_s, begin + patience_s)
            yield json.loads(line)
        now = time.monotonic()
        if now >= until:
            raise TimeoutError
        wake = until if told else min(until, begin + tell_after_s)
        if not select.select([fd], [], [], max(0.0, wake - now))[0]:
            if not told and time.monotonic() >= begin + tell_after_s:
                told = True
                tell()
            continue
        data = os.read(fd, 65536)
        if not data:
            return
        buffer += data


def _become_daemon(writing: int, log_path: Path) -> None:
    os.chdir("/")
    os.umask(0o077)
    if writing != READY_FD:
        os.dup2(writing, READY_FD)
    os.closerange(READY_FD + 1, os.sysconf("SC_OPEN_MAX"))
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    with suppress(OSError):  # the reason is reported later; here there is nobody to tell
        log_path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        log = os.open(log_path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    except OSError:
        log = os.dup(null)
    os.dup2(log, 1)
    os.dup2(log, 2)
    os.close(null)
    os.close(log)
