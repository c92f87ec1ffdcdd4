"""Adapter of the code ``espresso``: pw.x of Quantum ESPRESSO, from a structure or a deck.

It wires the modules of this folder together. Built by ``api``, called by the job services.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from crystalmath.codes.espresso import foreign, proceed
from crystalmath.codes.espresso import prepare as preparing
from crystalmath.codes.espresso.options import TASKS, EspressoOptions
from crystalmath.codes.espresso.program import PROGRAM, find_program
from crystalmath.codes.espresso.reading import (
    find_outputs,
    find_run_deck,
    load_crash,
    load_run,
)
from crystalmath.codes.espresso.results import MAX_ARRAY_ATOMS
from crystalmath.codes.espresso.series import progress_of, series_of
from crystalmath.codes.espresso.settings import settings_of
from crystalmath.codes.espresso.several import TASKS_OF_SEVERAL, found_in, meant_by
from crystalmath.codes.espresso.verdict import judge_run
from crystalmath.codes.espresso.writer import WorkerDecks, run_here
from crystalmath.codes.options import describe_program
from crystalmath.services.ports import (
    Continuation,
    EndReceipt,
    Finished,
    JobRequest,
    Prepared,
    Progress,
    Reading,
    Verdict,
)


class EspressoAdapter:
    """Implements ``services.ports.CodeAdapter``.

    Parameters
    ----------
    writer
        Writes decks for structures; in this process when left out, which the daemon must not do.
    """

    name = "espresso"
    title = "plane-wave DFT with pw.x of Quantum ESPRESSO"
    tasks: tuple[str, ...] = (*TASKS, *TASKS_OF_SEVERAL)

    def __init__(self, writer: preparing.DeckWriter | None = None) -> None:
        self._writer = writer or WorkerDecks(run_here, 0.0)

    def describe(self) -> Mapping[str, Any]:
        """Return the schema of ``inputs`` and where pw.x is."""
        missing = f"{PROGRAM} is not in PATH"
        described = describe_program(EspressoOptions, TASKS, find_program(), missing)
        for task, several in TASKS_OF_SEVERAL.items():
            described["parameters_by_task"][task] = several.options.model_json_schema()
        return described

    def prepare(self, request: JobRequest) -> Prepared:
        """Check the deck or write it, find what it needs, set it up for its directory.

        Raises
        ------
        InvalidParams, InputRejected
            With the field at fault.
        """
        several = meant_by(request)
        if several is not None:
            return several.prepare(request, self._prepare)
        return self._prepare(request)

    def _prepare(self, request: JobRequest) -> Prepared:
        return preparing.prepare(request, self._writer)

    def progress(self, directory: Path) -> Progress | None:
        """Return the last SCF iteration and ionic step, or the step of several programs."""
        several = found_in(directory)
        if several is not None:
            return several.progress(directory)
        outputs = find_outputs(directory)
        return progress_of(outputs[0]) if outputs else None

    def judge(self, directory: Path, end: EndReceipt | None) -> Verdict:
        """Judge by the exit code and the output; ``JOB DONE`` is no proof."""
        several = found_in(directory)
        if several is not None:
            return several.judge(directory, end)
        outputs = find_outputs(directory)
        path = outputs[0] if outputs else directory / "stdout.log"
        return _judge(path, end).verdict

    def series(self, directory: Path) -> Mapping[str, Any]:
        """Return the SCF by iteration; energy, force, volume and cell by geometry."""
        several = found_in(directory)
        if several is not None:
            return several.series(directory)
        outputs = find_outputs(directory)
        return series_of(load_run(outputs[0])) if outputs else {}

    def recognise(self, path: Path) -> Finished | None:
        """Say what a calculation by hand consists of."""
        return foreign.recognise(path)

    def read(self, path: Path) -> Reading | None:
        """Judge an output by itself, without an exit code."""
        output = foreign.find_output(path)
        return None if output is None else _judge(output, None)

    def proceed(self, directory: Path, request: JobRequest, reason: str | None) -> Continuation:
        """Go on from the saved state or the last geometry, with what failed set right.

        Raises
        ------
        InputRejected
            There is nothing to go on from.
        """
        several = found_in(directory)
        if several is not None:
            raise several.no_continuation()
        return proceed.proceed(directory, request, reason)


def _judge(output: Path, end: EndReceipt | None) -> Reading:
    directory = output.parent
    run = load_run(output)
    deck = find_run_deck(directory, run)
    verdict = judge_run(
        run,
        task=None if deck is None else deck[1].calculation,
        directory=directory,
        end=end,
        crash=None if run.job_done else load_crash(directory),
    )
    if deck is not None:
        settings = settings_of(deck[1])
        verdict = replace(verdict, results={**verdict.results, "settings": settings})
    if (run.n_atoms or 0) > MAX_ARRAY_ATOMS:
        verdict = replace(verdict, results={**verdict.results, "arrays_in": output.name})
    return Reading(
        verdict=verdict,
        task=verdict.results["task"],
        formula=verdict.results.get("formula"),
        n_atoms=run.n_atoms,
    )
