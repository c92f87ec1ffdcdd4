"""A deck of ph.x that comes with a job: what it asks for, of what the task ``ph`` computes.

The job writes its own deck of that. Used by ``prepare`` and ``several``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from crystalmath.codes.decks import Given, read_deck
from crystalmath.codes.espresso import prepare
from crystalmath.codes.espresso.deck import Deck
from crystalmath.codes.espresso.namelist import parse_namelists
from crystalmath.codes.espresso.phonons.decks import in_fractions
from crystalmath.errors import InvalidParams
from crystalmath.services.ports import InputFile

_NAMELIST: Final = "inputph"
_ENDINGS: Final = (*prepare.ENDINGS, ".ph")
_OF_JOB: Final = ("outdir", "fildyn")
"""Variables that the job sets itself."""
_TAKEN: Final = ("prefix", "tr2_ph", "epsil", *_OF_JOB)


@dataclass(frozen=True, slots=True)
class PhDeck:
    """A deck of ph.x among the files of a request.

    Attributes
    ----------
    index
        Which of the files it is.
    """

    index: int
    path: str
    text: str

    def refuse(self, problem: str, hint: str) -> InvalidParams:
        """The complaint about it."""
        return InvalidParams(f"{self.path}: {problem}", hint=hint, field=f"files.{self.index}")


def find_ph_deck(files: Sequence[InputFile]) -> PhDeck | None:
    """The deck of ph.x among the files of a request.

    Raises
    ------
    InvalidParams
        There are several, or a deck cannot be read.
    """
    found: list[PhDeck] = []
    for index, file in enumerate(files):
        if file.content is None and not file.path.lower().endswith(_ENDINGS):
            continue
        beside = None if file.source is None else Path(file.source).parent
        text, _ = read_deck(Given(index, file, beside), crlf=prepare.CRLF)
        if _NAMELIST in parse_namelists(text):
            found.append(PhDeck(index, file.path, text))
    if len(found) > 1:
        raise found[1].refuse("is a second deck of ph.x", "a job has one: submit several")
    return found[0] if found else None


def response_of(given: PhDeck, scf: Deck) -> dict[str, Any]:
    """The options of the task ``ph`` that a deck of ph.x stands for.

    Raises
    ------
    InvalidParams
        It asks for something that the task does not compute.
    """
    namelist = parse_namelists(given.text)[_NAMELIST]
    other = [key for key in namelist.entries if key not in _TAKEN]
    if not namelist.closed or other:
        raise given.refuse(
            f"{', '.join(other[:5])} is not part of the task ph" if other else "it does not end",
            f"it takes {', '.join(_TAKEN)} and one wave vector; run other decks of ph.x by hand",
        )
    values = {key: entry.value for key, entry in namelist.entries.items()}
    if values.get("prefix", "pwscf") != scf.prefix:
        raise given.refuse(
            f"its prefix is {values.get('prefix', 'pwscf')!r}, that of the SCF {scf.prefix!r}",
            "give both the same",
        )
    words = given.text[namelist.end :].split()
    try:
        x, y, z = (float(word.lower().replace("d", "e")) for word in words)
    except ValueError:
        raise given.refuse(
            "behind &inputph stand other things than one wave vector", "give three numbers"
        ) from None
    found: dict[str, Any] = {key: values[key] for key in ("tr2_ph", "epsil") if key in values}
    if any((x, y, z)):
        found["q_point"] = list(in_fractions((x, y, z), scf, f"files.{given.index}"))
    return found
