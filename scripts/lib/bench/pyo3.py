"""The daemon against an interpreter in the process of the UI, on copies of one database.

The crate in ``scripts/bench-pyo3`` calls the same service functions both ways and ends both times
with the same JSON value. Frames are those of the real model and view, with the cursor held down.
The crate is built here and nowhere else; it needs the shared library of this Python.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from bench.fleet import WITH_FILES, codecs, daemon, filled_database, loaded
from bench.ipc import one_core
from bench.launcher import LOADS
from bench.measure import US_PER_S, Ledger, Target
from rig import processes
from rig.filled import make_directory
from rig.place import Place, RigError

ROOT: Final = Path(__file__).resolve().parents[3]
CRATE: Final = ROOT / "scripts" / "bench-pyo3"
FRAME_ROUNDS: Final = 3
FRAME_LIMIT_MS: Final = 16
KB: Final = 1e3
DAEMON, ONE_CORE, INSIDE, WORKER = "daemon", "daemon, one core", "in process", "own thread"
IDLE: Final = "idle"


def run(ledger: Ledger, rounds: int) -> list[Target]:
    """Build the crate and measure; returns the figures."""
    program = build()
    with ExitStack() as stack:
        database = stack.enter_context(filled_database())
        sides = stack.enter_context(_sides(program, database))
        sizes: dict[str, float] = {}
        for number in range(rounds):
            _starts(ledger, database)
            sizes = {
                INSIDE: _calls(ledger, sides.inside, INSIDE),
                DAEMON: _calls(ledger, sides.daemon, DAEMON),
            }
            with one_core(), daemon(codecs()[-1], database) as place:
                _calls(ledger, Side(program, place, f"socket:{place.socket}"), ONE_CORE)
            if number < FRAME_ROUNDS:
                _frames(ledger, sides)
        resident = processes.resident_bytes(sides.daemon.place.pid())
    return [
        Target("resident, UI with the interpreter, MB", None, sizes[INSIDE] / KB),
        Target("resident, client alone, MB", None, sizes[DAEMON] / KB),
        Target("resident, daemon, MB", None, resident / 1e6),
        *(
            Target(f"frame p99, {side}, Python {load}, ms", FRAME_LIMIT_MS,
                   ledger.row(_frame(side, load)).p99_us / 1000, provisional=True)
            for load in (IDLE, *LOADS)
            for side in (DAEMON, WORKER, INSIDE)
        ),
    ]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Side:
    """One of those that are compared: the program and whom it asks."""

    program: Path
    place: Place
    peer: str

    def run(self, what: str, *load: str) -> tuple[float, Mapping[str, Any]]:
        """Run the program; returns the seconds to its first page, and what it says."""
        begin = time.perf_counter()
        child = subprocess.Popen(
            [self.program, what, self.peer, *load], env=self.place.env | python_environment(),
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert child.stdout is not None
        child.stdout.readline()
        first_page_s = time.perf_counter() - begin
        text, error = child.communicate()
        if child.returncode != 0:
            raise RigError(f"{self.program.name} {what} {self.peer} failed: {error}")
        said: Mapping[str, Any] = json.loads(text)
        return first_page_s, said


@dataclass(frozen=True, slots=True)
class Sides:
    """Everything that is compared; ``busy`` are daemons with a load, by its name."""

    inside: Side
    worker: Side
    daemon: Side
    busy: Mapping[str, Side]


@contextmanager
def _sides(program: Path, database: Path) -> Iterator[Sides]:
    """Daemons, and a data directory without one."""
    codec = codecs()[-1]
    with ExitStack() as stack:
        alone = stack.enter_context(Place())
        shutil.copyfile(database, alone.database)
        make_directory(alone.data_dir, WITH_FILES)
        quiet = stack.enter_context(daemon(codec, database))
        busy = {load: stack.enter_context(daemon(codec, database, load=load)) for load in LOADS}
        yield Sides(
            Side(program, alone, f"embedded:{alone.data_dir}"),
            Side(program, alone, f"worker:{alone.data_dir}"),
            Side(program, quiet, f"socket:{quiet.socket}"),
            {load: Side(program, at, f"socket:{at.socket}") for load, at in busy.items()},
        )


def _starts(ledger: Ledger, database: Path) -> None:
    """What the daemon's start takes, which comes once and not with every UI."""
    with Place() as place:
        shutil.copyfile(database, place.database)
        begin = time.perf_counter()
        place.start()
        ledger.add("start of the daemon, to ready", [(time.perf_counter() - begin) * US_PER_S])
        place.stop()


def _calls(ledger: Ledger, side: Side, name: str) -> float:
    """One round of calls; returns the resident kB of the program."""
    first_page_s, said = side.run("calls")
    ledger.add(f"exec to first page [{name}]", [first_page_s * US_PER_S])
    for method, samples in said["rows"].items():
        ledger.add(f"{method} [{name}]", samples)
    return float(said["resident_kb"])


def _frames(ledger: Ledger, sides: Sides) -> None:
    """One round of frames: nobody works, and with every load."""
    for load in (None, *LOADS):
        inside = () if load is None else (load,)
        asked = sides.daemon if load is None else sides.busy[load]
        with nullcontext() if load is None else loaded(asked.place):
            _note(ledger, asked.run("frames")[1], DAEMON, load or IDLE)
        _note(ledger, sides.worker.run("frames", *inside)[1], WORKER, load or IDLE)
        _note(ledger, sides.inside.run("frames", *inside)[1], INSIDE, load or IDLE)


def _note(ledger: Ledger, said: Mapping[str, Any], side: str, load: str) -> None:
    ledger.add(_frame(side, load), said["frames"])
    ledger.add(f"answer, Python {load} [{side}]", said["latencies"])


def _frame(side: str, load: str) -> str:
    return f"frame, Python {load} [{side}]"


def python_environment() -> dict[str, str]:
    """What an interpreter in another program needs, to be the one of this environment."""
    paths = (ROOT / "scripts" / "lib", ROOT / "python", sysconfig.get_path("purelib"))
    return {
        "PYTHONHOME": sys.base_prefix,
        "PYTHONPATH": os.pathsep.join(map(str, paths)),
        "LD_LIBRARY_PATH": str(sysconfig.get_config_var("LIBDIR")),
    }


def shared_library() -> Path:
    """The library of this Python; raises ``RigError`` when it has none."""
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    folder = Path(str(sysconfig.get_config_var("LIBDIR")))
    found = sorted(folder.glob(f"libpython{version}*.so*"))
    if not sysconfig.get_config_var("Py_ENABLE_SHARED") or not found:
        raise RigError(
            f"{sys.base_prefix} has no shared library of Python {version}, which a program needs "
            f"that embeds it. Install one (python{version}-dev on Debian, or `uv python install "
            f"{version}`), remove .venv and run this again with that Python first on PATH"
        )
    return found[0]


def build() -> Path:
    """Build the crate; returns the program. Raises ``RigError`` that says what is missing."""
    shared_library()
    home = Path(os.environ.get("CARGO_HOME", Path.home() / ".cargo"))
    cargo = shutil.which("cargo") or shutil.which("cargo", path=home / "bin")
    if cargo is None:
        raise RigError("no cargo is on PATH: install Rust (https://rustup.rs)")
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "bench-pyo3"
    manifest = str(CRATE / "Cargo.toml")
    command = [cargo, "build", "--release", "--quiet", "--manifest-path", manifest]
    settings = {"CARGO_TARGET_DIR": str(target), "PYO3_PYTHON": sys.executable}
    print("building scripts/bench-pyo3; the first time takes minutes", file=sys.stderr)
    ended = subprocess.run(
        command, env=os.environ | settings, capture_output=True, text=True, check=False
    )
    if ended.returncode != 0:
        raise RigError(f"scripts/bench-pyo3 cannot be built:\n{ended.stderr}")
    return target / "release" / "bench-pyo3"
