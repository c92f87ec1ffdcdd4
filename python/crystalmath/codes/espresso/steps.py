"""What jobs of several programs begin with: the job of an SCF, and shell functions. Pure."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from crystalmath.codes.espresso.deck import Deck, parse_deck
from crystalmath.codes.scripts import filled
from crystalmath.errors import InvalidParams
from crystalmath.services.ports import InputFile, JobRequest, Prepared

SCF: Final = "scf"
"""The step that all of them begin with."""
STOPPED: Final = "stopped before the time limit"
_DECK_FLAG: Final = "-in"


@dataclass(frozen=True, slots=True)
class ScfJob:
    """The job of an SCF, taken apart.

    Attributes
    ----------
    command
        pw.x and its arguments, without the deck.
    deck
        As it would run alone.
    files
        Those beside the deck.
    """

    prepared: Prepared
    command: Sequence[str]
    deck: Deck
    files: Sequence[InputFile]


def scf_job(
    request: JobRequest, prepare_scf: Callable[[JobRequest], Prepared], own: Collection[str]
) -> ScfJob:
    """Make the job of the SCF that a request begins with.

    Parameters
    ----------
    prepare_scf
        Makes the job of an SCF, whatever it is asked with.
    own
        Inputs of the request that are not the SCF's.

    Raises
    ------
    InvalidParams, InputRejected
        With the field at fault.
    """
    inputs = {name: value for name, value in request.inputs.items() if name not in own}
    made = prepare_scf(replace(request, task=SCF, inputs=inputs))
    flag, name = made.argv[-2:]
    assert flag == _DECK_FLAG
    text = next(file.content for file in made.files if file.path == name)
    files = [file for file in made.files if file.path != name]
    return ScfJob(made, made.argv[:-2], parse_deck(text or ""), files)


def refuse_clashes(files: Sequence[InputFile], is_taken: Callable[[str], bool]) -> None:
    """Refuse files of the user under names that the job itself writes.

    Raises
    ------
    InvalidParams
    """
    for index, file in enumerate(files):
        if is_taken(file.path):
            raise InvalidParams(
                f"{file.path} is written by the job itself",
                hint="give the file another name",
                field=f"files.{index}.path",
            )


def steps(says: str) -> str:
    """The shell functions ``say`` and ``program``; the script sets ``stop_file`` before.

    Parameters
    ----------
    says
        How a line begins that the script writes to standard error.
    """
    values = {"says": says.strip(), "stopped": STOPPED}
    return filled(Path(__file__).parent / "steps.sh.in", values).rstrip("\n")
