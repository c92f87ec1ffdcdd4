"""Runs in an environment and tells, in one line of JSON, what it is made of. Judged by ``check``.

``python -I probe.py [MODULE …]`` imports the modules first, in their order. Standard library only.
"""

# ruff: noqa: PTH123, T201 - it starts fast, and what it prints is its result

from __future__ import annotations

import importlib
import json
import os.path
import platform
import sys
import sysconfig
import traceback


def _distributions() -> dict[str, dict[str, str]]:
    from importlib.metadata import distributions

    found: dict[str, dict[str, str]] = {}
    for one in distributions():
        name = one.metadata["Name"]
        if name and name not in found:
            found[name] = {"version": one.version, "path": str(one.locate_file(""))}
    return found


def _mapped() -> list[str]:
    """Shared objects that are mapped into this process."""
    try:
        with open("/proc/self/maps", encoding="utf-8", errors="replace") as file:
            paths = {line.split(None, 5)[-1].strip() for line in file if ".so" in line}
    except OSError:
        return []
    return sorted(path for path in paths if path.startswith("/"))


def main(modules: list[str]) -> None:
    """Import, look, tell."""
    failures: dict[str, str] = {}
    files: dict[str, str | None] = {}
    for name in modules:
        try:
            files[name] = getattr(importlib.import_module(name), "__file__", None)
        except BaseException:  # noqa: BLE001 - whatever it is, it is told
            failures[name] = traceback.format_exc()[-1500:]
    print(
        json.dumps(
            {
                "python_version": platform.python_version(),
                "version": sys.version,
                "platform": sysconfig.get_platform(),
                "prefix": sys.prefix,
                "base_prefix": sys.base_prefix,
                "executable": sys.executable,
                "path": sys.path,
                "site": os.path.relpath(sysconfig.get_path("purelib"), sys.prefix),
                "stdlib": sorted({sysconfig.get_path(n) for n in ("stdlib", "platstdlib")}),
                "isolated": sys.flags.isolated,
                "no_user_site": sys.flags.no_user_site,
                "distributions": _distributions(),
                "files": files,
                "failures": failures,
                "mapped": _mapped(),
            }
        )
    )


if __name__ == "__main__":
    main(sys.argv[1:])
