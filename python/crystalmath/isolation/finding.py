"""Which environment belongs to a declaration; look-ups in files, nothing is started."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from crystalmath.isolation.declaration import Declared
from crystalmath.isolation.interpreters import fits, own_interpreter
from crystalmath.isolation.kit import WorkerKit
from crystalmath.isolation.lock import Lock, environment_id, load_lock
from crystalmath.isolation.places import Places
from crystalmath.isolation.record import load_record, quick_problem


@dataclass(frozen=True, slots=True)
class Standing:
    """An environment on the disk.

    Attributes
    ----------
    record
        What it says of itself, or None.
    problem
        What is wrong with it.
    """

    directory: Path
    record: dict[str, Any] | None
    problem: str | None


def every_environment(places: Places) -> Iterator[Standing]:
    """Yield everything that bears the name of an environment."""
    for directory in sorted(places.environments.glob("*")):
        if directory.is_dir() and not directory.name.startswith("."):
            record = load_record(directory)
            yield Standing(directory, record, quick_problem(directory, record))


def find_environment(declared: Declared, places: Places, kit: WorkerKit) -> Standing | None:
    """Return the environment of a declaration, whole or not; None when there is none.

    With another Python than the host's the id is not known without looking for one, so it is the
    newest environment from the same lock with a Python that fits.
    """
    lock = load_lock(declared, places)
    if lock is None:
        return None
    wanted, own = declared.engine.requires_python, own_interpreter()
    if fits(wanted, own.version):
        directory = places.environment(environment_id(lock, own, kit.abi))
        if not directory.is_dir():
            return None
        record = load_record(directory)
        return Standing(directory, record, quick_problem(directory, record))
    found = [one for one in every_environment(places) if _belongs(one, lock, wanted, kit)]
    return max(found, key=lambda one: (one.record or {})["built_at"], default=None)


def _belongs(one: Standing, lock: Lock, requires_python: str | None, kit: WorkerKit) -> bool:
    record = one.record
    return (
        record is not None
        and record["lock_sha256"] == lock.sha256
        and record["abi"] == kit.abi
        and fits(requires_python, record["python_version"])
    )
