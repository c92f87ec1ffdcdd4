"""The project's own rows in the benchmark of force calls: ``ipc_bench.py --ours`` loads this file.

Runs in the benchmark's environment, which has ase and numpy; the project is on its path.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from typing import Any

from crystalmath.forces.launch import Launch
from crystalmath.forces.lean import LeanCalculator
from crystalmath.forces.source import DirectSource
from crystalmath.isolation.places import Places
from crystalmath.isolation.process import Processes
from crystalmath.services.ports_forces import ReadyEnvironment, ResolvedModel

_HERE = Path(__file__).resolve().parent
_WORKER = _HERE.parents[2] / "python/crystalmath/forces/worker/__main__.py"
FOLDER = "CRYSTALMATH_BENCH"
"""Variable with the folder of the benchmark."""


def make_calculator(n_atoms: int, kind: str, level: str) -> Any:
    """Return a calculator whose worker serves ``kind``."""
    del n_atoms  # it takes any
    if level != "l1":
        raise NotImplementedError(f"{level} is not built yet")
    folder = Path(tempfile.mkdtemp(prefix="cm-bench-"))
    source = DirectSource(Processes(Places(folder, _HERE / "engines")), [_launch(kind)], {})
    return LeanCalculator(source)


def _launch(kind: str) -> Launch:
    name = "null" if kind == "null" else "served"
    options = {} if kind == "null" else {"kind": kind, "folder": os.environ[FOLDER]}
    return Launch(
        environment=ReadyEnvironment(
            id="host",
            engine=name,
            python=sys.executable,
            worker=str(_WORKER),
            declaration=str(_HERE / "engines" / f"{name}.py"),
            versions={},
            python_version="3",
        ),
        model=ResolvedModel(name, name, name, None, None),
        options=options,
        max_atoms=1_000_000,
    )
