"""Finding a Python for an environment, and asking one what it is."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from packaging.specifiers import InvalidSpecifier, SpecifierSet

from crystalmath.errors import EnvironmentBroken, EnvironmentUnbuildable
from crystalmath.isolation.uv import find_uv

_PROBE = Path(__file__).with_name("probe.py")
_PROBE_S = 300.0


@dataclass(frozen=True, slots=True)
class Interpreter:
    """A Python that environments can be made from."""

    path: str
    version: str


def find_interpreter(requires_python: str | None) -> Interpreter:
    """Return a Python that fits: the one that runs this, else one that uv finds here.

    Raises
    ------
    EnvironmentUnbuildable
    """
    own = platform.python_version()
    try:
        fits = SpecifierSet(requires_python or "").contains(own, prereleases=True)
    except InvalidSpecifier:
        raise EnvironmentUnbuildable(
            f"requires-python {requires_python!r} is no version specifier"
        ) from None
    if fits:
        return Interpreter(sys._base_executable or sys.executable, own)  # type: ignore[attr-defined]  # noqa: SLF001 - of a virtual environment there is no other way
    found = subprocess.run(
        [
            find_uv(),
            "python",
            "find",
            "--no-python-downloads",
            "--no-config",
            requires_python or "",
        ],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        env={**os.environ, "UV_PYTHON_DOWNLOADS": "never"},
    )
    path = found.stdout.strip()
    if found.returncode != 0 or not path:
        raise EnvironmentUnbuildable(
            f"no Python {requires_python} is installed here (this is {own})",
            hint="install one, so that it is in PATH",
        )
    said = subprocess.run(
        [path, "-I", "-c", "import platform; print(platform.python_version())"],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    if said.returncode != 0:
        raise EnvironmentUnbuildable(f"{path} cannot be run: {said.stderr.strip()[-200:]}")
    return Interpreter(path, said.stdout.strip())


def probe(python: str, imports: tuple[str, ...], env: dict[str, str], cwd: Path) -> dict[str, Any]:
    """Ask an interpreter what it is made of; see ``probe.py``.

    Parameters
    ----------
    imports
        Modules to import, in this order.

    Raises
    ------
    EnvironmentBroken
        It cannot be started, or an import fails.
    """
    try:
        done = subprocess.run(
            [python, "-I", str(_PROBE), *imports],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            env=env,
            cwd=cwd,
            timeout=_PROBE_S,
            check=False,
        )
    except OSError as error:
        raise EnvironmentBroken(f"{python} cannot be started: {error.strerror}") from None
    except subprocess.TimeoutExpired:
        raise EnvironmentBroken(f"importing {', '.join(imports)} took over 5 minutes") from None
    last = done.stdout.decode("utf-8", "replace").strip().splitlines()[-1:] or [""]
    try:
        facts: dict[str, Any] = json.loads(last[0])
    except ValueError:
        tail = done.stderr.decode("utf-8", "replace").strip()[-1500:]
        raise EnvironmentBroken(
            f"the check of {python} failed: {tail or done.returncode}"
        ) from None
    return facts
