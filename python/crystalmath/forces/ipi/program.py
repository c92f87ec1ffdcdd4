"""A foreign force program as a process: started, watched, ended, and what it wrote."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import BinaryIO, Final

from crystalmath.errors import InputRejected

TAIL_BYTES: Final = 8192
_TICK_S: Final = 0.02
_KILLED_S: Final = 5.0


class Program:
    """One process in a session of its own; its output goes to ``NAME.out`` and ``NAME.err``.

    It dies with its connection, as force programs do, or by :meth:`stop`.

    Parameters
    ----------
    directory
        Where it runs; by default a new one under the directory for temporary files, which
        :meth:`forget` removes.

    Raises
    ------
    InputRejected
        There is no such program or directory; ``field`` is ``command`` or ``directory``.
    """

    def __init__(
        self,
        name: str,
        command: Sequence[str],
        *,
        directory: Path | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        if not command:
            raise InputRejected("the command is empty", field="command")
        self.name = name
        self._stopping = threading.Lock()
        self._own: tempfile.TemporaryDirectory[str] | None = None
        if directory is None:
            self._own = tempfile.TemporaryDirectory(prefix="crystalmath-ipi-")
            directory = Path(self._own.name)
        elif not directory.is_dir():
            raise InputRejected(f"{directory} is no directory", field="directory")
        self.directory = directory
        self.out = directory / f"{name}.out"
        self.err = directory / f"{name}.err"
        self.process = self._start(command, environment or {})
        self.pidfd = os.pidfd_open(self.process.pid) if hasattr(os, "pidfd_open") else -1

    def _start(
        self, command: Sequence[str], environment: Mapping[str, str]
    ) -> subprocess.Popen[bytes]:
        with self.out.open("wb") as out, self.err.open("wb") as err:
            try:
                return subprocess.Popen(
                    list(command),
                    cwd=self.directory,
                    env=_environment(environment),
                    stdin=subprocess.DEVNULL,
                    stdout=out,
                    stderr=err,
                    start_new_session=True,
                )
            except (FileNotFoundError, PermissionError) as error:
                self.forget()
                raise InputRejected(
                    f"{command[0]} cannot be started: {error.strerror}",
                    hint="install the program, or give its path",
                    field="command",
                ) from None

    def exit_code(self) -> int | None:
        """Its exit code, negative for a signal; None while it runs.

        It is only looked at: until :meth:`stop` collects it, nothing else can get its number, and
        its group can be ended without hitting a stranger.
        """
        if self.process.returncode is not None:
            return self.process.returncode
        look = os.WEXITED | os.WNOHANG | os.WNOWAIT
        try:
            end = os.waitid(os.P_PID, self.process.pid, look)
        except ChildProcessError:  # somebody else collected it
            return self.process.poll()
        if end is None:
            return None
        return end.si_status if end.si_code == os.CLD_EXITED else -end.si_status

    def wait(self, timeout_s: float) -> int | None:
        """Wait for its end; None when it still runs then."""
        until = time.monotonic() + timeout_s
        poll = select.poll()
        if self.pidfd >= 0:
            poll.register(self.pidfd, select.POLLIN)
        while (code := self.exit_code()) is None and (left_s := until - time.monotonic()) > 0.0:
            poll.poll(1e3 * (left_s if self.pidfd >= 0 else min(left_s, _TICK_S)))
        return code

    def stop(self, grace_s: float) -> int | None:
        """TERM to it and what it started, after ``grace_s`` KILL; return its exit code."""
        with self._stopping:
            if self.process.returncode is None:
                if self.exit_code() is None:
                    self._signal(signal.SIGTERM)
                    self.wait(grace_s)
                self._signal(signal.SIGKILL)  # also the ranks of a launcher that is gone
                with contextlib.suppress(subprocess.TimeoutExpired):
                    self.process.wait(_KILLED_S)
            return self.process.returncode

    def _signal(self, number: int) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, number)

    def tail(self) -> str:
        """Return the last 8 kB of what it wrote to stderr and to stdout."""
        return "\n".join(filter(None, (_tail(self.err), _tail(self.out))))

    def describe_end(self) -> str:
        """Say how it ended, for a message."""
        code = self.exit_code()
        if code is None:
            return "still runs"
        if code >= 0:
            return f"ended with exit code {code}"
        try:
            return f"was ended by {signal.Signals(-code).name}"
        except ValueError:
            return f"was ended by signal {-code}"

    def forget(self) -> None:
        """Give back what is held for it; the files stay unless the directory is ours."""
        if getattr(self, "pidfd", -1) >= 0:
            os.close(self.pidfd)
            self.pidfd = -1
        if self._own is not None:
            self._own.cleanup()
            self._own = None


def _environment(more: Mapping[str, str]) -> dict[str, str]:
    """Return ours, with one thread unless something else is asked for, and MPI as root allowed."""
    settings = {"OMP_NUM_THREADS": "1", **os.environ}
    if os.geteuid() == 0:
        settings["OMPI_ALLOW_RUN_AS_ROOT"] = settings["OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"] = "1"
    return {**settings, **more}


def _tail(path: Path) -> str:
    try:
        stream: BinaryIO
        with path.open("rb") as stream:
            stream.seek(max(0, path.stat().st_size - TAIL_BYTES))
            return stream.read().decode("utf-8", "replace").strip()
    except OSError:
        return ""
