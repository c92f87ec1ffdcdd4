"""Which program a job runs: vasp_std and its kin, alone or under mpirun."""

from __future__ import annotations

import shutil
from typing import Final

from crystalmath.codes import mpi
from crystalmath.codes.vasp.options import VaspOptions
from crystalmath.errors import InputRejected
from crystalmath.services.ports import JobRequest

PROGRAM: Final = "vasp_std"
_HINT: Final = (
    "put VASP in the PATH of the daemon and restart the daemon, or give `inputs.executable`; it "
    "is licensed and does not come with CrystalMath"
)


def name_of(options: VaspOptions) -> str:
    """The program's usual name."""
    return f"vasp_{options.flavour}"


def find_program(name: str = PROGRAM) -> str | None:
    """The VASP of this machine's PATH."""
    return shutil.which(name)


def choose(options: VaspOptions, request: JobRequest) -> tuple[str, str]:
    """The program, empty where its name is searched there, and the launcher of several processes.

    Raises
    ------
    InputRejected
        The program or mpirun is not there.
    """
    if request.remote:
        return options.executable or request.executable or "", ""
    launcher = f"{mpi.find_launcher()} -n {request.ntasks}" if request.ntasks > 1 else ""
    if options.executable is not None:
        return mpi.check_program(options.executable), launcher
    name = name_of(options)
    found = find_program(name)
    if found is None:
        raise InputRejected(f"{name} is not in PATH", hint=_HINT, field="inputs.executable")
    return found, launcher
