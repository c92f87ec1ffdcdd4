"""Which program a job runs: pw.x, alone or under mpirun, and the variables it needs."""

from __future__ import annotations

import shutil
from typing import Final

from crystalmath.codes import mpi
from crystalmath.codes.espresso.options import EspressoOptions
from crystalmath.errors import InputRejected, InvalidParams
from crystalmath.services.ports import JobRequest

PROGRAM: Final = "pw.x"
_HINT: Final = (
    "install Quantum ESPRESSO, put it in the PATH of the daemon and restart the daemon, "
    "or give `inputs.executable`"
)


def find_program() -> str | None:
    """The pw.x of this machine's PATH."""
    return shutil.which(PROGRAM)


def command(deck: str, options: EspressoOptions, request: JobRequest) -> tuple[str, ...]:
    """Program and arguments; on a cluster without a launcher, which the job script adds.

    Raises
    ------
    InputRejected
        pw.x or mpirun is not there.
    InvalidParams
        ``npool`` does not divide the processes.
    """
    if request.remote:
        program = options.executable or request.executable or PROGRAM
    else:
        program = _program(options.executable)
    return with_launcher(program, deck, options, request)


def with_launcher(
    program: str, deck: str, options: EspressoOptions, request: JobRequest
) -> tuple[str, ...]:
    """A program with its pools, its deck and what starts its processes.

    Raises
    ------
    InputRejected
        mpirun is not there.
    InvalidParams
        ``npool`` does not divide the processes.
    """
    ntasks = request.ntasks
    pools = options.npool or 1
    if ntasks % pools:
        raise InvalidParams(
            f"{ntasks} processes cannot be divided into {pools} pools",
            hint="take a divisor of the processes",
            field="inputs.npool",
        )
    arguments = ["-npool", str(pools)] if pools > 1 else []
    run = (program, *arguments, "-in", deck)
    return run if ntasks == 1 or request.remote else (mpi.find_launcher(), "-n", str(ntasks), *run)


def environment(request: JobRequest) -> dict[str, str]:
    """Variables that MPI needs on this machine."""
    return {} if request.remote else mpi.environment(request.ntasks)


def _program(executable: str | None) -> str:
    if executable is not None:
        return mpi.check_program(executable)
    found = find_program()
    if found is None:
        raise InputRejected(f"{PROGRAM} is not in PATH", hint=_HINT, field="inputs.executable")
    return found
