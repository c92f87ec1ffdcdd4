"""``input.json``: what the daemon asks of the program of a job.

Written by the adapter, read by ``job``. Plain data on both sides.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import Any, Final

from crystalmath.codes.forces.options import TASKS, RelaxOptions, SinglePointOptions
from crystalmath.services.ports import StructureData

INPUT: Final = "input.json"
RESULT: Final = "result.json"
CHECKPOINT: Final = "checkpoint.json"
STEPS: Final = "steps.jsonl"
TRAJECTORY: Final = "trajectory.extxyz"

EXIT_OK: Final = 0
EXIT_NOT_CONVERGED: Final = 3
EXIT_FAILED: Final = 4
"""``result.json`` says why."""
EXIT_BAD_INPUT: Final = 5
EXIT_DISK_FULL: Final = 6
EXIT_STOPPED: Final = 143
"""Stopped by SIGTERM after writing a checkpoint; the shell's number for it."""

_FORMAT: Final = 1


@dataclass(frozen=True, slots=True)
class Task:
    """One calculation.

    Attributes
    ----------
    lattice
        Row vectors in Å, or None for a molecule.
    positions
        Cartesian, Å.
    digest
        sha256 of the document, so that a checkpoint is used for the same calculation only.
    """

    name: str
    engine: str
    options: SinglePointOptions
    lattice: list[list[float]] | None
    pbc: list[bool]
    symbols: list[str]
    positions: list[list[float]]
    formula: str
    digest: str

    @property
    def relax(self) -> RelaxOptions:
        """The options of a relaxation."""
        if not isinstance(self.options, RelaxOptions):
            raise TypeError(f"{self.name} is no relaxation")
        return self.options


def log_name(task: str) -> str:
    """Name of the main output file of a task."""
    return f"{task}.log"


def render_task(
    task: str, engine: str, options: SinglePointOptions, structure: StructureData
) -> str:
    """Write ``input.json``."""
    document = {
        "format": _FORMAT,
        "task": task,
        "engine": engine,
        "options": options.model_dump(),
        "structure": {
            "lattice": structure.lattice,
            "pbc": structure.pbc,
            "symbols": structure.symbols,
            "positions": structure.positions,
            "formula": structure.formula,
            "source": dict(structure.source),
        },
    }
    return json.dumps(document, indent=1, allow_nan=False, ensure_ascii=False) + "\n"


def parse_task(text: str) -> Task:
    """Read ``input.json``; anything else raises ``ValueError``, ``KeyError`` or ``TypeError``."""
    document: dict[str, Any] = json.loads(text)
    if document["format"] != _FORMAT:
        raise ValueError(f"input.json has the format {document['format']!r}, not {_FORMAT}")
    structure = document["structure"]
    return Task(
        name=document["task"],
        engine=document["engine"],
        options=TASKS[document["task"]].model_validate(document["options"]),
        lattice=structure["lattice"],
        pbc=structure["pbc"],
        symbols=structure["symbols"],
        positions=structure["positions"],
        formula=structure["formula"],
        digest=hashlib.sha256(text.encode()).hexdigest(),
    )
