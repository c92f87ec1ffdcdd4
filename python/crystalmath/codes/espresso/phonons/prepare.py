"""From a request to a phonon job: the job of its SCF, and ph.x behind it.

No side effects. Used by ``adapter``.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Final

from crystalmath.codes import mpi
from crystalmath.codes.espresso import program
from crystalmath.codes.espresso.phonons import script
from crystalmath.codes.espresso.phonons.decks import MATRICES, PH, check, ph_deck, tightened
from crystalmath.codes.espresso.phonons.options import OWN, TASK, PhononOptions
from crystalmath.codes.espresso.steps import SCF, refuse_clashes, scf_job
from crystalmath.codes.options import parse_options
from crystalmath.errors import InputRejected, InvalidParams
from crystalmath.services.ports import InputFile, JobRequest, Prepared

PROGRAM: Final = "ph.x"


def prepare(request: JobRequest, prepare_scf: Callable[[JobRequest], Prepared]) -> Prepared:
    """Check the request and say what to run.

    Parameters
    ----------
    prepare_scf
        Makes the job of an SCF.

    Raises
    ------
    InvalidParams, InputRejected
        With the field at fault.
    """
    options = parse_options(PhononOptions, request.inputs)
    _refuse_other_decks(request)
    scf = scf_job(request, prepare_scf, OWN)
    check(options, scf.deck, "inputs", "structure" if request.structure is not None else "files")
    deck, notes = tightened(scf.deck, options.scf_conv_thr_ry)
    taken = {script.NAME, *(f"{step}{end}" for step in (SCF, PH) for end in (".in", ".out"))}
    refuse_clashes(scf.files, lambda path: path in taken or path.startswith(MATRICES))
    ph = program.with_launcher(_program(options, request), f"{PH}.in", options, request)
    run = script.render(deck.prefix, scf.command, ph[:-2])
    return replace(
        scf.prepared,
        task=TASK,
        argv=("/bin/sh", script.NAME),
        files=(
            InputFile(f"{SCF}.in", content=deck.text),
            InputFile(f"{PH}.in", content=ph_deck(options, deck, "inputs")),
            InputFile(script.NAME, content=run, executable=True),
            *scf.files,
        ),
        output=f"{SCF}.out",
        starts_processes=True,
        warnings=(*scf.prepared.warnings, *notes),
    )


def _refuse_other_decks(request: JobRequest) -> None:
    for index, file in enumerate(request.files):
        if "&inputph" in (file.content or "").lower():
            raise InvalidParams(
                f"{file.path} is a deck of ph.x, which this task writes itself",
                hint="give the deck of the SCF, and q_point, tr2_ph or epsil as `inputs`",
                field=f"files.{index}",
            )


def _program(options: PhononOptions, request: JobRequest) -> str:
    """ph.x: named, beside the pw.x that is named, or in PATH."""
    if options.ph_executable is not None:
        named = options.ph_executable
    else:
        pw = options.executable or (request.executable if request.remote else None)
        if pw is None:
            named = PROGRAM if request.remote else shutil.which(PROGRAM) or ""
        elif PurePosixPath(pw).name == program.PROGRAM:
            named = pw[: -len(program.PROGRAM)] + PROGRAM
        else:
            named = ""
    if not named:
        raise InputRejected(
            "ph.x was not found in PATH or beside pw.x",
            hint="give `inputs.ph_executable`",
            field="inputs.ph_executable",
        )
    return named if request.remote else mpi.check_program(named, "inputs.ph_executable")
