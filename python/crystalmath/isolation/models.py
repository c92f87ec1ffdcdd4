"""Weights by their hash: the user's files, downloads, and the consent to licences."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from crystalmath.errors import (
    Cancelled,
    EnvironmentUnbuildable,
    InputRejected,
    LicenceNotAccepted,
)
from crystalmath.isolation.places import Places
from crystalmath.services.ports_forces import InstallStep, ModelDeclaration

_CHUNK: Final = 1 << 20
_CONNECT_S: Final = 30.0


def sha256_of_file(path: Path) -> str:
    """Hash a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


class ModelStore:
    """What lies on the disk of weights. Safe between processes: writes are renames."""

    def __init__(self, places: Places) -> None:
        self._root = places.models
        self._licences = places.models / "licences.json"
        self._hashes = places.models / "hashes.json"

    def path_of(self, sha256: str) -> Path:
        """Where the weights with this hash lie, or would."""
        return self._root / "sha256" / sha256[:2] / sha256

    def hash_file(self, path: Path, field: str = "model") -> str:
        """Hash a user's file; remembered while its size, time and inode stay.

        Raises
        ------
        InputRejected
            It cannot be read.
        """
        try:
            info = path.stat()
            if not path.is_file():
                raise InputRejected(f"{path} is no file", field=field)
            key = str(path)
            mark = [info.st_size, info.st_mtime_ns, info.st_ino, info.st_dev]
            known = _load(self._hashes)
            if known.get(key, {}).get("mark") == mark:
                return str(known[key]["sha256"])
            digest = sha256_of_file(path)
        except OSError as error:
            raise InputRejected(
                f"{path}: {error.strerror}", field=field, hint="check the path"
            ) from None
        known = {k: v for k, v in _load(self._hashes).items() if Path(k).exists()}
        with contextlib.suppress(OSError):
            _save(self._hashes, known | {key: {"mark": mark, "sha256": digest}})
        return digest

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
        assert model.url is not None
        assert model.sha256 is not None
        final = self.path_of(model.sha256)
        if final.is_file():
            return final
        try:
            final.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile(dir=final.parent, prefix=".part-") as part:
                digest = _fetch(model, part, progress, cancelled)
                if digest != model.sha256:
                    raise EnvironmentUnbuildable(
                        f"the weights of {model.id} have the hash {digest}, not {model.sha256}",
                        hint="the file was not kept; what is offered there has changed",
                    )
                part.flush()
                os.fsync(part.fileno())
                os.link(part.name, final)
        except FileExistsError:
            pass  # another process was as quick
        except urllib.error.URLError as error:
            raise EnvironmentUnbuildable(
                f"the weights of {model.id} cannot be fetched: {error.reason}",
                hint="check the network, or give a file that you have",
            ) from None
        except OSError as error:
            raise EnvironmentUnbuildable(
                f"the weights of {model.id} cannot be stored: {error.strerror or error}"
            ) from None
        return final

    def consent(self, model: ModelDeclaration) -> str:
        """``not_needed``, ``given`` or ``needed``."""
        if model.license_text is None:
            return "not_needed"
        return "given" if _digest(model.license_text) in _load(self._licences) else "needed"

    def accept(self, engine: str, model: ModelDeclaration) -> None:
        """Record the consent, once for each text."""
        if model.license_text is not None:
            entry = {"licence": model.license_id, "engine": engine, "model": model.id}
            known = _load(self._licences)
            known.setdefault(_digest(model.license_text), entry | {"at": time.time()})
            _save(self._licences, known)

    def check_consent(self, engine: str, model: ModelDeclaration) -> None:
        """Raise ``LicenceNotAccepted`` where consent is needed and not given."""
        if self.consent(model) == "needed":
            raise LicenceNotAccepted(
                f"the model {model.id} has the licence {model.license_id or 'below'}, which must "
                f"be accepted first: {model.license_text}",
                hint=f"crystalmath engines install {engine} --model {model.id} --accept-license",
            )

    def stored(self) -> list[tuple[str, Path]]:
        """Hash and path of everything in the store."""
        return [
            (path.name, path)
            for path in sorted(self._root.glob("sha256/??/*"))
            if not path.name.startswith(".")
        ]

    def rubbish(self) -> list[Path]:
        """Parts of downloads that were broken off more than a day ago."""
        old = time.time() - 86400
        return [p for p in self._root.glob("sha256/??/.part-*") if p.stat().st_mtime < old]


def _fetch(
    model: ModelDeclaration,
    part: Any,
    progress: Callable[[InstallStep], None],
    cancelled: Callable[[], bool],
) -> str:
    assert model.url is not None
    digest, done = hashlib.sha256(), 0
    with urllib.request.urlopen(model.url, timeout=_CONNECT_S) as source:  # noqa: S310 - https only, by the declaration's check
        free = shutil.disk_usage(Path(part.name).parent).free
        if model.size_bytes is not None and model.size_bytes > free:
            raise EnvironmentUnbuildable(
                f"the weights of {model.id} need {model.size_bytes} bytes, {free} are free"
            )
        while chunk := source.read(_CHUNK):
            if cancelled():
                raise Cancelled("the download was stopped")
            part.write(chunk)
            digest.update(chunk)
            done += len(chunk)
            total = model.size_bytes
            progress(
                InstallStep(
                    "models",
                    f"downloading {model.id}",
                    done / total if total else None,
                    done,
                    total,
                )
            )
    return digest.hexdigest()


def _digest(text: str) -> str:
    return hashlib.sha256(" ".join(text.split()).encode()).hexdigest()


def _load(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _save(path: Path, document: dict[str, Any]) -> None:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    part.write_text(json.dumps(document, indent=1, ensure_ascii=False), encoding="utf-8")
    part.replace(path)
