"""The peers' benchmark: where it is, the environment it needs, and one run of it."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from bench.forces import hook_path
from rig.place import RigError, server_command

ROOT: Final = Path(__file__).resolve().parents[4]
FOLDER: Final = "CRYSTALMATH_BENCH"
PINS: Final = (
    "ase==3.29.0", "rootstock==1.6.4", "pyisolate==0.10.2", "ipi==3.3.1", "numpy==2.4.6",
)  # fmt: skip
MOST_S: Final = 900.0

Rows = Mapping[str, Any]
"""Atoms → the medians, 90th percentiles and ratios of a run."""


def folder() -> Path:
    """Where the benchmark of the peers is.

    Raises
    ------
    RigError
        It is not on this machine.
    """
    found = Path(os.environ.get(FOLDER) or ROOT.parent / "shared" / "bench").absolute()
    if not (found / "ipc_bench.py").exists():
        raise RigError(f"the peers' benchmark is not here: set {FOLDER} to the folder that has it")
    return found


def environment() -> Path:
    """The Python of an environment with the peers; built when it is not there."""
    name = hashlib.sha256("\n".join(PINS).encode()).hexdigest()[:16]
    place = ROOT / ".tools" / "bench-forces" / name
    python = place / "bin" / "python"
    if (place / "complete").exists():
        return python
    shutil.rmtree(place, ignore_errors=True)
    print("building the environment with the peers; the first time takes a minute", flush=True)
    uv = [sys.executable, "-m", "uv"]
    _done([*uv, "venv", "--quiet", "--python", sys.executable, str(place)])
    _done([*uv, "pip", "install", "--quiet", "--python", str(python), "uv", *PINS])
    (place / "complete").touch()
    return python


def measure(
    *, atoms: Sequence[int], peers: Sequence[str], ours: Sequence[str], pin: str, kind: str = "null"
) -> Rows:
    """Run the benchmark once.

    Parameters
    ----------
    atoms
        Sizes.
    peers, ours
        Rows of the benchmark, levels of :mod:`bench.forces.hook`.
    pin
        Core of the host and of what it starts.

    Raises
    ------
    RigError
        It failed, or one of the rows did.
    """
    here = folder()
    with tempfile.TemporaryDirectory(prefix="cm-bench-") as scratch:
        out = Path(scratch) / "out.json"
        command: list[str | Path] = [
            environment(), here / "ipc_bench.py", "--n", ",".join(map(str, atoms)),
            "--only", ",".join(peers), "--ours", hook_path(), "--levels", ",".join(ours),
            "--kind", kind, "--pin", pin, "--out", out,
        ]  # fmt: skip
        _done(command, cwd=scratch, env=_variables(here, scratch))
        found: Rows = json.loads(out.read_text(encoding="utf-8"))["rows"]
    wanted = {*peers, *(f"ours_{level}" for level in ours)}
    for size, row in found.items():
        if missing := wanted - set(row["median_us"]):
            raise RigError(f"no figure at {size} atoms for {', '.join(sorted(missing))}")
    return found


def _variables(here: Path, scratch: str) -> dict[str, str]:
    """No settings of the user's; rows whose other end is to be found find it."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("CRYSTALMATH_", "XDG_"))}
    return kept | {
        FOLDER: str(here),
        "HOME": scratch,
        "TMPDIR": scratch,
        "CRYSTALMATH_SERVER": str(server_command()),
        "PYTHONPATH": f"{ROOT / 'python'}{os.pathsep}{ROOT / 'scripts' / 'lib'}",
        "PYTHONDONTWRITEBYTECODE": "1",
    }


def _done(command: Sequence[str | Path], **more: Any) -> None:
    ran = subprocess.run(
        command,
        check=False,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=MOST_S,
        **more,
    )
    if ran.returncode:
        tail = "\n".join(ran.stdout.splitlines()[-20:])
        raise RigError(f"{Path(command[0]).name} {command[1]} ended with {ran.returncode}:\n{tail}")
