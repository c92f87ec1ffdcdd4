"""Starting processes in environments, each under its guard, and telling how they ended."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from crystalmath.errors import EnvironmentBroken
from crystalmath.isolation import external
from crystalmath.isolation.places import Places
from crystalmath.isolation.surroundings import make_directories, variables
from crystalmath.services.ports_forces import CrashReport, ReadyEnvironment

_GUARD: Final = Path(__file__).with_name("guard.py")
TAIL_BYTES: Final = 8 * 1024
_GIVE_UP_S: Final = 5.0


class Process:
    """Implements ``ports_forces.HostedProcess``.

    Parameters
    ----------
    guard
        The process that was started; the program is its child.
    """

    def __init__(self, guard: subprocess.Popen[bytes], stderr: Path, workdir: Path) -> None:
        self._guard = guard
        self._stderr = stderr
        self._workdir = workdir
        self._lock = threading.Lock()
        self._oom_before = oom_kills()
        self.pid = guard.pid

    def poll(self) -> int | None:
        """See ``HostedProcess.poll``."""
        with self._lock:
            code = self._guard.poll()
        if code is not None:
            shutil.rmtree(self._workdir, ignore_errors=True)
        return code

    def wait(self, timeout_s: float) -> int | None:
        """See ``HostedProcess.wait``."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._guard.wait(timeout_s)
        return self.poll()

    def terminate(self) -> None:
        """See ``HostedProcess.terminate``."""
        for pid in program_pids(self._guard.pid):
            with contextlib.suppress(ProcessLookupError, PermissionError):
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
        caches = self._places.caches(environment.engine)
        try:
            make_directories(caches)
            self._places.logs.mkdir(mode=0o700, parents=True, exist_ok=True)
            workdir = Path(tempfile.mkdtemp(dir=caches, prefix="work-"))
        except OSError as error:
            raise EnvironmentBroken(
                f"{error.filename}: {error.strerror}", hint="check the data directory"
            ) from None
        surroundings = {**variables(caches, threads=threads), **(env or {})}
        if environment.external:
            external.verify(environment, surroundings, workdir)
        stderr = self._log_path(name)
        program = [environment.python, "-I", environment.worker, *arguments]
        try:
            guard = subprocess.Popen(
                [
                    sys.executable,
                    "-I",
                    "-S",
                    str(_GUARD),
                    str(stderr),
                    str(os.getpid()),
                    "--",
                    *program,
                ],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env=surroundings,
                cwd=workdir,
                pass_fds=tuple(pass_fds),
                start_new_session=True,
            )
        except OSError as error:
            shutil.rmtree(workdir, ignore_errors=True)
            raise EnvironmentBroken(
                f"a process of {environment.engine} cannot be started: {error.strerror}"
            ) from None
        return Process(guard, stderr, workdir)

    def _log_path(self, name: str) -> Path:
        with self._lock:
            self._number += 1
            return self._places.logs / f"{name}-{os.getpid()}-{self._number}.stderr"


def program_pids(guard: int) -> list[int]:
    """Pids of the program under a guard (one, or none when it has ended)."""
    try:
        text = Path(f"/proc/{guard}/task/{guard}/children").read_text(encoding="ascii")
    except OSError:
        return []
    return [int(one) for one in text.split()]


def oom_kills() -> int | None:
    """How often the kernel has killed for want of memory in this cgroup; None: not readable."""
    try:
        group = Path("/proc/self/cgroup").read_text(encoding="ascii")
        path = next(line[3:] for line in group.splitlines() if line.startswith("0::"))
        events = Path("/sys/fs/cgroup") / path.lstrip("/") / "memory.events"
        for line in events.read_text(encoding="ascii").splitlines():
            key, _, value = line.partition(" ")
            if key == "oom_kill":
                return int(value)
    except (OSError, ValueError, StopIteration):
        pass
    return None


def remove_old_logs(places: Places, keep_s: float = 7 * 86400) -> None:
    """Remove last words of processes that ended long ago."""
    border = time.time() - keep_s
    for path in places.logs.glob("*.stderr"):
        with contextlib.suppress(OSError):
            if path.stat().st_mtime < border:
                path.unlink()
