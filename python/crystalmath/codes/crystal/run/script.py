"""The script of a job: stages into a scratch directory, runs, and collects whatever happens. Pure.

It is one text for this machine and for clusters, in the job directory for everybody to read. What
differs between machines it finds out itself, or the environment tells it: the launcher, the root of
the installation, the base of scratch directories.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final

from crystalmath.codes.crystal.run.staging import (
    COLLECTED,
    ON_FAILURE,
    STAGED,
    STAGED_FOR_PROPERTIES,
    STORY,
    STORY_FILES,
)
from crystalmath.codes.scripts import filled

NAME: Final = "crystal.sh"
SAYS: Final = f"{NAME}: "
"""How a line begins that the script writes to standard error."""
STOPPED: Final = f"{SAYS}stopped before the time limit"

SERIAL: Final = ("crystalOMP", "crystal")
PARALLEL: Final = ("PcrystalOMP", "Pcrystal")
PROPERTIES: Final = ("properties",)
PARALLEL_PROPERTIES: Final = ("Pproperties",)


@dataclass(frozen=True, slots=True)
class Plan:
    """What the script is to do.

    Attributes
    ----------
    deck
        Path of the deck in the job directory.
    staged
        Paths of the files beside it, in the job directory.
    ntasks, cores
        Processes, and the cores that they have together.
    program, folder
        The program itself, or the directory that holds the programs, where either is known.
    launcher
        What starts several processes on this machine; empty where the job script tells.
    """

    deck: str
    staged: Sequence[str]
    ntasks: int
    cores: int
    properties: bool = False
    program: str = ""
    folder: str = ""
    launcher: str = ""

    @property
    def stem(self) -> str:
        """The deck's path without its ending: what every other file is called after."""
        return PurePosixPath(self.deck).with_suffix("").as_posix()

    @property
    def output(self) -> str:
        """The main output."""
        return f"{self.stem}{'.outp' if self.properties else '.out'}"


def threads_per_process(cores: int, ntasks: int) -> int:
    """Threads of each process: the cores are divided, and no process has less than one."""
    return max(1, cores // ntasks)


def render(plan: Plan) -> str:
    """Write the script."""
    names = STAGED_FOR_PROPERTIES if plan.properties else STAGED
    stages = [
        f"stage {shlex.quote(path)} {shlex.quote(names[PurePosixPath(path).suffix.lower()])}"
        for path in plan.staged
    ]
    serial, parallel = (PROPERTIES, PARALLEL_PROPERTIES) if plan.properties else (SERIAL, PARALLEL)
    values = {
        "deck": shlex.quote(plan.deck),
        "stem": shlex.quote(plan.stem),
        "output": shlex.quote(plan.output),
        "ntasks": str(plan.ntasks),
        "cores": str(plan.cores),
        "threads": str(threads_per_process(plan.cores, plan.ntasks)),
        "program": shlex.quote(plan.program),
        "folder": shlex.quote(plan.folder),
        "launcher": shlex.quote(plan.launcher),
        "serial": " ".join(serial),
        "parallel": " ".join(parallel),
        "stages": "\n".join(stages) or ":",
        "collects": "\n".join(
            f"collect {name} {shlex.quote(plan.stem + ending)}"
            for name, ending in COLLECTED.items()
        ),
        "collected": "|".join(COLLECTED),
        "story": shlex.quote(plan.stem + STORY),
        "story_files": " ".join(STORY_FILES),
        "on_failure": " ".join(ON_FAILURE),
        "says": SAYS.strip(),
        "stopped": STOPPED.removeprefix(SAYS),
    }
    return filled(Path(__file__).parent / "crystal.sh.in", values)
