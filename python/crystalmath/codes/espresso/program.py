"""Which program a job runs: pw.x, alone or under mpirun, and the variables it needs."""

from __future__ import annotations

import os
import shutil
from typing import Final

from crystalmath.codes.espresso.options import EspressoOptions
from crystalmath.errors import InputRejected, InvalidParams
from crystalmath.services.ports import JobRequest

PROGRAM: Final = "pw.x"
_LAUNCHERS: Final = ("mpirun", "mpiexec")
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
    ntasks = request.ntasks
    if request.remote:
        program = options.executable or request.executable or PROGRAM
    else:
        program = _program(options.executable)
    pools = options.npool or 1
    if ntasks % pools:
        raise InvalidParams(
            f"{ntasks} processes cannot be divided into {pools} pools",
            hint="take a divisor of the processes",
            field="inputs.npool",
        )
    arguments = ["-npool", str(pools)] if pools > 1 else []
    run = (program, *arguments, "-in", deck)
    return run if ntasks == 1 or request.remote else (_launcher(), "-n", str(ntasks), *run)


def environment(request: JobRequest) -> dict[str, str]:
    """Variables that MPI needs on this machine."""
    variables: dict[str, str] = {}
    if request.ntasks > 1 and not request.remote:
        # Two jobs on one machine would otherwise both be bound to its first cores.
        variables["OMPI_MCA_hwloc_base_binding_policy"] = "none"
        variables["PRTE_MCA_hwloc_default_binding_policy"] = "none"
        if os.geteuid() == 0:
            variables["OMPI_ALLOW_RUN_AS_ROOT"] = "1"
            variables["OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"] = "1"
    return variables


def _program(executable: str | None) -> str:
    if executable is None:
        found = find_program()
        if found is None:
            raise InputRejected(f"{PROGRAM} is not in PATH", hint=_HINT, field="inputs.executable")
        return found
    if not os.path.isfile(executable) or not os.access(executable, os.X_OK):  # noqa: PTH113 - as PATH is searched
        raise InputRejected(
            f"{executable} is no program that can be run",
            hint="check the path and its permissions",
            field="inputs.executable",
        )
    return executable


def _launcher() -> str:
    for name in _LAUNCHERS:
        found = shutil.which(name)
        if found is not None:
            return found
    raise InputRejected(
        "several processes need mpirun, and it is not in PATH",
        hint="install an MPI, or use one process and more threads (`resources.cpus_per_task`)",
        field="resources.ntasks",
    )
