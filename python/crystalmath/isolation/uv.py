"""Running uv: where it is, what it prints, and how it is stopped."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from crystalmath.errors import Cancelled, EnvironmentUnbuildable

_POLL_S = 0.2
_TAIL_BYTES = 4000
_SIZE = re.compile(r"^Downloading (?P<name>\S+) \((?P<size>[\d.]+)(?P<unit>[KMG]?i?B)\)", re.ASCII)
_DONE = re.compile(r"^\s*Downloaded (?P<name>\S+)", re.ASCII)
_UNITS = {"B": 1, "KiB": 1024, "MiB": 1024**2, "GiB": 1024**3, "KB": 1000, "MB": 10**6, "GB": 10**9}


def find_uv() -> str:
    """Return uv's path: the one installed beside CrystalMath, else the one in PATH.

    Raises
    ------
    EnvironmentUnbuildable
    """
    beside = Path(sys.executable).parent / "uv"
    found = str(beside) if beside.is_file() else shutil.which("uv")
    if found is None:
        raise EnvironmentUnbuildable(
            "uv, which builds environments, is not installed", hint="install the package uv"
        )
    return found


@dataclass(slots=True)
class Downloads:
    """Bytes of the large files, as far as uv tells of them."""

    sizes: dict[str, int]
    done: set[str]

    @property
    def total_bytes(self) -> int:
        """Of all that were begun."""
        return sum(self.sizes.values())

    @property
    def done_bytes(self) -> int:
        """Of those that are here."""
        return sum(self.sizes.get(name, 0) for name in self.done)

    def read(self, text: str) -> None:
        """Take all that uv has printed so far."""
        for line in text.splitlines():
            begun, done = _SIZE.match(line), _DONE.match(line)
            if begun:
                factor = _UNITS.get(begun["unit"], 1)
                self.sizes[begun["name"]] = int(float(begun["size"]) * factor)
            elif done:
                self.done.add(done["name"])


def run_uv(
    arguments: Sequence[str],
    log: Path,
    *,
    env: Mapping[str, str],
    progress: Callable[[Downloads], None] = lambda _d: None,
    cancelled: Callable[[], bool] = lambda: False,
) -> str:
    """Run uv to its end and return what it printed.

    Parameters
    ----------
    log
        All it prints is appended here, after its command line.

    Raises
    ------
    EnvironmentUnbuildable
        It failed; the message holds its own reason, the hint where the log is.
    Cancelled
        ``cancelled`` became true; uv was ended.
    """
    if cancelled():
        raise Cancelled("the installation was stopped")
    command = [find_uv(), "--no-progress", "--color", "never", *arguments]
    log.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with log.open("ab") as sink:
        sink.write(f"$ uv {' '.join(arguments)}\n".encode())
        sink.flush()
        start = sink.tell()
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=sink,
            stderr=sink,
            env={**os.environ, **env, "UV_NO_CONFIG": "1", "UV_PYTHON_DOWNLOADS": "never"},
            start_new_session=True,
        )
        try:
            _wait(process, log, start, progress, cancelled)
        except BaseException:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            raise
    said = _since(log, start)
    if process.returncode != 0:
        raise EnvironmentUnbuildable(_reason(said), hint=f"the whole log is {log}")
    return said


def _wait(
    process: subprocess.Popen[bytes],
    log: Path,
    start: int,
    progress: Callable[[Downloads], None],
    cancelled: Callable[[], bool],
) -> None:
    seen = 0
    downloads = Downloads({}, set())
    while True:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_POLL_S)
            return
        if cancelled():
            raise Cancelled("the installation was stopped")
        size = log.stat().st_size
        if size != seen:
            seen = size
            downloads.read(_since(log, start))
            progress(downloads)


def _since(log: Path, start: int) -> str:
    with log.open("rb") as file:
        file.seek(start)
        return file.read().decode("utf-8", "replace")


def _reason(said: str) -> str:
    """Return uv's own explanation, without colours and progress."""
    lines = [line.rstrip() for line in said.splitlines()]
    begun = next((i for i, line in enumerate(lines) if line.lstrip().startswith("×")), None)
    if begun is None:
        begun = next((i for i, line in enumerate(lines) if line.startswith("error:")), 0)
    text = " ".join(re.sub(r"^[×├╰│─▶ ]+", "", line).strip() for line in lines[begun:])
    text = re.sub(r"\s+", " ", text).removeprefix("error: ").strip()
    if "No space left on device" in said or "os error 28" in said:
        return f"the disk is full: {text[:300]}"
    return text[:1500] or "uv failed without a word"


def uv_version() -> str | None:
    """The version of uv here."""
    try:
        said = subprocess.run(
            [find_uv(), "--version"], capture_output=True, text=True, timeout=20, check=True
        ).stdout
    except (OSError, subprocess.SubprocessError, EnvironmentUnbuildable):
        return None
    return said.split()[1] if len(said.split()) > 1 else None
