"""The project's own rows in the benchmark of force calls: ``ipc_bench.py --ours`` loads this file.

Runs in the benchmark's environment, which has ase and numpy; the project and its ``scripts/lib``
are on its path. A level is what stands between the calculator and the numbers:

======== ======================================================================================
l1       a worker of this process's own, level 1
adapter  the same, with an ASE calculator behind the generic adapter, whatever the kind
daemon   the same kind of worker in the pool of a daemon, which is started here
l0       an unmodified ``SocketClient`` of ASE, driven over plain i-PI
======== ======================================================================================
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from crystalmath.calculators.daemon import DaemonSource
from crystalmath.calculators.request import Request
from crystalmath.forces.ipi.calculator import IpiCalculator
from crystalmath.forces.launch import Launch
from crystalmath.forces.lean import LeanCalculator
from crystalmath.forces.source import DirectSource, Source
from crystalmath.isolation.places import Places
from crystalmath.isolation.process import Processes
from crystalmath.services.ports_forces import ReadyEnvironment, ResolvedModel
from rig.place import Place

FOLDER: Final = "CRYSTALMATH_BENCH"
"""Variable with the folder of the benchmark."""
ENGINES: Final = Path(__file__).resolve().parent / "engines"
_WORKER: Final = Path(__file__).resolve().parents[4] / "python/crystalmath/forces/worker"


class Closing(LeanCalculator):
    """A calculator that takes something with it when it is closed."""

    def __init__(self, source: Source, closes: Callable[[], None]) -> None:
        super().__init__(source)
        self._closes = closes

    def close(self) -> None:
        """Close the connections, then the rest."""
        super().close()
        self._closes()


def make_calculator(n_atoms: int, kind: str, level: str) -> Any:
    """Return a calculator whose other end serves ``kind``."""
    if level == "l0":
        workers = str(Path(os.environ[FOLDER]) / "workers.py")
        command = [sys.executable, workers, "ase_client", "{name}", str(n_atoms), kind]
        return IpiCalculator("ase", command, stress=True)
    engine, options = served("null_ase" if level == "adapter" and kind == "null" else kind)
    if level in ("l1", "adapter"):
        folder = Path(tempfile.mkdtemp(prefix="cm-bench-"))
        source = DirectSource(Processes(Places(folder, ENGINES)), [_launch(engine, options)], {})
        return Closing(source, lambda: shutil.rmtree(folder, ignore_errors=True))
    if level == "daemon":
        place = daemon()
        over = DaemonSource([Request(engine, options=options)], {}, socket=place.socket)
        return Closing(over, lambda: place.__exit__(None, None, None))
    raise NotImplementedError(f"{level} is not built yet")


def served(kind: str) -> tuple[str, dict[str, Any]]:
    """Engine and options that serve a kind of the benchmark."""
    if kind == "null":
        return "null", {}
    return "served", {"kind": kind, "folder": os.environ[FOLDER]}


def daemon() -> Place:
    """A daemon that knows the engines of the benchmark, on the cores of this process."""
    place = Place({"XDG_CONFIG_HOME": str(_configuration())})
    place.foreground()
    place.wait_ready()
    return place


def _configuration() -> Path:
    """A folder of the user's configuration with the engines."""
    folder = Path(tempfile.gettempdir()) / f"cm-bench-engines-{os.getpid()}"
    engines = folder / "crystalmath" / "engines"
    if not engines.exists():
        shutil.copytree(ENGINES, engines)
    return folder


def _launch(engine: str, options: dict[str, Any]) -> Launch:
    return Launch(
        environment=ReadyEnvironment(
            id="host",
            engine=engine,
            python=sys.executable,
            worker=str(_WORKER / "__main__.py"),
            declaration=str(ENGINES / f"{engine}.py"),
            versions={},
            python_version="3",
        ),
        model=ResolvedModel(engine, engine, engine, None, None),
        options=options,
        max_atoms=1_000_000,
    )
