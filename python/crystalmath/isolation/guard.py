"""Stands between the host and a process in an environment, and outlives neither for long.

``python -I -S guard.py LOG HOST_PID -- PROGRAM ARGUMENT …``

* The host dies, however: the kernel sends TERM to this process, and everything below it is killed,
  children of children in sessions of their own too (they are handed to this process when their
  parent ends, since it is a subreaper).
* The program ends: what it left is killed, and this process ends as the program did.
* What the program writes to standard error is kept in ``LOG``, its last 64 kB at most, so that a
  flood neither fills the disk nor blocks.

TERM to this process means: kill everything now. Standard library only; run by path.
"""

# pathlib would cost every worker some milliseconds at its start.
# ruff: noqa: PTH123, PTH208

from __future__ import annotations

import contextlib
import ctypes
import os
import select
import signal
import sys

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_KEPT_BYTES = 64 * 1024
_ROUNDS = 50


def _prctl(option: int, value: int) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(option, value, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl")


def _children(pid: int) -> list[int]:
    """Direct children of all threads of a process."""
    found: list[int] = []
    try:
        for task in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{task}/children", encoding="ascii") as file:
                found += [int(one) for one in file.read().split()]
    except OSError:
        pass
    return found


def _descendants(pid: int) -> list[int]:
    found: list[int] = []
    stack = _children(pid)
    while stack:
        one = stack.pop()
        found.append(one)
        stack += _children(one)
    return found


def _kill_all() -> None:
    """Kill what is below this process until nothing is left: the dying hand their children on."""
    for _ in range(_ROUNDS):
        below = _descendants(os.getpid())
        if not below:
            return
        for pid in below:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        _reap(block=True)


def _reap(*, block: bool, program: int | None = None) -> int | None:
    """Collect ended children; return the status of the program if it is among them."""
    status = None
    while True:
        try:
            pid, one = os.waitpid(-1, 0 if block else os.WNOHANG)
        except ChildProcessError:
            return status
        if pid == 0:
            return status
        if pid == program:
            status = one
        block = False


class _Log:
    """The end of a stream, in a file."""

    def __init__(self, path: str) -> None:
        flags = os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC
        self.fd = os.open(path, flags, 0o600)
        self._size = 0

    def add(self, data: bytes) -> None:
        """Append; the older half goes when there is too much."""
        data = data[-_KEPT_BYTES:]
        try:
            if self._size + len(data) > _KEPT_BYTES:
                keep = max(0, min(self._size, _KEPT_BYTES // 2 - len(data)))
                old = os.pread(self.fd, keep, self._size - keep) if keep else b""
                os.ftruncate(self.fd, 0)
                os.pwrite(self.fd, old, 0)
                self._size = len(old)
            self._size += os.pwrite(self.fd, data, self._size)
        except OSError:
            pass  # a full disk must not end the worker


def _start(argv: list[str], write_end: int) -> int:
    me = os.getpid()
    pid = os.fork()
    if pid:
        return pid
    try:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM, signal.SIGCHLD})
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != me:
            os._exit(1)
        os.setpgid(0, 0)
        os.dup2(write_end, 2)
        os.execv(argv[0], argv)  # noqa: S606 - no shell is the point
    except OSError as error:
        with contextlib.suppress(OSError):
            os.write(2, f"{argv[0]}: {error.strerror}\n".encode())
    finally:
        os._exit(127)


def main(arguments: list[str]) -> int:
    """Guard one program."""
    at = arguments.index("--")
    host, argv = int(arguments[1]), arguments[at + 1 :]
    _prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)
    wake_read, wake_write = os.pipe()
    os.set_blocking(wake_write, False)
    signal.set_wakeup_fd(wake_write, warn_on_full_buffer=False)
    told: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, _frame: told.append(number))
    signal.signal(signal.SIGCHLD, lambda _number, _frame: None)
    if os.getppid() != host:
        return 1  # it died before the request was made
    log = _Log(arguments[0])
    err_read, err_write = os.pipe()
    pid = _start(argv, err_write)
    os.close(err_write)
    _close_others({wake_read, wake_write, err_read, log.fd})
    status = None
    open_err = True
    while status is None and not told:
        watched = [wake_read] + ([err_read] if open_err else [])
        ready = select.select(watched, [], [])[0]
        if err_read in ready:
            data = os.read(err_read, 1 << 16)
            open_err = bool(data)
            log.add(data)
        if wake_read in ready:
            os.read(wake_read, 4096)
            status = _reap(block=False, program=pid)
    if told:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    _drain(err_read, log)
    _kill_all()
    if status is None:
        return 128 + signal.SIGKILL
    if os.WIFSIGNALED(status):
        _end_by(os.WTERMSIG(status))
    return os.waitstatus_to_exitcode(status)


def _close_others(kept: set[int]) -> None:
    """Close the program's descriptors here: its peer must see the end when the program ends."""
    for name in os.listdir("/proc/self/fd"):
        fd = int(name)
        if fd > 2 and fd not in kept:
            with contextlib.suppress(OSError):
                os.close(fd)


def _drain(fd: int, log: _Log) -> None:
    os.set_blocking(fd, False)
    for _ in range(64):
        try:
            data = os.read(fd, 1 << 16)
        except OSError:
            return
        if not data:
            return
        log.add(data)


def _end_by(number: int) -> None:
    """End by the same signal, without a dump of its own."""
    import resource

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with contextlib.suppress(OSError, ValueError):
        signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)


if __name__ == "__main__":
    os._exit(main(sys.argv[1:]))
