"""Adapter of the code ``crystal``: CRYSTAL and its program properties.

It wires the modules of this folder together. Built by ``api``, called by the job services.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from crystalmath.codes.crystal import foreign
from crystalmath.codes.crystal.options import TASKS, CrystalOptions
from crystalmath.codes.crystal.output.files import Follower
from crystalmath.codes.crystal.output.geometries import formula_of
from crystalmath.codes.crystal.output.properties import curves_beside, curves_document
from crystalmath.codes.crystal.output.results import kind_of
from crystalmath.codes.crystal.output.run import Run
from crystalmath.codes.crystal.output.series import progress_of, series_of
from crystalmath.codes.crystal.output.verdict import judge_run
from crystalmath.codes.crystal.run import prepare as preparing
from crystalmath.codes.crystal.run import proceed
from crystalmath.codes.crystal.run.places import find_output, load_with_deck, said_by_script
from crystalmath.codes.crystal.run.program import find_program, folders_of
from crystalmath.codes.crystal.run.script import SERIAL
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


class CrystalAdapter:
    """Implements ``services.ports.CodeAdapter``.

    Parameters
    ----------
    writer
        Writes decks for structures.
    """

    name = "crystal"
    title = "periodic Hartree-Fock and DFT in Gaussian orbitals with CRYSTAL"
    tasks: tuple[str, ...] = TASKS

    def __init__(self, writer: preparing.DeckWriter) -> None:
        self._writer = writer
        self._follower = Follower()

    def describe(self) -> Mapping[str, Any]:
        """Return the schema of ``inputs`` and where CRYSTAL is."""
        executable = find_program(SERIAL, list(folders_of(os.environ)))
        missing = f"{SERIAL[0]} is neither in PATH nor in the installation of CRY23_ROOT"
        return describe_program(CrystalOptions, self.tasks, executable, missing)

    def prepare(self, request: JobRequest) -> Prepared:
        """Check the deck, find what it needs, write the script that runs it.

        Raises
        ------
        InvalidParams, InputRejected
            With the field at fault.
        """
        return preparing.prepare(request, self._writer)

    def progress(self, directory: Path) -> Progress | None:
        """Return the last SCF cycle and geometry; only what was added to the output is read."""
        output = find_output(directory)
        return None if output is None else progress_of(self._follower.update(output)[0])

    def judge(self, directory: Path, end: EndReceipt | None) -> Verdict:
        """Judge by the output and the exit code; normal termination is no proof."""
        output = find_output(directory)
        run = Run() if output is None else load_with_deck(output)
        place = directory if output is None else output.parent
        verdict = judge_run(run, end=end, directory=directory, place=place)
        said = dict.fromkeys((*verdict.warnings, *said_by_script(directory)))
        return _with_curves(replace(verdict, warnings=tuple(said)), output)

    def series(self, directory: Path) -> Mapping[str, Any]:
        """Return the SCF by cycle, the optimisation by geometry, spectra, bands and densities."""
        output = find_output(directory)
        if output is None:
            return {}
        bands, dos = curves_beside(output)
        return series_of(self._follower.update(output)[0], bands, dos)

    def recognise(self, path: Path) -> Finished | None:
        """Say what a calculation by hand consists of."""
        return foreign.recognise(path)

    def read(self, path: Path) -> Reading | None:
        """Judge an output by itself, without an exit code."""
        output = foreign.find_output(path)
        if output is None:
            return None
        run = load_with_deck(output)
        verdict = judge_run(run, end=None, directory=None, alone=True)
        geometry = run.geometry
        return Reading(
            verdict=_with_curves(verdict, output),
            task=kind_of(run),
            formula=None if geometry is None else formula_of(geometry),
            n_atoms=None if geometry is None else geometry.n_atoms,
        )

    def proceed(self, directory: Path, request: JobRequest, reason: str | None) -> Continuation:
        """Go on from what was collected, with what failed set right.

        Raises
        ------
        InputRejected
            There is nothing to go on from.
        """
        output = find_output(directory)
        run = Run() if output is None else load_with_deck(output)
        return proceed.proceed(directory, request, reason, run)


def _with_curves(verdict: Verdict, output: Path | None) -> Verdict:
    """The verdict with what lies beside the output of properties."""
    if output is None or verdict.results.get("task") != "properties":
        return verdict
    return replace(verdict, results={**verdict.results, **curves_document(*curves_beside(output))})
