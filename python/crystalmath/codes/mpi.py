"""Programs of this machine and the way to start several processes. Shared by the adapters."""

from __future__ import annotations

import os
import shutil
from typing import Final

from crystalmath.errors import InputRejected

_LAUNCHERS: Final = ("mpirun", "mpiexec")


def check_program(executable: str, field: str = "inputs.executable") -> str:
    """Refuse a path that is no program.

    Raises
    ------
    InputRejected
    """
    if not os.path.isfile(executable) or not os.access(executable, os.X_OK):  # noqa: PTH113 - as PATH is searched
        raise InputRejected(
            f"{executable} is no program that can be run",
            hint="check the path and its permissions",
            field=field,
        )
    return executable


def find_launcher() -> str:
    """The mpirun of this machine's PATH.

    Raises
    ------
    InputRejected
        There is none.
    """
    for name in _LAUNCHERS:
        found = shutil.which(name)
        if found is not None:
            return found
    raise InputRejected(
        "several processes need mpirun, and it is not in PATH",
        hint="install an MPI, or use one process and more threads (`resources.cpus_per_task`)",
        field="resources.ntasks",
    )


def environment(ntasks: int) -> dict[str, str]:
    """Variables that MPI needs on this machine."""
    variables: dict[str, str] = {}
    if ntasks > 1:
        # Two jobs on one machine would otherwise both be bound to its first cores.
        variables["OMPI_MCA_hwloc_base_binding_policy"] = "none"
        variables["PRTE_MCA_hwloc_default_binding_policy"] = "none"
        if os.geteuid() == 0:
            variables["OMPI_ALLOW_RUN_AS_ROOT"] = "1"
            variables["OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"] = "1"
    return variables
