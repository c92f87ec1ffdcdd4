"""Real outputs of SLURM commands, read from the folder of cases where it is present."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import pytest

from crystalmath.services.ports_shell import Ran

CASES = Path(
    os.environ.get("CRYSTALMATH_CASES", Path(__file__).parents[2].parent / "shared" / "cases")
)
_STDERR = (
    b"sbatch:",
    b"sacct:",
    b"squeue:",
    b"scancel:",
    b"slurm_load_jobs",
    b"slurmstepd",
    b"Try ",
)


@dataclass(frozen=True)
class Capture:
    """What one command printed, with the command itself."""

    how: str
    command: str
    ran: Ran


def names() -> list[str]:
    """Every capture that is there."""
    return sorted(path.stem for path in (CASES / "slurm").glob("*.txt"))


def load(name: str) -> Capture:
    """Read one capture, or skip the test with the reason."""
    path = CASES / "slurm" / f"{name}.txt"
    if not path.is_file():
        pytest.skip(f"no case slurm/{name} (set CRYSTALMATH_CASES)")
    how, command, rest = path.read_bytes().split(b"\n", 2)
    at = rest.rindex(b"# exit status:")
    body, rc = rest[:at], int(rest[at:].split(b":")[1])
    lines = body.splitlines(keepends=True)
    err = b"".join(line for line in lines if line.startswith(_STDERR))
    out = b"".join(line for line in lines if not line.startswith(_STDERR))
    return Capture(how.decode(), command.decode(), Ran(rc, out, err))
