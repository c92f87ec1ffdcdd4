"""kill -9 of the daemon every few seconds while it computes phonons of a crystal of low symmetry.

The numbers are those of a run that nobody disturbs, and no step has run twice.
"""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

from rig.place import Place, RigError, wait_until
from rig.wire import Wire
from soak.outcome import Outcome, Progress, Say

METALS = ("Cu", "Au", "Ag", "Pd", "Pt", "Cu", "Ag", "Al", "Ni", "Au")
SIDE_ANGSTROM, LAYER_ANGSTROM = 2.75, 1.97
OPTIONS = {"supercell": [2, 2, 1], "mesh": 6, "temperature_step_k": 100.0}
KILL_S = (2.0, 6.0)
"""Between two kills. A computation that is begun anew each time must fit in between."""
SAME = 1e-9
END_S = 600.0


def run(count: int, seed: int, say: Say) -> Outcome:
    """Kill the daemon ``count`` times, during as many workflows as that takes."""
    rng = random.Random(seed)
    progress = Progress(count, say)
    problems: list[str] = []
    counts: Counter[str] = Counter()
    with Place(patience_s=END_S) as place:
        place.start()
        wanted = _ended(place, _create(place))
        counts["displacements"] = _displacements(wanted)
        while counts["kills"] < count:
            i = _create(place)
            while counts["kills"] < count and not _waits_for_end(place, i, rng.uniform(*KILL_S)):
                place.kill(place.pid())
                place.start()
                counts["kills"] += 1
                progress.at(counts["kills"])
            found = _ended(place, i)
            problems += [f"workflow {i}: {what}" for what in _judge(place, wanted, found)]
            counts["workflows"] += 1
        place.stop()
        problems += place.tracebacks()
    return Outcome(", ".join(f"{n} {what}" for what, n in counts.items()), problems)


def _stack() -> str:
    """Layers of metals that no mirror turns over, as a POSCAR."""
    rows = [f"{(at % 2) / 2} {(at % 2) / 2} {at / len(METALS)}" for at in range(len(METALS))]
    height = LAYER_ANGSTROM * len(METALS)
    lines = [
        *("layers", "1.0", f"{SIDE_ANGSTROM} 0 0", f"0 {SIDE_ANGSTROM} 0", f"0 0 {height}"),
        *(" ".join(METALS), " ".join("1" * len(METALS)), "Direct"),
    ]
    return "\n".join([*lines, *rows]) + "\n"


def _create(place: Place) -> int:
    structure = {"text": _stack(), "format": "poscar"}
    params = {"structure": structure, "engine": "emt", "options": OPTIONS}
    with Wire(place.socket, timeout_s=END_S) as wire:
        return int(wire.call("workflows.create_phonon", params)["data"]["workflow"]["id"])


def _get(place: Place, workflow_id: int) -> dict[str, Any]:
    with Wire(place.socket, timeout_s=END_S) as wire:
        found: dict[str, Any] = wire.call("workflows.get", {"id": workflow_id})["data"]
        return found


def _waits_for_end(place: Place, workflow_id: int, seconds: float) -> bool:
    """Whether the workflow ends within this time."""
    try:
        wait_until("its end", lambda: _get(place, workflow_id)["state"] != "RUNNING", seconds)
    except RigError:
        return False
    return True


def _ended(place: Place, workflow_id: int) -> dict[str, Any]:
    wait_until(
        f"the end of workflow {workflow_id}",
        lambda: _get(place, workflow_id)["state"] != "RUNNING",
        END_S,
    )
    return _get(place, workflow_id)


def _displacements(workflow: dict[str, Any]) -> int:
    return sum(step["name"].startswith("displacement-") for step in workflow["graph"])


def _judge(place: Place, wanted: dict[str, Any], found: dict[str, Any]) -> list[str]:
    """What must not be."""
    if found["state"] != "COMPLETED":
        return [f"it is {found['state']}: {found['message']}"]
    problems = []
    for one, other in zip(
        wanted["results"]["quantities"], found["results"]["quantities"], strict=True
    ):
        if abs(one["value"] - other["value"]) > SAME * max(1.0, abs(one["value"])):
            problems.append(f"{one['name']} is {other['value']} instead of {one['value']}")
    again = [step["name"] for step in found["graph"] if step["attempt"] != 1]
    if again:
        problems.append(f"steps were tried again: {', '.join(again)}")
    with Wire(place.socket, timeout_s=END_S) as wire:
        rows = wire.call("jobs.list", {"workflow": found["id"], "limit": 1000})["data"]
    steps = sum(step["kind"] == "job" for step in found["graph"])
    if len(rows) != steps:
        problems.append(f"{len(rows)} jobs for {steps} steps")
    ended_otherwise = [row["id"] for row in rows if row["state"] != "COMPLETED"]
    if ended_otherwise:
        problems.append(f"jobs did not complete: {ended_otherwise}")
    return problems
