"""Interpreters that somebody else has built: used as they are, and watched for changes.

No build and no lock: the version, the platform and the installed distributions stand in its place.
They are recorded at ``install`` and compared at every start.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from crystalmath.errors import EnvironmentBroken, EnvironmentUnbuildable
from crystalmath.isolation.interpreters import probe
from crystalmath.isolation.places import Places
from crystalmath.isolation.surroundings import empty_directory, library_path, variables
from crystalmath.services.ports_forces import EngineDeclaration, ReadyEnvironment

_PREFIX: Final = "external-"
_NEEDED: Final = "numpy"


def record_path(engine: str, places: Places) -> Path:
    """Where the record of an external interpreter lies."""
    return places.environments / f"{_PREFIX}{engine}.json"


def recorded_engines(places: Places) -> dict[str, Path]:
    """Return the engines whose interpreters have a record, and the record."""
    files = places.environments.glob(f"{_PREFIX}*.json")
    return {path.stem.removeprefix(_PREFIX): path for path in sorted(files)}


def identify(facts: Mapping[str, Any]) -> str:
    """First 16 hexadecimal digits of the hash of what a probe told."""
    installed = sorted((n, one["version"]) for n, one in facts["distributions"].items())
    text = json.dumps([facts["version"], facts["platform"], installed])
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _probed(engine: str, python: str, imports: tuple[str, ...], places: Places) -> dict[str, Any]:
    caches = places.caches(engine)
    with empty_directory(caches) as cwd:
        env = variables(caches) | library_path(None, foreign=True)
        return probe(python, imports, env, cwd)


def register(engine: EngineDeclaration, places: Places) -> dict[str, Any]:
    """Look at the interpreter and record what it is.

    Raises
    ------
    EnvironmentUnbuildable
        It is not there, or what is to be imported first cannot be.
    """
    python = engine.external_python
    assert python is not None
    if not Path(python).is_file():
        raise EnvironmentUnbuildable(
            f"the interpreter {python} of {engine.name} is not there",
            hint=f"correct `python` in {engine.path}",
        )
    try:
        facts = _probed(engine.name, python, (*engine.import_first, _NEEDED), places)
    except EnvironmentBroken as error:
        raise EnvironmentUnbuildable(error.message) from None
    if facts["failures"]:
        name, text = next(iter(facts["failures"].items()))
        raise EnvironmentUnbuildable(
            f"{python} cannot import {name}: {text.strip().splitlines()[-1]}"
        )
    record = {
        "id": identify(facts),
        "python": python,
        "python_version": facts["python_version"],
        "versions": {n: one["version"] for n, one in facts["distributions"].items()},
        "built_at": time.time(),
    }
    path = record_path(engine.name, places)
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.part")
    part.write_text(json.dumps(record, indent=1), encoding="utf-8")
    part.replace(path)
    return record


def load_record(engine: EngineDeclaration, places: Places) -> dict[str, Any] | None:
    """Return the record of an interpreter, or None when there is none for this path."""
    try:
        text = record_path(engine.name, places).read_text(encoding="utf-8")
        record: dict[str, Any] = json.loads(text)
    except (OSError, ValueError):
        return None
    return record if record.get("python") == engine.external_python else None


def verify(environment: ReadyEnvironment, places: Places) -> None:
    """Compare an interpreter with its record.

    Raises
    ------
    EnvironmentBroken
        It cannot be started, or something in it has changed; the distributions are named.
    """
    facts = _probed(environment.engine, environment.python, (), places)
    if identify(facts) == environment.id:
        return
    now = {n: one["version"] for n, one in facts["distributions"].items()}
    changed = sorted(
        f"{name} {environment.versions.get(name, 'absent')} → {now.get(name, 'absent')}"
        for name in now.keys() | environment.versions.keys()
        if now.get(name) != environment.versions.get(name)
    )
    raise EnvironmentBroken(
        f"the interpreter of {environment.engine} has changed: "
        f"{', '.join(changed[:5]) or facts['version'].splitlines()[0]}",
        hint=f"if that is intended: crystalmath engines install {environment.engine}",
    )
