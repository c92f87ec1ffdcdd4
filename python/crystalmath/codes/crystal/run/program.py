"""Which program a job runs, and what is known of it before it starts."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from crystalmath.codes import mpi
from crystalmath.codes.crystal.run import script
from crystalmath.errors import InputRejected
from crystalmath.services.ports import JobRequest

ROOT: Final = "CRY23_ROOT"
_HINT: Final = (
    "set CRY23_ROOT, CRY_ARCH and CRY_VERSION, put the program in the PATH of the daemon and "
    "restart the daemon, or give `inputs.executable`"
)


@dataclass(frozen=True, slots=True)
class Chosen:
    """What the script is told: the program itself, or the directory of the programs.

    Attributes
    ----------
    ntasks
        One where the parallel program is missing.
    """

    program: str = ""
    folder: str = ""
    ntasks: int = 1
    launcher: str = ""
    warnings: tuple[str, ...] = ()


def names_of(*, properties: bool) -> tuple[Sequence[str], Sequence[str]]:
    """The programs for one process and for several."""
    if properties:
        return script.PROPERTIES, script.PARALLEL_PROPERTIES
    return script.SERIAL, script.PARALLEL


def find_program(names: Sequence[str], folders: Sequence[str]) -> str | None:
    """The first of these programs in these directories, else in PATH."""
    for name in names:
        for folder in folders:
            path = Path(folder) / name
            if path.is_file() and os.access(path, os.X_OK):
                return str(path)
        found = shutil.which(name)
        if found is not None:
            return found
    return None


def folders_of(variables: Mapping[str, str]) -> Iterator[str]:
    """The directory of the programs of an installation: root, architecture and version."""
    root = variables.get(ROOT)
    if root:
        yield os.path.join(  # noqa: PTH118 - empty parts are left out as the shell does
            root, "bin", variables.get("CRY_ARCH", ""), variables.get("CRY_VERSION", "")
        )


def choose(executable: str | None, request: JobRequest, *, properties: bool) -> Chosen:
    """Choose the program: on this machine now, on a cluster when the script runs there.

    Raises
    ------
    InputRejected
        It is not there, or no mpirun is.
    """
    if request.remote:
        return Chosen(program=executable or request.executable or "", ntasks=request.ntasks)
    serial, parallel = names_of(properties=properties)
    folders = list(folders_of(request.context))
    if executable is not None and not Path(executable).is_dir():
        program: str | None = mpi.check_program(executable)
        return _with_launcher(str(program), request.ntasks)
    if executable is not None:
        folders = [executable]
    if request.ntasks > 1:
        program = find_program(parallel, folders)
        if program is not None:
            return _with_launcher(program, request.ntasks)
    program = find_program(serial, folders)
    if program is None:
        looked_in = ", ".join([*folders, "PATH"])
        raise InputRejected(
            f"{serial[0]} is not there; looked in: {looked_in}",
            hint=_HINT,
            field="inputs.executable",
        )
    if request.ntasks == 1:
        return Chosen(program=program)
    missing = (
        f"{parallel[0]} is not there: it runs as one process with "
        f"{request.ntasks * request.cpus_per_task} threads"
    )
    return Chosen(program=program, warnings=(missing,))


def _with_launcher(program: str, ntasks: int) -> Chosen:
    launcher = "" if ntasks == 1 else f"{mpi.find_launcher()} -n {ntasks}"
    return Chosen(program=program, ntasks=ntasks, launcher=launcher)
