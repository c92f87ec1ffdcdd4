"""Locks: exactly what an environment holds, with hashes, and the id that follows from it."""

from __future__ import annotations

import hashlib
import json
import platform
import re
import sysconfig
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from packaging.markers import Marker, UndefinedEnvironmentName

from crystalmath.errors import EnvironmentUnbuildable
from crystalmath.isolation.declaration import Declared
from crystalmath.isolation.places import Places
from crystalmath.isolation.uv import run_uv

_FIRST: Final = "# lock of "
_ENTRY = re.compile(
    r"^(?P<name>[A-Za-z0-9._-]+)==(?P<version>[^\s;\\]+)\s*(?:;\s*(?P<marker>[^\\]+))?"
)
_WARNING = re.compile(
    r"^warning: (?P<text>.*(?:does not have an extra|yanked|no extra).*)$", re.MULTILINE
)
LOWEST_PYTHON: Final = "3.11"
"""Locks are resolved for this version and newer ones."""


@dataclass(frozen=True, slots=True)
class Lock:
    """One lock file.

    Attributes
    ----------
    text
        As uv wrote it, after a first line that tells which declaration it belongs to.
    """

    text: str

    @property
    def sha256(self) -> str:
        """Of the text."""
        return hashlib.sha256(self.text.encode()).hexdigest()

    def wanted(self, python_version: str) -> dict[str, str]:
        """Normalised name → version of what belongs to this platform and Python."""
        environment = {
            "python_version": ".".join(python_version.split(".")[:2]),
            "python_full_version": python_version,
        }
        found: dict[str, str] = {}
        for line in self.text.splitlines():
            entry = _ENTRY.match(line)
            if entry is None:
                continue
            if entry["marker"] and not _holds(entry["marker"].strip(), environment):
                continue
            found[normalise(entry["name"])] = entry["version"]
        return found


def normalise(name: str) -> str:
    """Name of a distribution as the index compares it (PEP 503)."""
    return re.sub(r"[-_.]+", "-", name).lower()


def _holds(marker: str, environment: dict[str, str]) -> bool:
    try:
        return Marker(marker).evaluate(environment)
    except (UndefinedEnvironmentName, ValueError):
        return True


def declared_digest(declared: Declared) -> str:
    """What a lock belongs to: a change of any of it makes the lock stale."""
    engine = declared.engine
    asked = {
        "dependencies": sorted(engine.dependencies),
        "requires_python": engine.requires_python,
        "uv": declared.uv_tables,
    }
    return hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()[:16]


def environment_id(lock: Lock, python_version: str, abi: int) -> str:
    """First 16 hexadecimal digits of the hash of lock, Python, platform and worker ABI."""
    parts = [lock.text, python_version, sysconfig.get_platform(), platform.machine(), str(abi)]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]


def lock_path(declared: Declared, places: Places) -> Path:
    """Where the lock of a declaration lies, or will."""
    engine = declared.engine
    if engine.origin == "shipped":
        return engine.path.with_suffix(".lock")
    return places.locks / f"{engine.name}-{declared_digest(declared)}.lock"


def load_lock(declared: Declared, places: Places) -> Lock | None:
    """Return the lock of a declaration, or None when there is none or it is stale."""
    try:
        text = lock_path(declared, places).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return None
    return Lock(text) if text.startswith(_FIRST + declared_digest(declared)) else None


def make_lock(
    declared: Declared,
    places: Places,
    *,
    cancelled: Callable[[], bool] = lambda: False,
    into: Path | None = None,
) -> Lock:
    """Resolve a declaration and write its lock.

    Raises
    ------
    EnvironmentUnbuildable
        The pins exclude each other, or something else than asked for would be installed.
    """
    engine = declared.engine
    path = into or lock_path(declared, places)
    with tempfile.TemporaryDirectory(prefix="crystalmath-lock-") as folder:
        project = Path(folder)
        (project / "pyproject.toml").write_text(_project(declared), encoding="utf-8")
        output = project / "lock.txt"
        said = run_uv(
            [
                "pip", "compile", "--universal", "--generate-hashes", "--no-header",
                "--no-annotate", "--python-version", LOWEST_PYTHON,
                "--project", str(project), str(project / "pyproject.toml"), "-o", str(output),
            ],
            places.logs / f"lock-{engine.name}.log",
            env={},
            cancelled=cancelled,
        )  # fmt: skip
        warning = _WARNING.search(said)
        if warning is not None:
            raise EnvironmentUnbuildable(
                f"the lock of {engine.name} would not hold what is asked for: {warning['text']}",
                hint=f"correct the dependencies in {engine.path.name}",
            )
        text = f"{_FIRST}{declared_digest(declared)}\n{output.read_text(encoding='utf-8')}"
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.part")
    part.write_text(text, encoding="utf-8")
    part.replace(path)
    return Lock(text)


def _project(declared: Declared) -> str:
    """A project that asks for the same, since uv reads its tables from one only."""
    engine = declared.engine
    python = engine.requires_python or f">={LOWEST_PYTHON}"
    lines = [
        "[project]",
        f"name = {json.dumps('crystalmath-' + engine.name.replace('_', '-'))}",
        'version = "0"',
        f"requires-python = {json.dumps(python)}",
        f"dependencies = {json.dumps(list(engine.dependencies))}",
    ]
    return "\n".join([*lines, *_toml("tool.uv", declared.uv_tables)]) + "\n"


def _toml(name: str, table: object) -> list[str]:
    """Write a table of plain values; inline where it is nested in a list."""
    if not isinstance(table, dict) or not table:
        return []
    lines = [f"[{name}]"]
    nested: list[str] = []
    for key, value in table.items():
        if isinstance(value, dict):
            nested += _toml(f"{name}.{json.dumps(key)}", value)
        else:
            lines.append(f"{json.dumps(key)} = {_inline(value)}")
    return lines + nested


def _inline(value: object) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(k)} = {_inline(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(_inline(one) for one in value) + "]"
    return json.dumps(value)
