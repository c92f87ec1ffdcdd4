"""Starting processes in environments, each under its guard, and telling how they ended."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from crystalmath.errors import EnvironmentBroken
from crystalmath.isolation import external
from crystalmath.isolation.guard import children
from crystalmath.isolation.guard_command import guarded
from crystalmath.isolation.locks import shared, use_lock
from crystalmath.isolation.oom import oom_kills
from crystalmath.isolation.places import Places
from crystalmath.isolation.record import load_record
from crystalmath.isolation.surroundings import library_path, make_directories, variables
from crystalmath.services.ports_forces import CrashReport, ReadyEnvironment

TAIL_BYTES: Final = 8 * 1024
_GIVE_UP_S: Final = 5.0
_KEPT_LOGS_S: Final = 7 * 86400.0


class Process:
    """Implements ``ports_forces.HostedProcess``.

    Parameters
    ----------
    guard
        The process that was started; the program is its child.
    """

    def __init__(
        self, guard: subprocess.Popen[bytes], stderr: Path, oom_before: int | None
    ) -> None:
        self._guard = guard
        self._stderr = stderr
        self._lock = threading.Lock()
        self._oom_before = oom_before
        self.pid = guard.pid

    def poll(self) -> int | None:
        """See ``HostedProcess.poll``."""
        with self._lock:
            return self._guard.poll()

    def wait(self, timeout_s: float) -> int | None:
        """See ``HostedProcess.wait``."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._guard.wait(timeout_s)
        return self.poll()

    def terminate(self) -> None:
        """See ``HostedProcess.terminate``."""
        if self.poll() is not None:
            return
        below = children(self._guard.pid)
        if not below:  # nothing has been started yet, or all has just ended
            self.kill()
        for pid in below:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGTERM)
                os.killpg(pid, signal.SIGTERM)
                os.killpg(pid, signal.SIGCONT)

    def stop(self, grace_s: float) -> None:
        """See ``HostedProcess.stop``."""
        self.terminate()
        if self.wait(grace_s) is None:
            self.kill()
            self.wait(_GIVE_UP_S)

    def kill(self) -> None:
        """See ``HostedProcess.kill``: the guard kills everything below it."""
        if self.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                self._guard.send_signal(signal.SIGTERM)

    def stderr_tail(self) -> str:
        """See ``HostedProcess.stderr_tail``."""
        try:
            with self._stderr.open("rb") as file:
                file.seek(0, os.SEEK_END)
                file.seek(max(0, file.tell() - TAIL_BYTES))
                return file.read().decode("utf-8", "replace")
        except OSError:
            return ""

    def report(self, phase: str) -> CrashReport:
        """See ``HostedProcess.report``."""
        code = self.poll()
        before, after = self._oom_before, oom_kills()
        return CrashReport(
            phase=phase,
            exit_code=code if code is not None and code >= 0 else None,
            signal=-code if code is not None and code < 0 else None,
            oom_killed=None if before is None or after is None else after > before,
            stderr_tail=self.stderr_tail(),
        )


class Processes:
    """Implements ``ports_forces.ProcessHost``."""

    def __init__(self, places: Places) -> None:
        self._places = places
        self._number = 0
        self._lock = threading.Lock()

    def __reduce__(self) -> tuple[type[Processes], tuple[Places]]:
        return Processes, (self._places,)

    def start(
        self,
        environment: ReadyEnvironment,
        arguments: Sequence[str],
        *,
        pass_fds: Sequence[int] = (),
        env: Mapping[str, str] | None = None,
        threads: int = 1,
        name: str = "worker",
    ) -> Process:
        """See ``ProcessHost.start``."""
        if environment.external:
            external.verify(environment, self._places)
        built = load_record(self._places.environment(environment.id))
        caches = self._places.caches(environment.engine)
        surroundings = {
            **variables(caches, threads=threads),
            **library_path((built or {}).get("library_dir"), foreign=built is None),
            **(env or {}),
        }
        program = [environment.python, "-I", environment.worker, *arguments]
        hold_fd = None if built is None else self._in_use(environment)
        try:
            make_directories(caches)
            self._places.logs.mkdir(mode=0o700, parents=True, exist_ok=True)
            workdir = Path(tempfile.mkdtemp(dir=caches, prefix="work-"))
            stderr = self._log_path(name)
            return self._start(program, surroundings, workdir, stderr, pass_fds, hold_fd)
        except OSError as error:
            raise EnvironmentBroken(
                f"a process of {environment.engine} cannot be started: "
                f"{error.filename or ''} {error.strerror or error}",
                hint="check the permissions and the space of the data directory",
            ) from None
        finally:
            if hold_fd is not None:
                os.close(hold_fd)

    def _start(
        self,
        program: Sequence[str],
        surroundings: Mapping[str, str],
        workdir: Path,
        stderr: Path,
        pass_fds: Sequence[int],
        hold_fd: int | None,
    ) -> Process:
        held = () if hold_fd is None else (hold_fd,)
        before = oom_kills()
        try:
            guard = subprocess.Popen(
                guarded(program, log=stderr, hold_fd=hold_fd, tidy=workdir),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env=dict(surroundings),
                cwd=workdir,
                pass_fds=(*pass_fds, *held),
                start_new_session=True,
            )
        except OSError:
            shutil.rmtree(workdir, ignore_errors=True)
            raise
        return Process(guard, stderr, before)

    def _in_use(self, environment: ReadyEnvironment) -> int:
        """Mark an environment as used, for as long as the process lives, whoever started it."""
        try:
            fd = shared(use_lock(self._places, environment.id))
        except OSError as error:
            raise EnvironmentBroken(
                f"the environment of {environment.engine} cannot be used: {error.strerror}",
                hint="check the permissions of the data directory",
            ) from None
        if fd is None:
            raise EnvironmentBroken(
                f"the environment of {environment.engine} is just being removed",
                hint=f"crystalmath engines install {environment.engine}",
            )
        return fd

    def _log_path(self, name: str) -> Path:
        with self._lock:
            self._number += 1
            return self._places.logs / f"{name}-{os.getpid()}-{self._number}.stderr"


def remove_old_logs(places: Places, keep_s: float = _KEPT_LOGS_S) -> None:
    """Remove the last words of processes that ended long ago."""
    border = time.time() - keep_s
    for path in places.logs.glob("*.stderr"):
        with contextlib.suppress(OSError):
            if path.stat().st_mtime < border:
                path.unlink()
