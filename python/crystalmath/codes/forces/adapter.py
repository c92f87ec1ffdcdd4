"""Adapter of the code ``forces``: what the daemon knows of it.

Loads no numerical library: the work is done by ``job`` in a process of its own. Built by ``api``,
called by the job services.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from crystalmath.codes.ending import judge_end
from crystalmath.codes.forces import task as files
from crystalmath.codes.forces.choice import choose, describe
from crystalmath.codes.forces.finished import proceed, read, recognise
from crystalmath.codes.forces.options import ALIASES, TASKS, resolve_options
from crystalmath.codes.forces.outcome import judge_result, load_steps, progress_of, series_of
from crystalmath.domain.moments import unused_by
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
from crystalmath.services.ports_forces import EnvironmentProvider

_BY_ITSELF: Final = "crystalmath.codes.forces.job"
WITH_DAEMON: Final = "crystalmath.calculators.job"
"""The same program, with engines that the daemon runs."""

_MORE_TIME: Final = (
    "`jobs.continue` goes on from the checkpoint; give it more time: `resources.walltime_s`"
)


class ForcesAdapter:
    """Implements ``services.ports.CodeAdapter``.

    Parameters
    ----------
    provider
        Finds the engines that have an environment of their own; None: only those that come with
        ase are there.
    daemon
        Variables with which the program of a job finds the daemon that runs such engines.
    """

    name = "forces"
    title = "energies, forces and relaxations with a force engine"
    tasks: tuple[str, ...] = tuple(TASKS)

    def __init__(
        self,
        provider: EnvironmentProvider | None = None,
        daemon: Mapping[str, str] | None = None,
    ) -> None:
        self._provider = provider
        self._daemon = dict(daemon or {})

    def describe(self) -> Mapping[str, Any]:
        """Return the schema of each task's inputs, the engines, and what is missing."""
        schemas = {task: model.model_json_schema() for task, model in TASKS.items()}
        engines, problem = describe(self._provider)
        description: dict[str, Any] = {
            "parameters": schemas["relax"],
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
        InvalidParams, NotFound, EngineNotInstalled, LicenceNotAccepted
            With the field at fault; ``structure`` when the engine cannot describe it.
        """
        if request.remote:
            raise InvalidParams(
                "the code forces computes with the engines of this machine",
                hint="leave `cluster` out",
                field="cluster",
            )
        task = _task(request.task)
        kept = _kept_files(request)
        if request.structure is None:
            raise InvalidParams(
                "the code forces needs a structure", hint="give a file", field="structure"
            )
        options = resolve_options(task, request.inputs, request.structure)
        choice = choose(self._provider, request, options)
        warnings = list(choice.warnings)
        if request.ntasks > 1:
            warnings.append(f"{choice.name} runs as one process; {request.ntasks} are not used")
        if request.structure.moments is not None:
            warnings.append(unused_by(choice.name))
        text = files.render_task(
            task,
            choice.name,
            options,
            request.structure,
            parts=choice.parts,
            engine_options=choice.options,
        )
        threads = str(request.cpus_per_task)
        program = WITH_DAEMON if choice.parts else _BY_ITSELF
        return Prepared(
            task=task,
            # -P: a file in the job directory must not be imported in place of a library.
            argv=(sys.executable, "-P", "-m", program, files.INPUT),
            files=(InputFile(files.INPUT, content=text), *kept),
            env={
                **request.context,
                **(self._daemon if choice.parts else {}),
                "OMP_NUM_THREADS": threads,
                "OPENBLAS_NUM_THREADS": threads,
            },
            engine=choice.name,
            model=choice.model,
            formula=request.structure.formula,
            n_atoms=len(request.structure.symbols),
            output=files.log_name(task),
            warnings=tuple(warnings),
        )

    def progress(self, directory: Path) -> Progress | None:
        """Return the last step's numbers."""
        return progress_of(directory)

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


def _kept_files(request: JobRequest) -> tuple[InputFile, ...]:
    """The files of a run that goes on; any other would be ignored, and is refused."""
    for file in request.files:
        if file.path not in files.CONTINUED or file.source is None:
            raise InvalidParams(
                "the code forces takes no files",
                hint="give the structure alone, as `structure`",
                field="files",
            )
    return request.files
