"""Stands between the host and what it starts in an environment, and outlives neither for long.

``python -I -S guard.py [--log FILE] [--hold FD] [--tidy DIR] HOST_PID -- PROGRAM ARGUMENT …``

* The host dies, however: the kernel sends TERM to this process, and everything below it is killed,
  children of children in sessions of their own too (they are handed to this process when their
  parent ends, since it is a subreaper).
* The program ends: what it left is killed, and this process ends as the program did.
* With ``--log``, the last 64 kB of what the program writes to standard error are kept there, so
  that a flood neither fills the disk nor blocks.
* With ``--hold``, a descriptor (of a locked file) stays open here until all have ended.
* With ``--tidy``, a directory is removed at the end.

TERM to this process means: kill everything now. Standard library only; run by path.
"""

# pathlib would cost every worker some milliseconds at its start.
# ruff: noqa: PTH106, PTH123, PTH208

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
_FAILED = 127


def _prctl(option: int, value: int) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(option, value, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl")


def _children() -> dict[int, list[int]]:
    """Parent → children, from one look at all processes."""
    found: dict[int, list[int]] = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            with contextlib.suppress(OSError, ValueError), open(f"/proc/{name}/stat", "rb") as file:
                parent = int(file.read().rpartition(b")")[2].split()[1])
                found.setdefault(parent, []).append(int(name))
    return found


def children(parent: int) -> list[int]:
    """Processes directly below another one."""
    return _children().get(parent, [])


def descendants(ancestor: int) -> list[int]:
    """Every process below another one."""
    tree = _children()
    found: list[int] = []
    stack = [ancestor]
    while stack:
        below = tree.get(stack.pop(), [])
        found += below
        stack += below
    return found


def _kill_all(program: int) -> int | None:
    """Kill what is below this process until nothing is left: the dying hand their children on.

    Returns the status of the program if it is among them.
    """
    status = None
    for _ in range(_ROUNDS):
        below = descendants(os.getpid())
        if not below:
            break
        for pid in below:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        ended = _reap(program, block=True)
        status = ended if status is None else status
    return status


def _reap(program: int, *, block: bool) -> int | None:
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
            pass  # a full disk must not end the program

    def drain(self, fd: int) -> None:
        """Take what is still in a pipe; nobody writes to it any more."""
        os.set_blocking(fd, False)
        with contextlib.suppress(OSError):
            while data := os.read(fd, 1 << 16):
                self.add(data)


class _Options:
    """The command line."""

    def __init__(self, arguments: list[str]) -> None:
        at = arguments.index("--")
        self.program = arguments[at + 1 :]
        self.host = int(arguments[at - 1])
        given = dict(zip(arguments[: at - 1 : 2], arguments[1 : at - 1 : 2], strict=True))
        self.log = given.get("--log")
        self.hold = int(given["--hold"]) if "--hold" in given else None
        self.tidy = given.get("--tidy")


def _start(options: _Options, stderr: int | None) -> int:
    """Start the program as it would start without a guard: no signal ignored or blocked."""
    me = os.getpid()
    pid = os.fork()
    if pid:
        return pid
    try:
        for number in (
            signal.SIGTERM,
            signal.SIGCHLD,
            signal.SIGINT,
            signal.SIGPIPE,
            signal.SIGXFSZ,
        ):
            signal.signal(number, signal.SIG_DFL)
        _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != me:
            os._exit(_FAILED)
        os.setpgid(0, 0)
        if options.hold is not None:
            os.set_inheritable(options.hold, False)
        if stderr is not None:
            os.dup2(stderr, 2)
        os.execv(options.program[0], options.program)  # noqa: S606 - no shell is the point
    except OSError as error:
        with contextlib.suppress(OSError):
            os.write(2, f"{options.program[0]}: {error.strerror}\n".encode())
    finally:
        os._exit(_FAILED)


def _close_others(kept: set[int]) -> None:
    """Close the program's descriptors here: its peer must see the end when the program ends."""
    for name in os.listdir("/proc/self/fd"):
        fd = int(name)
        if fd > 2 and fd not in kept:
            with contextlib.suppress(OSError):
                os.close(fd)


def _watch(
    program: int, wake: int, stderr: int | None, log: _Log | None, told: list[int]
) -> int | None:
    """Wait for the end of the program, or for TERM; keep what it writes meanwhile."""
    watched = {wake}
    if stderr is not None:
        watched.add(stderr)
    while not told:
        ready = select.select(list(watched), [], [])[0]
        if log is not None and stderr is not None and stderr in ready:
            data = os.read(stderr, 1 << 16)
            log.add(data)
            if not data:
                watched.discard(stderr)
        if wake in ready:
            os.read(wake, 4096)
            status = _reap(program, block=False)
            if status is not None:
                return status
    return None


def _tidy(folder: str) -> None:
    os.chdir("/")
    try:
        os.rmdir(folder)
    except OSError:
        import shutil

        shutil.rmtree(folder, ignore_errors=True)


def guard(options: _Options, log: _Log | None) -> int:
    """Guard one program; return its status as ``waitpid`` gives it."""
    told: list[int] = []
    wake, wake_write = os.pipe()
    os.set_blocking(wake_write, False)
    signal.set_wakeup_fd(wake_write, warn_on_full_buffer=False)
    signal.signal(signal.SIGTERM, lambda number, _frame: told.append(number))
    signal.signal(signal.SIGCHLD, lambda _number, _frame: None)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C belongs to the host
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    _prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)
    if os.getppid() != options.host:
        return _FAILED << 8  # it died before the request was made
    stderr, stderr_write = os.pipe() if log is not None else (None, None)
    program = _start(options, stderr_write)
    kept = {wake, wake_write, stderr, options.hold, None if log is None else log.fd}
    _close_others({fd for fd in kept if fd is not None})
    status = _watch(program, wake, stderr, log, told)
    ended = _kill_all(program)
    if log is not None and stderr is not None:
        log.drain(stderr)
    if options.tidy is not None:
        _tidy(options.tidy)
    known = status if status is not None else ended
    return int(signal.SIGKILL) if known is None else known


def _end_as(status: int) -> int:
    """Return the exit code, or end by the same signal, without a dump of its own."""
    if os.WIFSIGNALED(status):
        import resource

        number = os.WTERMSIG(status)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        with contextlib.suppress(OSError, ValueError):
            signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
    return os.waitstatus_to_exitcode(status)


def main(arguments: list[str]) -> int:
    """Guard a program and end as it did."""
    options = _Options(arguments)
    log = None if options.log is None else _Log(options.log)
    try:
        return _end_as(guard(options, log))
    except Exception as error:  # noqa: BLE001 - it would be lost
        text = f"the guard failed: {type(error).__name__}: {error}\n".encode()
        if log is not None:
            log.add(text)
        else:
            with contextlib.suppress(OSError):
                os.write(2, text)
        return _FAILED


if __name__ == "__main__":
    os._exit(main(sys.argv[1:]))
