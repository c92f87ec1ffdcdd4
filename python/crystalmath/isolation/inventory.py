"""What the packages of an environment should have on the disk by their lists, and what is gone.

The lists are the ``RECORD`` files that every installed distribution brings along.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

_MOST: Final = 20


def damage(site: Path) -> list[str]:
    """Name files that are missing or have another size than installed; twenty at most."""
    found: list[str] = []
    for name, file, size in _listed(site):
        try:
            now = os.stat(file).st_size  # noqa: PTH116 - ten thousands of them
        except OSError:
            found.append(f"a file of {name} is missing: {os.path.relpath(file, site)}")
        else:
            if size is not None and size != now:
                found.append(f"a file of {name} has changed: {os.path.relpath(file, site)}")
        if len(found) >= _MOST:
            break
    return found


def landmarks(site: Path) -> list[str]:
    """Return one file of every distribution, relative to ``site``, for a quick look."""
    found: dict[str, str] = {}
    for name, file, _ in _listed(site):
        inside = os.path.relpath(file, site)
        if name not in found and not inside.startswith("..") and ".dist-info" not in inside:
            found[name] = inside
    records = [f"{path.parent.name}/RECORD" for path in sorted(site.glob("*.dist-info/RECORD"))]
    return records + sorted(found.values())


def _listed(site: Path) -> Iterator[tuple[str, str, int | None]]:
    """Yield distribution, path and size; compiled files come and go."""
    for record in sorted(site.glob("*.dist-info/RECORD")):
        name = record.parent.name.removesuffix(".dist-info")
        with record.open(encoding="utf-8", newline="") as file:
            for row in csv.reader(file):
                if row and not row[0].endswith(".pyc"):
                    path = row[0] if row[0].startswith("/") else f"{site}/{row[0]}"
                    size = int(row[2]) if len(row) > 2 and row[2].isdigit() else None
                    yield name, path, size
