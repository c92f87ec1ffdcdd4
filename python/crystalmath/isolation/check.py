"""Judging what an environment told of itself: that nothing of the host leaks in.

The child reports (``probe``), the host judges; pure.
"""

from __future__ import annotations

import os.path
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any

from packaging.version import InvalidVersion, Version

from crystalmath.isolation.lock import ANY_VERSION, normalise

_FOREIGN = ("site-packages", "dist-packages")


def judge(
    facts: Mapping[str, Any], prefix: str, wanted: Mapping[str, str] | None
) -> tuple[str, ...]:
    """Name everything that is wrong.

    Parameters
    ----------
    facts
        What ``probe`` told.
    prefix
        The environment's directory.
    wanted
        Normalised name → version of the lock; None when there is none.

    Returns
    -------
    tuple of str
        Empty when nothing leaks and everything is as locked.
    """
    return (
        *_imports(facts),
        *_paths(facts, prefix),
        *_files(facts, prefix),
        *_mapped(facts, prefix),
        *(() if wanted is None else _versions(facts, prefix, wanted)),
    )


def _inside(path: str | None, folder: str) -> bool:
    if not path:
        return False
    real, of = os.path.realpath(path), os.path.realpath(folder)
    return real == of or real.startswith(of.rstrip("/") + "/")


def _imports(facts: Mapping[str, Any]) -> list[str]:
    return [
        f"{name} cannot be imported: {text.strip().splitlines()[-1]}"
        for name, text in facts["failures"].items()
    ]


def _paths(facts: Mapping[str, Any], prefix: str) -> list[str]:
    problems = []
    if not _inside(facts["prefix"], prefix) or not _inside(prefix, facts["prefix"]):
        problems.append(f"sys.prefix is {facts['prefix']}, not the environment")
    if not facts["isolated"]:
        problems.append("the interpreter was not started isolated")
    for entry in facts["path"]:
        ours = _inside(entry, prefix) or _is_stdlib(entry, facts["stdlib"])
        if not ours:
            problems.append(f"sys.path holds {entry}, which is not of the environment")
    return problems


def _is_stdlib(entry: str, stdlib: list[str]) -> bool:
    """The library itself, its extension modules, or its zip beside it; no site-packages."""
    if any(part in _FOREIGN for part in PurePosixPath(entry).parts):
        return False
    if any(_inside(entry, folder) for folder in stdlib):
        return True
    path = PurePosixPath(entry)
    beside = any(path.parent == PurePosixPath(folder).parent for folder in stdlib)
    return beside and path.name.startswith("python") and path.suffix == ".zip"


def _files(facts: Mapping[str, Any], prefix: str) -> list[str]:
    return [
        f"{name} comes from {path}, not from the environment"
        for name, path in facts["files"].items()
        if path is not None and not _inside(path, prefix)
    ]


def _mapped(facts: Mapping[str, Any], prefix: str) -> list[str]:
    return [
        f"a library of another environment is loaded: {path}"
        for path in facts["mapped"]
        if any(part in _FOREIGN for part in PurePosixPath(path).parts) and not _inside(path, prefix)
    ]


def _versions(facts: Mapping[str, Any], prefix: str, wanted: Mapping[str, str]) -> list[str]:
    installed = {normalise(name): one for name, one in facts["distributions"].items()}
    problems = []
    for name, version in wanted.items():
        one = installed.get(name)
        if one is None:
            problems.append(f"{name} {version} is not installed")
        elif version != ANY_VERSION and not _same(one["version"], version):
            problems.append(f"{name} is {one['version']}, the lock says {version}")
        elif not _inside(one["path"], prefix):
            problems.append(f"{name} lies in {one['path']}, not in the environment")
    problems += [
        f"{name} {one['version']} is installed, but not locked"
        for name, one in installed.items()
        if name not in wanted
    ]
    return problems


def _same(installed: str, locked: str) -> bool:
    """Whether a version is the locked one; a lock need not name the local part (``+cpu``)."""
    try:
        now, then = Version(installed), Version(locked)
    except InvalidVersion:
        return installed == locked
    return now == then or (then.local is None and Version(now.public) == then)
