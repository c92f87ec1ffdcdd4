"""A foreign force program as a process: started, watched, ended, and what it wrote."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import BinaryIO, Final

from crystalmath.errors import InputRejected

TAIL_BYTES: Final = 8192
_TICK_S: Final = 0.02


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
        """Its exit code, negative for a signal; None while it runs."""
        return self.process.poll()

    def wait(self, timeout_s: float) -> int | None:
        """Wait for its end; None when it still runs then."""
        try:
            return self.process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            return None

    def stop(self, grace_s: float) -> int | None:
        """TERM to it and what it started, after ``grace_s`` KILL; return its exit code."""
        if self.exit_code() is None:
            self._signal(signal.SIGTERM)
            if self.wait(grace_s) is None:
                self._signal(signal.SIGKILL)
                self.wait(5.0)
        self._sweep()
        return self.exit_code()

    def _sweep(self) -> None:
        """End what is left of its session, such as the ranks of a launcher that is gone."""
        until = time.monotonic() + 1.0
        while self._signal(signal.SIGKILL) and time.monotonic() < until:
            time.sleep(_TICK_S)

    def _signal(self, number: int) -> bool:
        try:
            os.killpg(self.process.pid, number)
        except (ProcessLookupError, PermissionError):
            return False
        return True

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
