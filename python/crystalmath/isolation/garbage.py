"""What is not needed any more: named first, removed only when asked."""

from __future__ import annotations

import contextlib
import os
import shutil
import time
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from crystalmath.isolation import external
from crystalmath.isolation.build import BUILDING, REPLACED, abandoned
from crystalmath.isolation.kit import PREFIX as KIT
from crystalmath.isolation.locks import build_lock, if_free, use_lock
from crystalmath.isolation.models import ModelStore
from crystalmath.isolation.places import Places
from crystalmath.isolation.record import load_record
from crystalmath.isolation.sizes import sizes_of
from crystalmath.services.ports_forces import Removal

USED: Final = ".last-used"
_REMOVING: Final = ".removing-"
_DAY_S: Final = 86400.0
_KEPT_LOGS_S: Final = 30 * _DAY_S
_KEPT_WORK_S: Final = _DAY_S


def last_used(directory: Path) -> float | None:
    """When an environment was used last."""
    try:
        return (directory / USED).stat().st_mtime
    except OSError:
        return None


def touch(directory: Path, now: float) -> None:
    """Note that an environment is used now."""
    with contextlib.suppress(OSError):  # a read-only environment is used all the same
        (directory / USED).touch()
        os.utime(directory / USED, (now, now))


@dataclass(frozen=True, slots=True)
class Wanted:
    """What declarations ask for, and what is in use.

    Attributes
    ----------
    environments, models
        Ids, and hashes of weights.
    engines
        Names of the declared engines.
    unreadable
        Names of those whose declaration cannot be used: what they ask for is not known, so what
        was theirs stays.
    in_use
        Ids and hashes that are used now, whatever the declarations say.
    """

    environments: Collection[str]
    models: Collection[str]
    engines: Collection[str]
    unreadable: Collection[str]
    in_use: Collection[str]


class Collector:
    """One garbage collection.

    Parameters
    ----------
    keep_s
        How long something must have been unused.
    """

    def __init__(
        self,
        places: Places,
        store: ModelStore,
        wanted: Wanted,
        *,
        keep_s: float,
        now: float,
        apply: bool,
    ) -> None:
        self._places = places
        self._store = store
        self._wanted = wanted
        self._now = now
        self._border = now - keep_s
        self._apply = apply

    def collect(self) -> list[Removal]:
        """Name, and with ``apply`` remove, what nobody needs."""
        return [
            *self._environments(),
            *self._kits(),
            *self._models(),
            *self._caches(),
            *self._rubbish(),
        ]

    def _environments(self) -> Iterator[Removal]:
        for directory in sorted(self._places.environments.glob("*")):
            name = directory.name
            if name.startswith(".") or not directory.is_dir():
                continue
            if name in self._wanted.in_use or name in self._wanted.environments:
                continue
            record = load_record(directory) or {}
            if record.get("engine") in self._wanted.unreadable:
                continue
            used = max(last_used(directory) or 0.0, record.get("built_at") or 0.0)
            if used > self._border:
                continue
            with self._unused(name) as free:
                if free:
                    reason = "no declaration asks for it"
                    yield self._remove("environment", directory, name, reason)

    @contextlib.contextmanager
    def _unused(self, environment_id: str) -> Iterator[bool]:
        """Keep an environment from being built or used meanwhile; tells whether that was so."""
        with (
            if_free(build_lock(self._places, environment_id)) as not_built,
            if_free(use_lock(self._places, environment_id)) as not_used,
        ):
            yield not_built and not_used

    def _kits(self) -> Iterator[Removal]:
        """Copies of the worker's files from before an update, where no process runs from them."""
        for directory in sorted(self._places.environments.glob(f"[!.]*/{KIT}*")):
            newest = max(directory.parent.glob(f"{KIT}*"), key=lambda p: p.stat().st_mtime)
            name = directory.parent.name
            if directory != newest and name not in self._wanted.in_use:
                with self._unused(name) as free:
                    if free:
                        title = f"{name}/{directory.name}"
                        yield self._remove("rubbish", directory, title, "from before an update")

    def _models(self) -> Iterator[Removal]:
        if self._wanted.unreadable:
            return  # the declaration that cannot be read may name any of them
        for sha256, path in self._store.stored():
            if sha256 in self._wanted.models or sha256 in self._wanted.in_use:
                continue
            if path.stat().st_mtime < self._border:
                yield self._remove("model", path, sha256, "no declaration names it")

    def _caches(self) -> Iterator[Removal]:
        known = {*self._wanted.engines, *self._wanted.unreadable, "uv"}
        for directory in sorted(self._places.all_caches.glob("*")):
            if directory.name not in known and directory.stat().st_mtime < self._border:
                name = f"caches/{directory.name}"
                yield self._remove(
                    "rubbish", directory, name, "its engine is not declared any more"
                )

    def _rubbish(self) -> Iterator[Removal]:
        for path in abandoned(self._places):
            with if_free(build_lock(self._places, path.name.removeprefix(BUILDING))) as free:
                if free:
                    reason = "left by an installation that was broken off"
                    yield self._remove("rubbish", path, path.name, reason)
        for pattern in (f"{REPLACED}*", f"{_REMOVING}*"):
            for path in sorted(self._places.environments.glob(pattern)):
                yield self._remove("rubbish", path, path.name, "left by a removal")
        for path in self._store.rubbish():
            yield self._remove("rubbish", path, path.name, "part of a download")
        for name, path in external.recorded_engines(self._places).items():
            if name not in self._wanted.engines and name not in self._wanted.unreadable:
                reason = "its engine is not declared any more"
                yield self._remove("rubbish", path, path.name, reason)
        yield from self._old("environments/.logs/*", _KEPT_LOGS_S, "an old log")
        yield from self._old("caches/*/work-*", _KEPT_WORK_S, "left by a process that was killed")

    def _old(self, pattern: str, keep_s: float, reason: str) -> Iterator[Removal]:
        for path in sorted(self._places.data_dir.glob(pattern)):
            if path.stat().st_mtime < self._now - keep_s:
                yield self._remove("rubbish", path, path.name, reason)

    def _remove(
        self, kind: Literal["environment", "model", "rubbish"], path: Path, name: str, reason: str
    ) -> Removal:
        size = sizes_of(path)[0] if path.is_dir() else path.stat().st_size
        removed = self._apply and _gone(path)
        return Removal(kind, name, size, reason, removed)


def _gone(path: Path) -> bool:
    """Remove something; out of its name first, so that half of it is never found there."""
    if not path.is_dir() or path.is_symlink():
        with contextlib.suppress(OSError):
            path.unlink()
        return not path.exists()
    aside = path
    if not path.name.startswith("."):
        aside = path.with_name(f"{_REMOVING}{path.name}-{time.time_ns()}")
        try:
            path.rename(aside)
        except OSError:
            return False
    shutil.rmtree(aside, ignore_errors=True)
    return not path.exists() and not aside.exists()
