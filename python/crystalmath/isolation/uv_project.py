"""The small project that tells uv what a declaration asks for; it reads its tables from one."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from packaging.specifiers import SpecifierSet

from crystalmath.errors import EnvironmentUnbuildable
from crystalmath.isolation.declaration import Declared

_LOWEST: Final = ">=3.11"
_MINORS: Final = range(8, 30)
_PLATFORMS: Final = ("linux", "darwin")
_LOCATIONS: Final = ("index", "find-links", "no-index", "index-url", "extra-index-url")
"""Tables of uv that say where files are; the others say which are chosen, and the lock knows."""


def write_asking(declared: Declared, folder: Path) -> Path:
    """Write the project that a lock is made for."""
    tables = dict(declared.uv_tables)
    python = _python_marker(declared.engine.requires_python)
    tables.setdefault("environments", [f"{python} and sys_platform == '{p}'" for p in _PLATFORMS])
    return _write(folder, declared, list(declared.engine.dependencies), tables)


def write_locations(declared: Declared, folder: Path) -> Path:
    """Write the project that says where the files of a lock are, and chooses nothing."""
    tables = {key: declared.uv_tables[key] for key in _LOCATIONS if key in declared.uv_tables}
    # A lock names no index: every declared one is searched, and the hashes decide.
    indexes = [{k: v for k, v in one.items() if k != "explicit"} for one in tables.get("index", [])]
    if indexes:
        tables |= {"index": indexes, "index-strategy": "unsafe-best-match"}
    return _write(folder, declared, [], tables)


def lowest_python(requires_python: str | None) -> str:
    """Return the oldest version that a lock must hold for.

    Raises
    ------
    EnvironmentUnbuildable
        There is none.
    """
    wanted = _wanted(requires_python)
    for minor in _MINORS:
        for micro in range(60):
            if wanted.contains(f"3.{minor}.{micro}"):
                return f"3.{minor}.{micro}" if micro else f"3.{minor}"
    raise EnvironmentUnbuildable(
        f"no Python is {requires_python}", hint="correct requires-python in the declaration"
    )


def _wanted(requires_python: str | None) -> SpecifierSet:
    """Versions that are asked for; the old ones only where they are asked for by name."""
    asked = SpecifierSet(requires_python or "")
    recent = asked & SpecifierSet(_LOWEST)
    fits = any(recent.contains(f"3.{m}.{n}") for m in _MINORS for n in range(60))
    return recent if fits else asked


def _python_marker(requires_python: str | None) -> str:
    parts = sorted(
        f"python_full_version {s.operator} '{s.version}'" for s in _wanted(requires_python)
    )
    return " and ".join(parts)


def _write(
    folder: Path, declared: Declared, dependencies: Sequence[str], tables: Mapping[str, Any]
) -> Path:
    name = "crystalmath-" + declared.engine.name.replace("_", "-")
    project = {"name": name, "version": "0", "dependencies": list(dependencies)}
    local = _absolute(tables, declared.engine.path.parent)
    path = folder / "pyproject.toml"
    path.write_text("\n".join([*_toml("project", project), *_toml("tool.uv", local), ""]), "utf-8")
    return path


def _absolute(tables: Mapping[str, Any], base: Path) -> dict[str, Any]:
    """Let relative paths mean what they mean in the declaration: beside it."""

    def place(value: str) -> str:
        return value if "://" in value or value.startswith("/") else str(base / value)

    found = dict(tables)
    if isinstance(found.get("find-links"), list):
        found["find-links"] = [place(str(one)) for one in found["find-links"]]
    if isinstance(found.get("index"), list):
        found["index"] = [{**one, "url": place(str(one.get("url")))} for one in found["index"]]
    if isinstance(found.get("sources"), dict):
        found["sources"] = {
            name: {**one, "path": place(one["path"])} if "path" in one else one
            for name, one in found["sources"].items()
        }
    return found


def _toml(name: str, table: Mapping[str, Any]) -> list[str]:
    """Write a table of plain values."""
    return [f"[{name}]", *(f"{json.dumps(key)} = {_inline(value)}" for key, value in table.items())]


def _inline(value: object) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{json.dumps(k)} = {_inline(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(_inline(one) for one in value) + "]"
    if isinstance(value, (str, bool, int, float)):
        return json.dumps(value, ensure_ascii=False)
    return str(value)  # a date: TOML has them, and uv's exclude-newer takes one
