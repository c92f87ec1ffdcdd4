"""What is not needed any more: named first, removed only when asked."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Final

from crystalmath.isolation.build import RECORD, load_record
from crystalmath.isolation.models import ModelStore
from crystalmath.isolation.places import Places
from crystalmath.isolation.sizes import sizes_of
from crystalmath.services.ports_forces import Removal

USED: Final = ".last-used"
_FRESH_S: Final = 3600.0


def last_used(directory: Path) -> float | None:
    """When an environment was used last."""
    try:
        return (directory / USED).stat().st_mtime
    except OSError:
        return None


def touch(directory: Path) -> None:
    """Note that an environment is used now."""
    try:
        (directory / USED).touch()
        os.utime(directory / USED)
    except OSError:
        pass  # a read-only environment is used all the same


def collect(
    places: Places,
    models: ModelStore,
    *,
    wanted_ids: Collection[str],
    wanted_models: Collection[str],
    in_use: Collection[str],
    keep_days: float,
    apply: bool,
) -> Iterator[Removal]:
    """Name, and with ``apply`` remove, what nobody needs.

    Parameters
    ----------
    wanted_ids, wanted_models
        Ids of environments, and hashes of weights, that a declaration asks for.
    """
    border = time.time() - keep_days * 86400
    for directory in sorted(places.environments.glob("*")):
        if directory.name.startswith(".") or not directory.is_dir():
            continue
        if directory.name in in_use or directory.name in wanted_ids:
            continue
        record = load_record(directory)
        used = last_used(directory) or (record or {}).get("built_at") or 0.0
        if used > border:
            continue
        yield _remove("environment", directory, "no declaration asks for it", apply=apply)
    for rubbish in _rubbish(places):
        yield _remove(
            "rubbish", rubbish, "left by an installation that was broken off", apply=apply
        )
    for sha256, path in models.stored():
        if sha256 not in wanted_models and path.stat().st_mtime < border:
            yield _remove("model", path, "no declaration names it", apply=apply)
    for part in models.rubbish():
        yield _remove("rubbish", part, "part of a download", apply=apply)


def _rubbish(places: Places) -> Iterator[Path]:
    """What builds have left that are not at work any more."""
    border = time.time() - _FRESH_S
    for pattern in (".building-*", ".broken-*"):
        for path in sorted(places.environments.glob(pattern)):
            if path.stat().st_mtime < border or pattern == ".broken-*":
                yield path


def _remove(kind: str, path: Path, reason: str, *, apply: bool) -> Removal:
    size = sizes_of(path)[0] if path.is_dir() else path.stat().st_size
    removed = False
    if apply:
        if path.is_dir():
            # Without its record it is no environment any more, whatever stops the rest.
            (path / RECORD).unlink(missing_ok=True)
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)
        removed = not path.exists()
    return Removal(kind, path.name, size, reason, removed)  # type: ignore[arg-type]
