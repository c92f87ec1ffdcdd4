"""Starting the user's program, and saying in words why it could not be started.

Not the waiting and not the ending: ``supervision`` and ``ending`` do that. Called by
``supervision``; standard library only. The supervisor has one thread, so plain ``fork`` is safe.
"""

# pathlib would cost every supervisor several milliseconds at its start.
# ruff: noqa: PTH110, PTH113, PTH118, PTH123

from __future__ import annotations

import errno
import os
import signal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import NoReturn

_ERRNO_BYTES = 4
_SHEBANG_BYTES = 256
# An ignored signal stays so after exec. Python and the supervisor ignore some; the others came with
# whatever started the daemon (a shell starts background programs with INT and QUIT ignored).
_RESET = tuple(signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP})


class NotStarted(Exception):
    """The program could not be started; the text says why, for the user."""


def find(name: str, env: Mapping[str, str]) -> str:
    """Return the file that a program's name stands for, as a shell would find it.

    Raises
    ------
    NotStarted
        There is none, or it may not be executed.
    """
    if "/" in name:
        if not os.path.exists(name):
            raise NotStarted(f"no such program: {name}")
        candidates = [name]
    else:
        # An empty entry means the current directory, where a program's output lies; not followed.
        folders = [folder for folder in env.get("PATH", os.defpath).split(os.pathsep) if folder]
        candidates = [os.path.join(folder, name) for folder in folders]
        candidates = [path for path in candidates if os.path.isfile(path)]
    for path in candidates:
        if os.path.isfile(path) and os.access(path, os.X_OK):
            return path
    if candidates:
        raise NotStarted(f"not executable: {candidates[0]}")
    raise NotStarted(f"no such program: {name}")


def _explain(path: str, code: int) -> str:
    """Say why the kernel refused to execute a file that is there."""
    if code == errno.ENOENT:
        with open(path, "rb") as file:
            first = file.read(_SHEBANG_BYTES).split(b"\n")[0]
        if first.startswith(b"#!"):
            interpreter = os.fsdecode(first[2:].strip().split(b" ")[0])
            return f"bad interpreter: {interpreter!r}, named in the first line of {path}"
        return f"the loader of {path} is missing (a program for another system?)"
    if code == errno.ENOEXEC:
        return f"not a program: {path} is no binary and does not begin with '#!'"
    return f"{path}: {os.strerror(code)}"


def _open_output(name: str) -> int:
    try:
        # Appending keeps several writers of one file, and one that truncates it, in order.
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND
        return os.open(name, flags, 0o600)
    except OSError as error:
        raise NotStarted(f"cannot write {name}: {error.strerror}") from error


def start(argv: Sequence[str], env: Mapping[str, str], stdout: str, stderr: str) -> int:
    """Start the program in a process group of its own and return its pid.

    Its standard input is the caller's, its output files are emptied first, and it has no other
    descriptor. Returns when the kernel has accepted the program.

    Raises
    ------
    NotStarted
        It could not be started; nothing of it is left.
    """
    path = find(argv[0], env)
    out = _open_output(stdout)
    err = out if stderr == stdout else _open_output(stderr)
    told, tell = os.pipe()
    pid = os.fork()
    if pid == 0:
        _become(path, argv, env, out=out, err=err, tell=tell)
    for fd in {out, err, tell}:
        os.close(fd)
    word = os.read(told, _ERRNO_BYTES)
    os.close(told)
    if word:
        os.waitpid(pid, 0)
        raise NotStarted(_explain(path, int.from_bytes(word, "little")))
    return pid


def _become(
    path: str, argv: Sequence[str], env: Mapping[str, str], *, out: int, err: int, tell: int
) -> NoReturn:
    """Turn this forked process into the program; on failure, tell the error number and exit."""
    code = errno.EINVAL
    try:
        os.setpgid(0, 0)
        os.dup2(out, 1)
        os.dup2(err, 2)
        for signum in _RESET:
            signal.signal(signum, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        os.execve(path, list(argv), dict(env))  # noqa: S606 -- no shell is the point
    except OSError as error:
        code = error.errno or code
    finally:
        os.write(tell, code.to_bytes(_ERRNO_BYTES, "little"))
        os._exit(127)
