"""Finding a Python for an environment, and asking one what it is."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import sysconfig
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from packaging.specifiers import SpecifierSet

from crystalmath.errors import EnvironmentBroken, EnvironmentUnbuildable
from crystalmath.isolation.places import Places
from crystalmath.isolation.uv import Uv

_PROBE = Path(__file__).with_name("probe.py")
_PROBE_S = 300.0
_ASK_S: Final = 30.0
_MINORS: Final = range(8, 30)
_ASK: Final = """
import json, platform, sysconfig
get = sysconfig.get_config_var
print(json.dumps([platform.python_version(), sysconfig.get_platform(), get("SOABI") or "",
                  get("LIBDIR") if get("Py_ENABLE_SHARED") else None]))
"""


@dataclass(frozen=True, slots=True)
class Interpreter:
    """A Python that environments can be made from.

    Attributes
    ----------
    platform
        For which operating system, processor and binary interface its packages are built.
    library_dir
        Where its own shared library lies, or None when it is linked in.
    """

    path: str
    version: str
    platform: str
    library_dir: str | None = None


def own_interpreter() -> Interpreter:
    """Return the Python that runs this; of a virtual environment, the one that it was made from."""
    get = sysconfig.get_config_var
    return Interpreter(
        path=getattr(sys, "_base_executable", None) or sys.executable,
        version=platform.python_version(),
        platform=f"{sysconfig.get_platform()} {get('SOABI') or ''}",
        library_dir=get("LIBDIR") if get("Py_ENABLE_SHARED") else None,
    )


def fits(requires_python: str | None, version: str) -> bool:
    """Whether a version is one of those that a declaration asks for."""
    return SpecifierSet(requires_python or "").contains(version, prereleases=True)


def find_interpreter(requires_python: str | None, places: Places) -> Interpreter:
    """Return a Python that fits: the one that runs this, else one in PATH, else one of uv's.

    Raises
    ------
    EnvironmentUnbuildable
    """
    own = own_interpreter()
    if fits(requires_python, own.version):
        return own
    for path in _candidates(requires_python, places):
        found = _ask(path)
        if found is not None and fits(requires_python, found.version):
            return found
    raise EnvironmentUnbuildable(
        f"Python {requires_python} is needed, and none is here (this one is {own.version})",
        hint="install one, so that it is in PATH",
    )


def _candidates(requires_python: str | None, places: Places) -> Iterator[str]:
    """Paths of possible interpreters, the older ones first: packages are sooner built for them."""
    names = [
        f"python3.{minor}"
        for minor in _MINORS
        if any(fits(requires_python, f"3.{minor}.{micro}") for micro in range(60))
    ]
    folders = [folder for folder in os.get_exec_path() if folder.startswith("/")]
    for name in (*names, "python3", "python"):
        for folder in folders:
            path = f"{folder}/{name}"
            if os.access(path, os.X_OK):
                yield path
    managed = Uv(places).managed_python(requires_python)
    if managed is not None:
        yield managed


def _ask(path: str) -> Interpreter | None:
    """Ask an interpreter what it is; None when it does not answer, as a shim without a version."""
    try:
        done = subprocess.run(
            [path, "-I", "-c", _ASK], capture_output=True, text=True, check=True, timeout=_ASK_S
        )
        version, system, soabi, library_dir = json.loads(done.stdout)
    except (OSError, ValueError, subprocess.SubprocessError):
        return None
    return Interpreter(path, version, f"{system} {soabi}", library_dir)


def probe(
    python: str, imports: tuple[str, ...], env: Mapping[str, str], cwd: Path
) -> dict[str, Any]:
    """Ask an interpreter what it is made of; see ``probe.py``.

    Parameters
    ----------
    imports
        Modules to import, in this order; what fails is in the facts.

    Raises
    ------
    EnvironmentBroken
        It cannot be started, or does not answer.
    """
    try:
        done = subprocess.run(
            [python, "-I", str(_PROBE), *imports],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            env=dict(env),
            cwd=cwd,
            timeout=_PROBE_S,
            check=False,
        )
    except OSError as error:
        raise EnvironmentBroken(f"{python} cannot be started: {error.strerror}") from None
    except subprocess.TimeoutExpired:
        what = f"importing {', '.join(imports)}" if imports else "the check"
        raise EnvironmentBroken(f"{what} took over 5 minutes") from None
    last = done.stdout.decode("utf-8", "replace").strip().splitlines()[-1:] or [""]
    try:
        facts: dict[str, Any] = json.loads(last[0])
    except ValueError:
        tail = done.stderr.decode("utf-8", "replace").strip()[-1500:]
        raise EnvironmentBroken(
            f"the check of {python} failed: {tail or f'it ended with {done.returncode}'}"
        ) from None
    return facts
