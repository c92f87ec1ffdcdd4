"""From a request to a phonon job: the job of its SCF, and ph.x behind it.

No side effects. Used by ``adapter``.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Any, Final

from crystalmath.codes import mpi
from crystalmath.codes.espresso import program
from crystalmath.codes.espresso.phonons import script
from crystalmath.codes.espresso.phonons.decks import MATRICES, PH, check, ph_deck, tightened
from crystalmath.codes.espresso.phonons.given import PhDeck, find_ph_deck, response_of
from crystalmath.codes.espresso.phonons.options import OWN, TASK, PhononOptions, Response
from crystalmath.codes.espresso.prepare import ENDINGS
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
    given = find_ph_deck(request.files)
    scf = scf_job(request if given is None else _beside(request, given), prepare_scf, OWN)
    if given is not None:
        scf = replace(scf, files=[file for file in scf.files if file.path != given.path])
        options = _with_response(request, response_of(given, scf.deck), given)
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


def _beside(request: JobRequest, given: PhDeck) -> JobRequest:
    """The request with the deck of its SCF named, where there is one of ph.x, too."""
    if request.structure is not None:
        raise given.refuse(
            "for a structure the deck of ph.x is written",
            "give q_point, tr2_ph or epsil as `inputs`, or the deck of the SCF, too",
        )
    if request.inputs.get("deck") is not None:
        return request
    others = (file.path for file in request.files if file.path != given.path)
    decks = [path for path in others if path.lower().endswith(ENDINGS)]
    if not decks:
        raise given.refuse(
            "is a deck of ph.x, and there is none of the SCF before it", "give that, too"
        )
    return replace(request, inputs={**request.inputs, "deck": decks[0]})


def _with_response(request: JobRequest, found: Mapping[str, Any], given: PhDeck) -> PhononOptions:
    """The options, with what the deck of ph.x says of them."""
    for name in Response.model_fields:
        if name in request.inputs and name != "scf_conv_thr_ry":
            raise InvalidParams(
                f"{given.path} is a deck of ph.x, and `inputs.{name}` stands there, too",
                hint="leave one of them out",
                field=f"inputs.{name}",
            )
    try:
        return parse_options(PhononOptions, {**request.inputs, **found})
    except InvalidParams as error:
        raise given.refuse(error.message.removeprefix("inputs."), "correct it there") from None


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
