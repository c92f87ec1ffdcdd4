"""Running uv: where it is, what it sees, what it prints, and how it is stopped."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from crystalmath.errors import Cancelled, EnvironmentUnbuildable
from crystalmath.isolation.guard_command import guarded
from crystalmath.isolation.places import Places

_POLL_S: Final = 0.2
_END_S: Final = 10.0
_FIND_S: Final = 60.0
_NO_SPACE_BYTES: Final = 1 << 20
_SIZE = re.compile(r"^Downloading (?P<name>\S+) \((?P<size>[\d.]+)(?P<unit>[KMG]?i?B)\)", re.ASCII)
_DONE = re.compile(r"^\s*Downloaded (?P<name>\S+)", re.ASCII)
_UNITS: Final = {
    "B": 1, "KiB": 1024, "MiB": 1024**2, "GiB": 1024**3, "KB": 1000, "MB": 10**6, "GB": 10**9,
}  # fmt: skip
_FULL = re.compile(r"No space left on device|Disk quota exceeded|os error (28|122)\b")
_HIDDEN = re.compile(r"^(PYTHON|CONDA|PIP_|UV_|VIRTUAL_ENV$|LD_PRELOAD$|__PYVENV)")
_UV_PASSED = re.compile(
    r"^UV_(DEFAULT_INDEX|INDEX|INDEX_URL|EXTRA_INDEX_URL|INDEX_.*_(USERNAME|PASSWORD)|NATIVE_TLS"
    r"|SYSTEM_CERTS|INSECURE_HOST|HTTP_.*|OFFLINE|CONCURRENT_.*|KEYRING_PROVIDER|CONFIG_FILE)$"
)
_CERTIFICATES: Final = ("/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt")


class Downloads:
    """Bytes of the large files, as far as uv tells of them."""

    def __init__(self) -> None:
        self.sizes: dict[str, int] = {}
        self.done: set[str] = set()

    @property
    def total_bytes(self) -> int:
        """Of all that were begun."""
        return sum(self.sizes.values())

    @property
    def done_bytes(self) -> int:
        """Of those that are here."""
        return sum(self.sizes.get(name, 0) for name in self.done)

    @property
    def missing(self) -> list[str]:
        """Names of those that are on their way."""
        return sorted(self.sizes.keys() - self.done)

    def read(self, text: str) -> None:
        """Take all that uv has printed so far."""
        for line in text.splitlines():
            begun, done = _SIZE.match(line), _DONE.match(line)
            if begun:
                factor = _UNITS.get(begun["unit"], 1)
                self.sizes[begun["name"]] = int(float(begun["size"]) * factor)
            elif done:
                self.done.add(done["name"])


class Uv:
    """The program uv, with everything of the host that must not leak taken away.

    Parameters
    ----------
    hold_fd
        A locked file that stays open while anything started here is alive, so that whoever waits
        for the lock never meets the remains of a killed process still at work.
    """

    def __init__(self, places: Places, hold_fd: int | None = None) -> None:
        self._places = places
        self._hold_fd = hold_fd

    def run(
        self,
        arguments: Sequence[str],
        log: Path,
        *,
        subject: str,
        cwd: Path,
        anew: bool = False,
        progress: Callable[[Downloads], None] = lambda _d: None,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> str:
        """Run uv to its end and return what it printed.

        Parameters
        ----------
        log
            All it prints is appended here, after its command line; ``anew`` empties it first.
        subject
            What fails when it fails, for the message.
        cwd
            A directory in which no configuration of anybody else lies.

        Raises
        ------
        EnvironmentUnbuildable
            It failed; the message holds its own reason, the hint where the log is.
        Cancelled
            ``cancelled`` became true; uv was ended.
        """
        if cancelled():
            raise Cancelled("the installation was stopped")
        log.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        command = [find_uv(self._places), "--no-progress", "--color", "never", *arguments]
        with log.open("wb" if anew else "ab") as sink:
            sink.write(f"$ uv {' '.join(arguments)}\n".encode())
            sink.flush()
            start = sink.tell()
            guard = subprocess.Popen(
                guarded(command, hold_fd=self._hold_fd),
                stdin=subprocess.DEVNULL,
                stdout=sink,
                stderr=sink,
                env=self._variables(os.environ),
                cwd=cwd,
                pass_fds=() if self._hold_fd is None else (self._hold_fd,),
                start_new_session=True,
            )
        try:
            _wait(guard, log, start, progress, cancelled)
        except BaseException:
            guard.send_signal(signal.SIGTERM)
            guard.wait(_END_S)
            raise
        said = _since(log, start)
        if guard.returncode != 0:
            raise self._failure(subject, said, guard.returncode, log)
        return said

    def managed_python(self, requires_python: str | None) -> str | None:
        """Return an interpreter that uv itself has installed before."""
        with _nowhere() as cwd:
            try:
                found = subprocess.run(
                    [find_uv(self._places), "python", "find", "--managed-python",
                     requires_python or ""],
                    capture_output=True, text=True, check=False, timeout=_FIND_S, cwd=cwd,
                    env=self._variables(os.environ),
                )  # fmt: skip
            except (OSError, subprocess.SubprocessError):
                return None
        return found.stdout.strip() or None if found.returncode == 0 else None

    def _variables(self, host: Mapping[str, str]) -> dict[str, str]:
        """Return the host's variables without those that change what is chosen or built."""
        kept = {k: v for k, v in host.items() if not _HIDDEN.match(k) or _UV_PASSED.match(k)}
        if any(Path(one).exists() for one in _CERTIFICATES):
            kept.setdefault("UV_SYSTEM_CERTS", "1")  # a company's proxy signs with its own
        return kept | {
            "UV_CACHE_DIR": str(cache_directory(self._places)),
            "UV_PYTHON_DOWNLOADS": "never",
        }

    def _failure(self, subject: str, said: str, code: int, log: Path) -> EnvironmentUnbuildable:
        reason = _reason(said) or f"uv ended with {code} and without a word"
        full = _FULL.search(said)
        for folder in (self._places.data_dir, cache_directory(self._places)):
            free = _free_bytes(folder)
            if full or free < _NO_SPACE_BYTES:
                return EnvironmentUnbuildable(
                    f"{subject}: the disk is full, {free / 1e6:.0f} MB are left in {folder}",
                    hint=f"free some space and try again; the whole log is {log}",
                )
        return EnvironmentUnbuildable(f"{subject}: {reason}", hint=f"the whole log is {log}")


def find_uv(places: Places) -> str:
    """Return uv's path: the one that is set, the one installed beside this, the one in PATH.

    Raises
    ------
    EnvironmentUnbuildable
    """
    if places.uv is not None:
        return str(places.uv)
    beside = Path(sys.executable).parent / "uv"
    found = str(beside) if beside.is_file() else shutil.which("uv")
    if found is None:
        raise EnvironmentUnbuildable(
            "uv, which builds environments, is not installed", hint="install the package uv"
        )
    return found


def cache_directory(places: Places) -> Path:
    """Where uv keeps what it has downloaded, so that packages can be hard links."""
    if places.uv_cache is not None:
        return places.uv_cache
    own, xdg = os.environ.get("UV_CACHE_DIR"), os.environ.get("XDG_CACHE_HOME")
    with contextlib.suppress(OSError, RuntimeError):
        home = Path(own) if own else Path(xdg or Path.home() / ".cache") / "uv"
        if _device(home) == _device(places.data_dir):
            return home
    return places.all_caches / "uv"


def _device(path: Path) -> int:
    """File system of a directory, or of the one in which it would be made."""
    while not path.exists() and path != path.parent:
        path = path.parent
    return path.stat().st_dev


def _free_bytes(folder: Path) -> int:
    while not folder.exists():
        folder = folder.parent
    return shutil.disk_usage(folder).free


@contextlib.contextmanager
def _nowhere() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="crystalmath-uv-") as folder:
        yield Path(folder)


def _wait(
    process: subprocess.Popen[bytes],
    log: Path,
    start: int,
    progress: Callable[[Downloads], None],
    cancelled: Callable[[], bool],
) -> None:
    seen = 0
    downloads = Downloads()
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
    """Return uv's own explanation, without its ornaments."""
    lines = [line.rstrip() for line in said.splitlines()]
    begun = next(
        (i for i, line in enumerate(lines) if line.lstrip().startswith(("×", "error:"))), 0
    )
    text = " ".join(re.sub(r"^[×├╰│─▶ ]+", "", line).strip() for line in lines[begun:])
    return re.sub(r"\s+", " ", text).removeprefix("error: ").strip()[:1500]
