"""The script of a job: POTCAR is put together, VASP runs, POTCAR goes again. Pure.

One text for this machine and for clusters. The potentials are files of the machine where the script
runs; only their labels, hashes and places stand in it.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from crystalmath.codes.scripts import filled

NAME: Final = "vasp.sh"
SAYS: Final = f"{NAME}: "
"""How a line begins that the script writes to standard error."""
STOPPED: Final = f"{SAYS}stopped before the time limit"
MISSING: Final = f"{SAYS}no potential"
MISSING_CODE: Final = 66
"""Exit code where a potential is missing."""


@dataclass(frozen=True, slots=True)
class Potential:
    """One potential: a file that is known, else what it is searched by where the script runs."""

    label: str
    file: str = ""
    sha256: str = ""
    folders: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Plan:
    """What the script is to do.

    Attributes
    ----------
    name
        What the program is called where ``program`` names none, or a directory.
    potentials
        None where the job brings its own POTCAR.
    """

    name: str
    potentials: Sequence[Potential] | None
    ntasks: int
    threads: int
    program: str = ""
    launcher: str = ""


def render(plan: Plan) -> str:
    """Write the script."""
    values = {
        "program": shlex.quote(plan.program),
        "name": shlex.quote(plan.name),
        "ntasks": str(plan.ntasks),
        "threads": str(plan.threads),
        "launcher": shlex.quote(plan.launcher),
        "assembled": "''" if plan.potentials is None else "1",
        "pieces": "\n".join(_line(one) for one in plan.potentials or ()) or ":",
        "says": SAYS.strip(),
        "stopped": STOPPED.removeprefix(SAYS),
        "missing": MISSING.removeprefix(SAYS),
    }
    return filled(Path(__file__).parent / "vasp.sh.in", values)


def _line(one: Potential) -> str:
    words = [one.label, one.sha256, one.file] if one.file else [one.label, *one.folders]
    return "  " + " ".join(["add" if one.file else "search", *(shlex.quote(w) for w in words)])
