"""Weights by their hash: the user's files, and what was downloaded and verified."""

from __future__ import annotations

import contextlib
import hashlib
import http.client
import json
import os
import shutil
import tempfile
import time
import urllib.parse
import urllib.request
from collections.abc import Callable
from pathlib import Path, PurePosixPath
from typing import IO, Any, Final

from crystalmath.errors import Cancelled, EnvironmentUnbuildable, InputRejected
from crystalmath.isolation.places import Places
from crystalmath.services.ports_forces import InstallStep, ModelDeclaration

_CHUNK: Final = 1 << 20
_CONNECT_S: Final = 30.0
_RACY_NS: Final = 2_000_000_000
_PART: Final = ".part-"
_OLD_S: Final = 86400.0


def sha256_of_file(path: Path) -> str:
    """Hash a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


class ModelStore:
    """What lies on the disk of weights. Safe between processes: writes are renames."""

    def __init__(self, places: Places) -> None:
        self._root = places.models / "sha256"
        self._hashes = places.models / "hashes.json"

    def path_of(self, model: ModelDeclaration) -> Path:
        """Where downloaded weights lie, or would; under their own name, which loaders look at."""
        assert model.sha256 is not None
        assert model.url is not None
        name = PurePosixPath(urllib.parse.unquote(urllib.parse.urlsplit(model.url).path)).name
        return self._root / model.sha256 / (name or "weights")

    def hash_file(self, path: Path, field: str = "model") -> str:
        """Hash a user's file; remembered while its size, times and inode stay.

        Raises
        ------
        InputRejected
            It cannot be read.
        """
        try:
            if not path.is_file():
                what = "no file" if path.exists() else "not there"
                raise InputRejected(f"{path} is {what}", field=field, hint="check the path")
            info = path.stat()
            mark = [info.st_size, info.st_mtime_ns, info.st_ctime_ns, info.st_ino, info.st_dev]
            known = _load(self._hashes).get(str(path), {})
            if known.get("mark") == mark:
                return str(known["sha256"])
            digest = sha256_of_file(path)
        except OSError as error:
            raise InputRejected(
                f"{path}: {error.strerror}", field=field, hint="check the path"
            ) from None
        if time.time_ns() - info.st_mtime_ns > _RACY_NS:  # else it may change unnoticed
            self._remember(str(path), {"mark": mark, "sha256": digest})
        return digest

    def _remember(self, path: str, entry: dict[str, Any]) -> None:
        """Keep a hash; that of another process may get lost, and is made again then."""
        with contextlib.suppress(OSError):
            known = {k: v for k, v in _load(self._hashes).items() if Path(k).exists()}
            save_json(self._hashes, known | {path: entry})

    def download(
        self,
        model: ModelDeclaration,
        progress: Callable[[InstallStep], None],
        cancelled: Callable[[], bool],
    ) -> Path:
        """Fetch the weights of a model, verify them, and only then give them their name.

        Raises
        ------
        EnvironmentUnbuildable
            No network, no space, or another hash: both are named, and the file is not kept.
        Cancelled
        """
        final = self.path_of(model)
        if final.is_file():
            return final
        try:
            self._root.mkdir(mode=0o700, parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(dir=self._root, prefix=_PART) as folder:
                part = Path(folder) / final.name
                with part.open("xb") as file:
                    _fetch(model, file, progress, cancelled)
                    file.flush()
                    os.fsync(file.fileno())
                final.parent.mkdir(mode=0o700, exist_ok=True)
                part.replace(final)
        except OSError as error:
            raise EnvironmentUnbuildable(
                f"the weights of {model.id} cannot be stored: {error.strerror or error}"
            ) from None
        return final

    def stored(self) -> list[tuple[str, Path]]:
        """Hash and directory of everything in the store."""
        found = (path for path in sorted(self._root.glob("*")) if not path.name.startswith("."))
        return [(path.name, path) for path in found]

    def rubbish(self) -> list[Path]:
        """Parts of downloads that were broken off more than a day ago."""
        old = time.time() - _OLD_S
        return [p for p in self._root.glob(f"{_PART}*") if p.stat().st_mtime < old]


def _fetch(
    model: ModelDeclaration,
    file: IO[bytes],
    progress: Callable[[InstallStep], None],
    cancelled: Callable[[], bool],
) -> None:
    assert model.url is not None
    try:
        source = urllib.request.urlopen(model.url, timeout=_CONNECT_S)  # noqa: S310 - https only, by the declaration's check
    except (OSError, http.client.HTTPException) as error:
        raise _unreachable(model, error) from None
    with source:
        _check_space(model, file)
        digest, size = _copy(model, source, file, progress, cancelled)
    if model.size_bytes is not None and size < model.size_bytes:
        raise _unreachable(model, f"the connection ended after {size} of {model.size_bytes} bytes")
    if digest != model.sha256:
        raise EnvironmentUnbuildable(
            f"the weights of {model.id} have the sha256 {digest}, not {model.sha256}",
            hint="they were not kept; what is offered there has changed",
        )


def _unreachable(model: ModelDeclaration, why: object) -> EnvironmentUnbuildable:
    return EnvironmentUnbuildable(
        f"the weights of {model.id} cannot be fetched: {getattr(why, 'reason', None) or why}",
        hint="check the network, or give a file that you have",
    )


def _check_space(model: ModelDeclaration, file: IO[bytes]) -> None:
    free = shutil.disk_usage(Path(file.name).parent).free
    if model.size_bytes is not None and model.size_bytes > free:
        raise EnvironmentUnbuildable(
            f"the weights of {model.id} take {model.size_bytes / 1e6:.0f} MB, "
            f"{free / 1e6:.0f} MB are free",
            hint="free some space and try again",
        )


def _copy(
    model: ModelDeclaration,
    source: Any,
    file: IO[bytes],
    progress: Callable[[InstallStep], None],
    cancelled: Callable[[], bool],
) -> tuple[str, int]:
    """Copy a stream; return its hash and its size."""
    digest, done, total = hashlib.sha256(), 0, model.size_bytes
    while True:
        try:
            chunk = source.read(_CHUNK)
        except (OSError, http.client.HTTPException) as error:
            raise _unreachable(model, error) from None
        if not chunk:
            return digest.hexdigest(), done
        if cancelled():
            raise Cancelled("the download was stopped")
        file.write(chunk)
        digest.update(chunk)
        done += len(chunk)
        if total is not None and done > total:
            raise EnvironmentUnbuildable(
                f"the weights of {model.id} are larger than the {total} bytes that are declared",
                hint="they were not kept; what is offered there has changed",
            )
        part = done / total if total else None
        progress(InstallStep("models", f"downloading {model.id}", part, done, total))


def _load(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def save_json(path: Path, document: dict[str, Any]) -> None:
    """Write a document, all or nothing."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    part.write_text(json.dumps(document, indent=1, ensure_ascii=False), encoding="utf-8")
    part.replace(path)
