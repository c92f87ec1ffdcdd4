"""``input.json``: what the daemon asks of the program of a job.

Written by the adapter, read by ``job``. Plain data on both sides.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Final

from crystalmath.codes.forces.options import (
    TASKS,
    MdOptions,
    RelaxOptions,
    SinglePointOptions,
)
from crystalmath.services.ports import StructureData

INPUT: Final = "input.json"
RESULT: Final = "result.json"
CHECKPOINT: Final = "checkpoint.json"
STEPS: Final = "steps.jsonl"
TRAJECTORY: Final = "trajectory.extxyz"
CONTINUED: Final = (CHECKPOINT, STEPS, TRAJECTORY)
"""What a molecular dynamics that goes on as another job takes along."""

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
class Part:
    """One engine that the daemon runs, a member of a sum or the only one.

    Attributes
    ----------
    model
        What the engine is asked for: a name, or the absolute path of a file.
    model_key
        Identity of the weights when the job was submitted.
    """

    engine: str
    model: str
    model_id: str
    model_key: str
    dtype: str | None
    device: str
    options: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Task:
    """One calculation.

    Attributes
    ----------
    engine
        Name of the engine, or of a sum.
    parts
        What is asked of the daemon; empty for an engine of this program.
    engine_options
        Of an engine of this program.
    lattice
        Row vectors in Å, or None for a molecule.
    positions
        Cartesian, Å.
    moments_mu_b
        Of the structure; no engine uses them, and they stay with its atoms.
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
    parts: tuple[Part, ...] = ()
    engine_options: dict[str, float] = field(default_factory=dict)
    moments_mu_b: tuple[float, ...] | None = None

    @property
    def relax(self) -> RelaxOptions:
        """The options of a relaxation."""
        if not isinstance(self.options, RelaxOptions):
            raise TypeError(f"{self.name} is no relaxation")
        return self.options

    @property
    def md(self) -> MdOptions:
        """The options of a molecular dynamics."""
        if not isinstance(self.options, MdOptions):
            raise TypeError(f"{self.name} is no molecular dynamics")
        return self.options


def log_name(task: str) -> str:
    """Name of the main output file of a task."""
    return f"{task}.log"


def render_task(
    task: str,
    engine: str,
    options: SinglePointOptions,
    structure: StructureData,
    *,
    parts: Sequence[Part] = (),
    engine_options: Mapping[str, float] | None = None,
) -> str:
    """Write ``input.json``."""
    document = {
        "format": _FORMAT,
        "task": task,
        "engine": engine,
        "parts": [asdict(part) for part in parts],
        "engine_options": dict(engine_options or {}),
        "options": options.model_dump(),
        "structure": {
            "lattice": structure.lattice,
            "pbc": structure.pbc,
            "symbols": structure.symbols,
            "positions": structure.positions,
            "formula": structure.formula,
            "source": dict(structure.source),
            **({} if structure.moments is None else {"moments_mu_b": structure.moments}),
        },
    }
    return json.dumps(document, indent=1, allow_nan=False, ensure_ascii=False) + "\n"


def parse_task(text: str) -> Task:
    """Read ``input.json``; anything else raises ``ValueError``, ``KeyError`` or ``TypeError``."""
    document: dict[str, Any] = json.loads(text)
    if document["format"] != _FORMAT:
        raise ValueError(f"input.json has the format {document['format']!r}, not {_FORMAT}")
    structure = document["structure"]
    moments = structure.get("moments_mu_b")
    return Task(
        name=document["task"],
        engine=document["engine"],
        options=TASKS[document["task"]].model_validate(document["options"]),
        lattice=structure["lattice"],
        pbc=structure["pbc"],
        symbols=structure["symbols"],
        positions=structure["positions"],
        formula=structure["formula"],
        parts=tuple(Part(**part) for part in document.get("parts", ())),
        engine_options=dict(document.get("engine_options", {})),
        moments_mu_b=None if moments is None else tuple(float(one) for one in moments),
        digest=hashlib.sha256(text.encode()).hexdigest(),
    )
