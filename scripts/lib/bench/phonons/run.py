"""Phonons of 64 atoms of silicon with SevenNet: the workflow beside one process with phonopy.

SevenNet is taken from the data directory of the user (``CRYSTALMATH_DATA_DIR``, or the usual one);
it is only read. Without it there, nothing is measured, and that is said.
"""

from __future__ import annotations

import json
import os
import subprocess
import sysconfig
import time
from pathlib import Path
from typing import Any, Final

from bench.measure import US_PER_S, Ledger, Target
from crystalmath.contract.socket_path import data_directory
from crystalmath.isolation.record import load_record, python_of
from rig.place import Place, RigError, wait_until
from rig.wire import Wire

ENGINE: Final = "sevenn"
MODEL: Final = "7net-0"
REPEATS: Final = 2
ROUNDS: Final = 3
PATIENCE_S: Final = 900.0
POLL_S: Final = 0.1
"""A tight loop of requests would take a core from the daemon."""
SILICON: Final = Path(__file__).resolve().parents[4] / "examples" / "silicon.cif"
ALONE: Final = "phonons of 64 atoms, SevenNet: phonopy in one process"
COLD: Final = "the same as a workflow, the first one of a daemon"
WARM: Final = "the same as a workflow, engine loaded"


def run(ledger: Ledger, rounds: int) -> list[Target]:
    """Measure, if SevenNet is installed; returns the targets."""
    environment = _environment()
    if environment is None:
        print("workflows: phonons with SevenNet are not measured: it is not installed in the data "
              "directory; `crystalmath engines install sevenn` does that", flush=True)  # fmt: skip
        return []
    with Place(patience_s=PATIENCE_S) as place:
        folder = place.data_dir / "environments"
        folder.mkdir(mode=0o700)
        (folder / environment.name).symlink_to(environment)
        place.start()
        with Wire(place.socket, timeout_s=PATIENCE_S) as wire:
            return _compared(ledger, min(rounds, ROUNDS), wire, place, environment)


def _compared(
    ledger: Ledger, rounds: int, wire: Wire, place: Place, environment: Path
) -> list[Target]:
    relaxed = _workflow(wire, "relax", {"path": str(SILICON)}, fmax_ev_per_a=1e-4, smax_gpa=1e-3)
    job = relaxed["graph"][0]["job"]
    document = wire.call("jobs.get", {"id": job})["data"]["results"]["structure"]
    file = place.root / "silicon.json"
    file.write_text(json.dumps(document), encoding="utf-8")
    place.stop()
    place.start()
    warm, cold, bare = [], [], []
    for number in range(rounds):
        alone = _one_process(environment, file)
        alone_us = ledger.add(ALONE, [(alone["load_s"] + alone["compute_s"]) * US_PER_S])
        times = []
        with Wire(place.socket, timeout_s=PATIENCE_S) as fresh:
            for _ in range(2):
                started = time.perf_counter()
                found = _phonons(fresh, job)
                times.append((time.perf_counter() - started) * US_PER_S)
                _agree(found, alone)
        place.stop()
        place.start()
        cold.append(ledger.add(COLD, times[:1], alone_us) / alone_us)
        warm.append(ledger.add(WARM, times[1:], alone_us) / alone_us)
        bare.append(times[1] / (alone["compute_s"] * US_PER_S))
        print(f"workflows: phonons, round {number + 1}: one process {alone_us / US_PER_S:.1f} s "
              f"({alone['load_s']:.1f} s of it loading), workflow {times[0] / US_PER_S:.1f} s, "
              f"again {times[1] / US_PER_S:.1f} s", flush=True)  # fmt: skip
    middle = rounds // 2
    return [
        Target("phonons of Si64, SevenNet: workflow over one process", 1.0, sorted(warm)[middle]),
        Target("the same, engine not loaded before", None, sorted(cold)[middle]),
        Target("the same, over one process without its loading", None, sorted(bare)[middle]),
    ]


def _phonons(wire: Wire, job: int) -> dict[str, Any]:
    options = {"relax": False, "supercell": [REPEATS] * 3, "edge_angstrom": 10.0}
    return _workflow(wire, "phonon", {"job": job}, **options)


def _workflow(wire: Wire, kind: str, structure: dict[str, Any], **options: Any) -> dict[str, Any]:
    """Run a workflow to its end; what is known of it."""
    params = {"structure": structure, "engine": ENGINE, "model": MODEL, "options": options}
    i = wire.call(f"workflows.create_{kind}", params)["data"]["workflow"]["id"]
    found: dict[str, Any] = {}

    def has_ended() -> bool:
        found.update(wire.call("workflows.get", {"id": i})["data"])
        time.sleep(POLL_S)
        return bool(found["state"] != "RUNNING")

    wait_until(f"workflow {i} ends", has_ended, PATIENCE_S)
    if found["state"] != "COMPLETED":
        raise RigError(f"the workflow {kind} is {found['state']}: {found['message']}")
    return found


def _one_process(environment: Path, file: Path) -> dict[str, float]:
    """Seconds that a script needs."""
    script = Path(__file__).with_name("one_process.py")
    packages = sysconfig.get_paths()["purelib"]
    ended = subprocess.run(
        [str(python_of(environment)), str(script), packages, str(file), MODEL, str(REPEATS)],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=PATIENCE_S,
    )  # fmt: skip
    if ended.returncode != 0:
        raise RigError(f"phonopy in one process failed: {ended.stderr[-2000:]}")
    times: dict[str, float] = json.loads(ended.stdout.splitlines()[-1])
    return times


def _agree(workflow: dict[str, Any], alone: dict[str, float]) -> None:
    """Both must have computed the same; the engine computes in single precision."""
    known = {one["name"]: one["value"] for one in workflow["results"]["quantities"]}
    if abs(known["highest"] - alone["highest_thz"]) > 0.05:
        raise RigError(
            f"the workflow ends at {known['highest']} THz, phonopy at {alone['highest_thz']}"
        )


def _environment() -> Path | None:
    """SevenNet's environment in the data directory of the user."""
    home = data_directory(None, os.environ)
    for directory in sorted(Path(home, "environments").glob("*")):
        record = load_record(directory)
        if record is not None and record["engine"] == ENGINE:
            return directory
    return None
