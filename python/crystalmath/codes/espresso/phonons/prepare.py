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
from crystalmath.codes.espresso.deck import parse_deck
from crystalmath.codes.espresso.phonons import script
from crystalmath.codes.espresso.phonons.decks import MATRICES, PH, SCF, check, ph_deck, tightened
from crystalmath.codes.espresso.phonons.options import OWN, TASK, PhononOptions
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
    inputs = {name: value for name, value in request.inputs.items() if name not in OWN}
    scf = prepare_scf(replace(request, task=SCF, inputs=inputs))
    name = scf.argv[-1]
    text = next(file.content for file in scf.files if file.path == name)
    deck = parse_deck(text or "")
    check(options, deck, "inputs", "structure" if request.structure is not None else "files")
    deck, notes = tightened(deck, options.scf_conv_thr_ry)
    kept = [file for file in scf.files if file.path != name]
    for index, file in enumerate(kept):
        taken = [script.NAME, *(f"{step}{end}" for step in (SCF, PH) for end in (".in", ".out"))]
        if file.path in taken or file.path.startswith(MATRICES):
            raise InvalidParams(
                f"{file.path} is written by the job itself",
                hint="give the file another name",
                field=f"files.{index}.path",
            )
    ph = program.with_launcher(_program(options, request), f"{PH}.in", options, request)
    run = script.render(deck.prefix, scf.argv[:-2], ph[:-2])
    return replace(
        scf,
        task=TASK,
        argv=("/bin/sh", script.NAME),
        files=(
            InputFile(f"{SCF}.in", content=deck.text),
            InputFile(f"{PH}.in", content=ph_deck(options, deck, "inputs")),
            InputFile(script.NAME, content=run, executable=True),
            *kept,
        ),
        output=f"{SCF}.out",
        starts_processes=True,
        warnings=(*scf.warnings, *notes),
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
