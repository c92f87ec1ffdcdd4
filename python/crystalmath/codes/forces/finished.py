"""Finished and broken-off runs of the code ``forces``: taken in, read, and continued.

What a run was asked for stands in ``input.json``, how it went in ``result.json`` and
``checkpoint.json``. Used by ``adapter``; loads no numerical library.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from crystalmath.codes.forces import task as files
from crystalmath.codes.forces.options import TASKS, RelaxOptions
from crystalmath.codes.forces.outcome import judge_result
from crystalmath.codes.forces.task import Task, parse_task
from crystalmath.codes.tail import read_tail
from crystalmath.errors import InputRejected
from crystalmath.services.ports import (
    Continuation,
    Finished,
    InputFile,
    JobRequest,
    Reading,
    StructureData,
    Verdict,
)

MAX_INPUT_BYTES: Final = 64 * 1024**2
MAX_STEPS: Final = 100_000
"""The bound of the option ``max_steps``."""


def recognise(path: Path) -> Finished | None:
    """Say what a run consists of; None when the path is no run of this code."""
    directory = _directory(path)
    task = None if directory is None else _task(directory)
    if directory is None or task is None:
        return None
    log = files.log_name(task.name)
    names = (log, files.RESULT, files.STEPS, files.TRAJECTORY, files.CHECKPOINT, files.INPUT)
    found = [name for name in names if (directory / name).is_file()]
    return Finished(
        task=task.name,
        output=found[0],
        files=tuple(InputFile(name, source=str((directory / name).resolve())) for name in found),
        inputs=task.options.model_dump(),
        engine=task.engine,
        structure=_structure(task),
        formula=task.formula,
        n_atoms=len(task.symbols),
    )


def read(path: Path) -> Reading | None:
    """Judge a run without an exit code; None when the path is no run of this code."""
    directory = _directory(path)
    task = None if directory is None else _task(directory)
    if directory is None or task is None:
        return None
    verdict = judge_result(directory, files.EXIT_OK)
    if verdict is None:
        verdict = Verdict(
            completed=False,
            reason="crashed",
            message=f"there is no {files.RESULT} that can be read: the run did not come to its end",
            hint="run it again",
        )
    return Reading(verdict, task.name, task.formula, len(task.symbols))


def proceed(directory: Path, request: JobRequest, reason: str | None) -> Continuation:
    """Go on from the checkpoint; a relaxation with twice the steps where they ran out.

    A molecular dynamics goes on with the very input it had, and with what it has written.

    Raises
    ------
    InputRejected
        There is nothing to go on from.
    """
    task = _task(directory)
    if reason in {"input_rejected", "did_not_start", "dependency_failed"} or task is None:
        raise InputRejected(
            "the calculation never began, so there is nothing to continue",
            hint="correct what its message names, then submit it anew",
            field="id",
        )
    inputs = dict(request.inputs)
    notes: list[str] = []
    if task.name == "md" and _checkpoint_structure(directory, task) is not None:
        return _proceed_dynamics(directory, request)
    structure = _checkpoint_structure(directory, task)
    if structure is None:
        structure = _structure(task)
        notes.append("starts again from its beginning: there is no checkpoint")
    else:
        notes.append(f"starts from the geometry of {structure.source['step']}")
    if isinstance(task.options, RelaxOptions) and reason == "not_converged":
        most = min(MAX_STEPS, 2 * task.options.max_steps)
        inputs["max_steps"] = most
        notes.append(f"max_steps {task.options.max_steps} → {most}")
    return Continuation(fix="; ".join(notes), inputs=inputs, files=(), structure=structure)


def _proceed_dynamics(directory: Path, request: JobRequest) -> Continuation:
    kept = tuple(
        InputFile(name, source=str(directory / name))
        for name in files.CONTINUED
        if (directory / name).is_file()
    )
    step = json.loads(read_tail(directory / files.CHECKPOINT, MAX_INPUT_BYTES))["step"]
    return Continuation(
        fix=f"goes on from step {step}, with the same velocities and random numbers",
        inputs=dict(request.inputs),
        files=kept,
        structure=request.structure,
    )


def _directory(path: Path) -> Path | None:
    if path.is_dir():
        return path
    known = {files.RESULT, files.INPUT, *(files.log_name(task) for task in TASKS)}
    return path.parent if path.name in known and path.is_file() else None


def _task(directory: Path) -> Task | None:
    """The ``input.json`` of this code; None when there is none."""
    try:
        return parse_task(read_tail(directory / files.INPUT, MAX_INPUT_BYTES))
    except (ValueError, KeyError, TypeError):
        return None


def _structure(task: Task) -> StructureData:
    lattice = None if task.lattice is None else tuple(_vector(row) for row in task.lattice)
    return StructureData(
        lattice=lattice,
        pbc=(task.pbc[0], task.pbc[1], task.pbc[2]),
        symbols=tuple(task.symbols),
        positions=tuple(_vector(row) for row in task.positions),
        formula=task.formula,
        source={"kind": f"{files.INPUT} of a run of the code forces"},
        sites={} if task.moments_mu_b is None else {"moments": task.moments_mu_b},
    )


def _checkpoint_structure(directory: Path, task: Task) -> StructureData | None:
    try:
        found: dict[str, Any] = json.loads(read_tail(directory / files.CHECKPOINT, MAX_INPUT_BYTES))
        lattice = found["lattice"]
        if found["digest"] != task.digest or len(found["positions"]) != len(task.symbols):
            return None
        return replace(
            _structure(task),
            lattice=None if lattice is None else tuple(_vector(row) for row in lattice),
            positions=tuple(_vector(row) for row in found["positions"]),
            source={
                "kind": "checkpoint of a run of the code forces",
                "step": f"step {int(found['step'])}",
            },
        )
    except (ValueError, KeyError, TypeError):
        return None


def _vector(row: list[float]) -> tuple[float, float, float]:
    x, y, z = (float(value) for value in row)
    return x, y, z
