"""Adapter of the code ``forces``: what the daemon knows of it.

Loads no numerical library: the work is done by ``job`` in a process of its own. Built by ``api``,
called by the job services.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Final

from crystalmath.codes.ending import judge_end
from crystalmath.codes.forces import task as files
from crystalmath.codes.forces.engines import ENGINES, PLANNED, check_elements, find_engine
from crystalmath.codes.forces.finished import proceed, read, recognise
from crystalmath.codes.forces.options import ALIASES, TASKS, resolve_options
from crystalmath.codes.forces.outcome import judge_result, load_steps, progress_text, series_of
from crystalmath.errors import InvalidParams
from crystalmath.services.ports import (
    Continuation,
    EndReceipt,
    Finished,
    InputFile,
    JobRequest,
    Prepared,
    Progress,
    Reading,
    Verdict,
)

_MORE_TIME: Final = (
    "`jobs.continue` goes on from the checkpoint; give it more time: `resources.walltime_s`"
)


class ForcesAdapter:
    """Implements ``services.ports.CodeAdapter``."""

    name = "forces"
    title = "energies, forces and relaxations with a force engine"
    tasks: tuple[str, ...] = tuple(TASKS)

    def describe(self) -> Mapping[str, Any]:
        """Return the schema of each task's inputs, the engines, and what is missing."""
        schemas = {task: model.model_json_schema() for task, model in TASKS.items()}
        try:
            ase, problem = f"ase {version('ase')}", None
        except PackageNotFoundError:
            ase, problem = "", "the package ase is not installed"
        engines: list[dict[str, Any]] = [
            {
                "name": engine.name,
                "title": engine.title,
                "available": problem is None,
                "version": ase,
                "elements": sorted(engine.elements),
            }
            for engine in ENGINES.values()
        ]
        engines += [{"name": name, "available": False} for name in PLANNED]
        description: dict[str, Any] = {
            "parameters": max(schemas.values(), key=lambda schema: len(schema["properties"])),
            "parameters_by_task": schemas,
            "executable": sys.executable,
            "engines": engines,
        }
        if problem is not None:
            description["problem"] = problem
        return description

    def prepare(self, request: JobRequest) -> Prepared:
        """Check task, engine, elements and inputs, and write ``input.json``.

        Raises
        ------
        InvalidParams
            With the field at fault; ``structure`` when the engine cannot describe it.
        """
        task = _task(request.task)
        engine = find_engine(request.engine)
        _refuse_foreign(request, engine.name)
        if request.structure is None:
            raise InvalidParams(
                "the code forces needs a structure", hint="give a file", field="structure"
            )
        options = resolve_options(task, request.inputs, request.structure)
        warnings = check_elements(
            engine, request.structure.symbols, allow_toy=options.allow_toy_elements
        )
        if request.ntasks > 1:
            warnings.append(f"{engine.name} runs as one process; {request.ntasks} are not used")
        text = files.render_task(task, engine.name, options, request.structure)
        threads = str(request.cpus_per_task)
        return Prepared(
            task=task,
            # -P: a file in the job directory must not be imported in place of a library.
            argv=(sys.executable, "-P", "-m", "crystalmath.codes.forces.job", files.INPUT),
            files=(InputFile(files.INPUT, content=text),),
            env={**request.context, "OMP_NUM_THREADS": threads, "OPENBLAS_NUM_THREADS": threads},
            engine=engine.name,
            formula=request.structure.formula,
            n_atoms=len(request.structure.symbols),
            output=files.log_name(task),
            warnings=tuple(warnings),
        )

    def progress(self, directory: Path) -> Progress | None:
        """Return the last step's numbers."""
        text = progress_text(directory)
        return None if text is None else Progress(text)

    def judge(self, directory: Path, end: EndReceipt | None) -> Verdict:
        """Judge by ``result.json`` where the program wrote one, else by how it ended."""
        if end is not None and end.signal is None:
            verdict = judge_result(directory, end.rc)
            if verdict is not None:
                return verdict
        failed = judge_end(directory, end)
        if failed is not None:
            has_checkpoint = (directory / files.CHECKPOINT).is_file()
            more_time = failed.reason == "walltime" and has_checkpoint
            return replace(failed, hint=_MORE_TIME) if more_time else failed
        return Verdict(
            completed=False,
            reason="crashed",
            message="the program ended without an error, but left no result that can be read",
            hint="read the log; if the disk was full, free some space and run it again",
        )

    def series(self, directory: Path) -> Mapping[str, Any]:
        """Return energy, largest force, largest stress, volume and a per step."""
        return series_of(load_steps(directory))

    def recognise(self, path: Path) -> Finished | None:
        """Recognise a directory by its ``input.json`` and what the program wrote beside it."""
        return recognise(path)

    def read(self, path: Path) -> Reading | None:
        """Judge by ``result.json``; a run that has none did not come to its end."""
        return read(path)

    def proceed(self, directory: Path, request: JobRequest, reason: str | None) -> Continuation:
        """Go on from the geometry of the checkpoint.

        Raises
        ------
        InputRejected
            There is nothing to go on from.
        """
        return proceed(directory, request, reason)


def _task(name: str | None) -> str:
    if name is None:
        raise InvalidParams(
            f"no task is given; the code forces has {', '.join(TASKS)}",
            hint="`task: relax`",
            field="task",
        )
    task = ALIASES.get(name, name)
    if task not in TASKS:
        raise InvalidParams(
            f"the code forces has no task {name[:60]!r}",
            hint=f"one of {', '.join(TASKS)}",
            field="task",
        )
    return task


def _refuse_foreign(request: JobRequest, engine: str) -> None:
    """Refuse what would be ignored."""
    if request.model is not None:
        raise InvalidParams(
            f"the engine {engine} has no models", hint="leave the model out", field="model"
        )
    if request.files:
        raise InvalidParams(
            "the code forces takes no files",
            hint="give the structure alone, as `structure`",
            field="files",
        )
