"""``env.json``: what an environment is, and the quick look whether it still is.

Written last, before an environment gets its final name.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from crystalmath.isolation.inventory import damage

RECORD: Final = "env.json"
_KEYS: Final = frozenset(
    {
        "id", "engine", "python_version", "library_dir", "abi", "lock_sha256", "site", "landmarks",
        "versions", "built_at",
    }
)  # fmt: skip


def load_record(directory: Path) -> dict[str, Any] | None:
    """Return what an environment says of itself, or None."""
    try:
        record = json.loads((directory / RECORD).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    if not isinstance(record, dict) or not record.keys() >= _KEYS:
        return None  # of another version of CrystalMath
    return record if record["id"] == directory.name else None


def python_of(directory: Path) -> Path:
    """Interpreter of an environment; the link must not be resolved."""
    return directory / "bin" / "python"


def site_of(directory: Path, record: Mapping[str, Any]) -> Path:
    """Where its packages lie."""
    return directory / str(record["site"])


def quick_problem(directory: Path, record: Mapping[str, Any] | None) -> str | None:
    """Say what is wrong with an environment after a look at one file of each package."""
    if record is None:
        return "its record is missing or unreadable"
    if not python_of(directory).exists():
        return "its Python is gone"
    site = site_of(directory, record)
    for name in record["landmarks"]:
        if not (site / name).exists():
            return f"{name} is missing"
    return None


def thorough_problem(directory: Path, record: Mapping[str, Any] | None) -> str | None:
    """Say what is wrong with an environment after a look at every file."""
    quick = quick_problem(directory, record)
    if quick is not None or record is None:
        return quick
    return next(iter(damage(site_of(directory, record))), None)
