"""The tasks that run several programs in one job: which there are, and which one a directory is.

Used by ``adapter`` and ``large``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Protocol

from crystalmath.codes.espresso.bands import prepare as of_bands
from crystalmath.codes.espresso.bands import verdict as bands
from crystalmath.codes.espresso.bands.options import TASK as BAND_STRUCTURE
from crystalmath.codes.espresso.bands.options import BandStructureOptions
from crystalmath.codes.espresso.options import EspressoOptions
from crystalmath.codes.espresso.phonons import prepare as of_phonons
from crystalmath.codes.espresso.phonons import verdict as phonons
from crystalmath.codes.espresso.phonons.given import find_ph_deck
from crystalmath.codes.espresso.phonons.options import TASK as PH
from crystalmath.codes.espresso.phonons.options import PhononOptions
from crystalmath.errors import InputRejected
from crystalmath.services.ports import EndReceipt, JobRequest, Prepared, Progress, Verdict

PrepareScf = Callable[[JobRequest], Prepared]


class Reading(Protocol):
    """What is read of the directory of such a job."""

    def is_one(self, directory: Path) -> bool:
        """Whether the directory is that of such a job."""

    def progress(self, directory: Path) -> Progress | None:
        """Which step runs, and how far it is."""

    def judge(self, directory: Path, end: EndReceipt | None) -> Verdict:
        """Judge the steps, up to the first that did not complete."""

    def series(self, directory: Path) -> dict[str, Any]:
        """What is plotted of its steps."""

    def heaviest(self, directory: Path) -> Path | None:
        """The largest file that a verdict is read of."""

    def no_continuation(self) -> InputRejected:
        """Why it is not continued."""


@dataclass(frozen=True, slots=True)
class Several:
    """A task of several programs.

    Attributes
    ----------
    prepare
        From a request, and what makes the job of its SCF, to the job.
    """

    options: type[EspressoOptions]
    prepare: Callable[[JobRequest, PrepareScf], Prepared]
    reading: Reading


TASKS_OF_SEVERAL: Final[Mapping[str, Several]] = {
    BAND_STRUCTURE: Several(BandStructureOptions, of_bands.prepare, bands),
    PH: Several(PhononOptions, of_phonons.prepare, phonons),
}


def asked_for(task: str | None) -> Several | None:
    """The task of several programs that is asked for; None for one of pw.x alone."""
    return TASKS_OF_SEVERAL.get((task or "").lower())


def meant_by(request: JobRequest) -> Several | None:
    """The task of several programs that a request asks for, by name or by a deck of ph.x.

    Raises
    ------
    InvalidParams
        A deck cannot be read, or there are several of ph.x.
    """
    if request.task is not None:
        return asked_for(request.task)
    return None if find_ph_deck(request.files) is None else TASKS_OF_SEVERAL[PH]


def found_in(directory: Path) -> Reading | None:
    """How the directory of such a job is read; None where it is none."""
    readings = (one.reading for one in TASKS_OF_SEVERAL.values())
    return next((one for one in readings if one.is_one(directory)), None)
