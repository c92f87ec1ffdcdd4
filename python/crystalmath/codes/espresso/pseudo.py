"""Where the pseudopotentials of a deck are, and which of them are missing.

Looked for among the files of the job, then in the deck's ``pseudo_dir``, then in
``ESPRESSO_PSEUDO``. Reads directory listings only; used by ``prepare`` and ``foreign``.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from crystalmath.codes.espresso.deck import Deck, Species
from crystalmath.codes.espresso.elements import element_of_label
from crystalmath.codes.files import check_path
from crystalmath.errors import InvalidParams
from crystalmath.services.ports import InputFile

FOLDER: Final = "pseudo"
"""Where they go in the job directory."""
_ENDINGS: Final = (".upf", ".psml", ".rrkj3", ".van", ".vdb", ".pz", ".gth", ".bhs", ".xml")
_MOST_NAMES: Final = 12


@dataclass(frozen=True, slots=True)
class Place:
    """A directory to look in, with the name that the user knows it by."""

    name: str
    path: Path


def check_variable(espresso_pseudo: str | None) -> None:
    """Refuse a relative ``ESPRESSO_PSEUDO``: the daemon stands in another directory.

    Raises
    ------
    InvalidParams
    """
    if espresso_pseudo and not espresso_pseudo.startswith("/"):
        raise InvalidParams(
            "ESPRESSO_PSEUDO is relative",
            hint="give the absolute path",
            field="context.ESPRESSO_PSEUDO",
        )


def places(deck: Deck, beside: Path | None, espresso_pseudo: str | None) -> list[Place]:
    """The directories to look in, in order.

    Parameters
    ----------
    beside
        Directory of the deck, which a relative ``pseudo_dir`` belongs to; None for a deck that
        came as text.
    espresso_pseudo
        The variable ``ESPRESSO_PSEUDO`` of whoever submits.
    """
    found: list[Place] = []
    named = deck.value("control", "pseudo_dir")
    if isinstance(named, str) and named.strip():
        folder = Path(named.strip())
        if folder.is_absolute():
            found.append(Place(f"pseudo_dir {folder}", folder))
        elif beside is not None:
            found.append(Place(f"pseudo_dir {named.strip()}, beside the deck", beside / folder))
    if espresso_pseudo:
        found.append(Place(f"ESPRESSO_PSEUDO {espresso_pseudo}", Path(espresso_pseudo)))
    return found


def folder_of(sources: Sequence[Path | None]) -> str:
    """The one directory that a deck can read its pseudopotentials from, where they lie.

    Raises
    ------
    InvalidParams
        They lie in several.
    """
    folders = list(dict.fromkeys(str(one.parent) for one in sources if one is not None))
    if len(folders) != 1:
        raise InvalidParams(
            f"pw.x reads all pseudopotentials of a deck from one directory, and they lie in "
            f"{' and '.join(folders) or 'none'}",
            hint="put them together into one directory",
            field="options.pseudos",
        )
    return folders[0]


def collect(
    deck: Deck, given: Sequence[InputFile], looked_in: Sequence[Place], field: str
) -> tuple[InputFile, ...]:
    """Find every pseudopotential that the deck names.

    Returns
    -------
    tuple of InputFile
        Each under ``pseudo/``.

    Raises
    ------
    InvalidParams
        Naming all that are missing, where they were looked for, and what is there for the element.
    """
    wanted = dict.fromkeys(species.file for species in deck.species)
    found: dict[str, InputFile] = {}
    for name in wanted:
        check_path(f"{FOLDER}/{name}", field)
        file = _find(name, given, looked_in)
        if file is not None:
            found[name] = file
    missing = [species for species in deck.species if species.file not in found]
    if missing:
        raise _missing(missing, given, looked_in)
    return tuple(found.values())


def _find(name: str, given: Sequence[InputFile], looked_in: Sequence[Place]) -> InputFile | None:
    target = f"{FOLDER}/{name}"
    for file in given:
        if file.path in (target, name) or file.path.rpartition("/")[2] == name:
            return InputFile(target, content=file.content, source=file.source)
    for place in looked_in:
        path = place.path / name
        if path.is_file() and os.access(path, os.R_OK):
            return InputFile(target, source=str(path))
    return None


def _missing(
    species: Sequence[Species], given: Sequence[InputFile], looked_in: Sequence[Place]
) -> InvalidParams:
    names = ", ".join(dict.fromkeys(f"{one.file} (for {one.label})" for one in species))
    where = [place.name for place in looked_in] or ["no pseudo_dir or ESPRESSO_PSEUDO is given"]
    hints = [_known(one.element, given, looked_in) for one in species if one.element is not None]
    return InvalidParams(
        f"pseudopotential missing: {names}; looked among the files and in: {'; '.join(where)}",
        hint="; ".join(dict.fromkeys(hints))
        or "add the file to the job, or set ESPRESSO_PSEUDO to the directory that holds it",
        field="files",
    )


def _known(element: str, given: Sequence[InputFile], looked_in: Sequence[Place]) -> str:
    """Say which files there are for an element."""
    names = [file.path.rpartition("/")[2] for file in given]
    for place in looked_in:
        try:
            names += sorted(path.name for path in place.path.iterdir())
        except OSError:
            continue
    fitting = fitting_names(element, names)
    if not fitting and not looked_in:
        return "add the file to the job, or set ESPRESSO_PSEUDO to the directory that holds it"
    if not fitting:
        return f"for {element} there is none: add the file, or give another ESPRESSO_PSEUDO"
    return f"for {element} there are: {listed(fitting)}"


def listed(names: Sequence[str]) -> str:
    """The first of many names."""
    more = len(names) - _MOST_NAMES
    return ", ".join(names[:_MOST_NAMES]) + (f" and {more} more" if more > 0 else "")


def fitting_names(
    element: str, names: Iterable[str], endings: tuple[str, ...] = _ENDINGS
) -> list[str]:
    """Those names of files that are pseudopotentials of an element, each once."""
    return [
        name
        for name in dict.fromkeys(names)
        if name.lower().endswith(endings) and element_of_label(_stem(name)) == element
    ]


def _stem(name: str) -> str:
    """The letters that name the element: ``Si.pz-vbc.UPF`` → ``Si``, ``pb_s.UPF`` → ``pb``."""
    for index, character in enumerate(name):
        if not character.isalpha():
            return name[:index] if index <= 2 else ""
    return ""
