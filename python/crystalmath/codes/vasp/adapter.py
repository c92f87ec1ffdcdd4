"""Adapter of the code ``vasp``.

It wires the modules of this folder together. Built by ``api``, called by the job services.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from crystalmath.codes.options import describe_program
from crystalmath.codes.vasp import foreign
from crystalmath.codes.vasp.options import TASKS, VaspOptions
from crystalmath.codes.vasp.output.files import (
    find_vasprun,
    load_run,
    load_words,
    meant_vasprun,
)
from crystalmath.codes.vasp.output.run import Run
from crystalmath.codes.vasp.output.series import progress_of, series_of
from crystalmath.codes.vasp.output.verdict import judge_run
from crystalmath.codes.vasp.run import prepare as preparing
from crystalmath.codes.vasp.run import proceed
from crystalmath.codes.vasp.run.program import PROGRAM, find_program
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


class VaspAdapter:
    """Implements ``services.ports.CodeAdapter``.

    Parameters
    ----------
    writer
        Writes inputs for structures.
    """

    name = "vasp"
    title = "plane-wave DFT with VASP"
    tasks: tuple[str, ...] = TASKS

    def __init__(self, writer: preparing.InputWriter) -> None:
        self._writer = writer

    def describe(self) -> Mapping[str, Any]:
        """Return the schema of ``inputs`` and where VASP is."""
        missing = f"{PROGRAM} is not in PATH"
        return describe_program(VaspOptions, self.tasks, find_program(), missing)

    def prepare(self, request: JobRequest) -> Prepared:
        """Check or write the inputs, find the potentials, write the script that runs VASP.

        Raises
        ------
        ConfigError, InvalidParams, InputRejected
            With the field at fault.
        """
        return preparing.prepare(request, self._writer)

    def progress(self, directory: Path) -> Progress | None:
        """Return the last ionic and electronic step."""
        return progress_of(directory)

    def judge(self, directory: Path, end: EndReceipt | None) -> Verdict:
        """Judge by convergence, known texts and the end; an exit code of 0 is no proof."""
        path = find_vasprun(directory)
        run = Run() if path is None else load_run(path)
        return judge_run(run, load_words(directory), directory, end)

    def series(self, directory: Path) -> Mapping[str, Any]:
        """Return the SCF by step; energy, force, pressure and cell by ionic step."""
        path = find_vasprun(directory)
        return {} if path is None else series_of(load_run(path))

    def recognise(self, path: Path) -> Finished | None:
        """Say what a calculation by hand consists of."""
        return foreign.recognise(path)

    def read(self, path: Path) -> Reading | None:
        """Judge a vasprun.xml by itself, with what lies beside it."""
        found = meant_vasprun(path)
        if found is None:
            return None
        run = load_run(found)
        verdict = judge_run(run, load_words(found.parent), found.parent, None)
        return Reading(
            verdict=verdict,
            task=verdict.results["task"],
            formula=verdict.results.get("formula"),
            n_atoms=run.n_atoms,
        )

    def proceed(self, directory: Path, request: JobRequest, reason: str | None) -> Continuation:
        """Go on from CONTCAR, with more steps where they were too few.

        Raises
        ------
        InputRejected
            There is nothing to go on from.
        """
        return proceed.proceed(directory, request, reason)
