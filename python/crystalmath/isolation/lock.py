"""Locks: exactly what an environment holds, with hashes, and the id that follows from it."""

from __future__ import annotations

import hashlib
import json
import re
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from packaging.markers import InvalidMarker, Marker, UndefinedEnvironmentName

from crystalmath.errors import EnvironmentUnbuildable
from crystalmath.isolation.declaration import Declared
from crystalmath.isolation.interpreters import Interpreter, own_interpreter
from crystalmath.isolation.places import Places
from crystalmath.isolation.uv import Uv
from crystalmath.isolation.uv_project import lowest_python, write_asking

_FIRST: Final = "# lock of "
_ENTRY = re.compile(
    r"^(?P<name>[A-Za-z0-9][A-Za-z0-9._-]*)\s*(?:==(?P<version>[^\s;\\]+)|@\s*(?P<url>[^\s;\\]+))"
    r"\s*(?:;\s*(?P<marker>[^\\]+))?"
)
_WARNING = re.compile(
    r"^warning: (?P<text>.*(?:does not have an extra|Failed to parse|unknown field).*)$",
    re.MULTILINE,
)
ANY_VERSION: Final = "*"
"""Stands for the version of what is locked by its address."""


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
    def body(self) -> str:
        """What is locked, without remarks: equal for declarations that lead to the same."""
        lines = (line.rstrip() for line in self.text.splitlines())
        return "\n".join(line for line in lines if line and not line.lstrip().startswith("#"))

    @property
    def sha256(self) -> str:
        """Of the body."""
        return hashlib.sha256(self.body.encode()).hexdigest()

    def wanted(self, python_version: str) -> dict[str, str]:
        """Normalised name → version of what belongs to this platform and Python."""
        environment = {
            "python_version": ".".join(python_version.split(".")[:2]),
            "python_full_version": python_version,
        }
        found: dict[str, str] = {}
        for line in self.body.splitlines():
            entry = _ENTRY.match(line)
            if entry is None:
                continue
            if entry["marker"] and not _holds(entry["marker"].strip(), environment):
                continue
            found[normalise(entry["name"])] = entry["version"] or ANY_VERSION
        return found


def normalise(name: str) -> str:
    """Name of a distribution as the index compares it (PEP 503)."""
    return re.sub(r"[-_.]+", "-", name).lower()


def _holds(marker: str, environment: dict[str, str]) -> bool:
    try:
        return Marker(marker).evaluate(environment)
    except (InvalidMarker, UndefinedEnvironmentName):
        return True


def declared_digest(declared: Declared) -> str:
    """What a lock belongs to: a change of any of it makes the lock stale."""
    engine = declared.engine
    asked = {
        "dependencies": sorted(engine.dependencies),
        "requires_python": engine.requires_python,
        "uv": declared.uv_tables,
    }
    text = json.dumps(asked, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def environment_id(lock: Lock, interpreter: Interpreter, abi: int) -> str:
    """First 16 hexadecimal digits of the hash of lock, Python, platform and worker ABI."""
    parts = [lock.body, interpreter.version, interpreter.platform, str(abi)]
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
    first = text.partition("\n")[0].split()
    return Lock(text) if first == [*_FIRST.split(), declared_digest(declared)] else None


def make_lock(
    declared: Declared, places: Places, *, cancelled: Callable[[], bool] = lambda: False
) -> Lock:
    """Resolve a declaration and write its lock; it holds for every platform that is supported.

    Raises
    ------
    EnvironmentUnbuildable
        The pins exclude each other, or something else than asked for would be installed.
    Cancelled
    """
    engine = declared.engine
    log = places.logs / f"lock-{engine.name}.log"
    with tempfile.TemporaryDirectory(prefix="crystalmath-lock-") as folder:
        project = write_asking(declared, Path(folder))
        output = Path(folder) / "lock.txt"
        said = Uv(places).run(
            [
                "pip", "compile", "--universal", "--generate-hashes", "--no-header",
                "--no-annotate", "--python-version", lowest_python(engine.requires_python),
                "--python", own_interpreter().path, "--project", folder, str(project),
                "-o", str(output),
            ],
            log, subject=f"no versions can be chosen for {engine.name}", cwd=Path(folder),
            anew=True, cancelled=cancelled,
        )  # fmt: skip
        warning = _WARNING.search(said)
        if warning is not None:
            raise EnvironmentUnbuildable(
                f"the lock of {engine.name} would not hold what is asked for: {warning['text']}",
                hint=f"correct the dependencies in {engine.path.name}",
            )
        text = f"{_FIRST}{declared_digest(declared)}\n{output.read_text(encoding='utf-8')}"
    path = lock_path(declared, places)
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.part")
    part.write_text(text, encoding="utf-8")
    part.replace(path)
    return Lock(text)
