"""The files that a run starts from: wave functions, geometries, Hessians of earlier runs.

Taken from the request, from ``inputs.auxiliary``, or from beside the deck where the deck says that
it needs them. Looks at directories and copies nothing. Used by ``prepare``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Final

from crystalmath.codes.crystal.run.staging import STAGED
from crystalmath.codes.decks import Given
from crystalmath.errors import InvalidParams
from crystalmath.services.ports import InputFile

_WORDS: Final = {
    ".gui": "the geometry",
    ".f9": "the wave function",
    ".f98": "the formatted wave function",
    ".hessopt": "the Hessian of an optimisation",
    ".optinfo": "the state of an optimisation",
    ".freqinfo": "the state of a calculation of frequencies",
}


def collect(
    files: Sequence[InputFile],
    given: Given,
    listed: Sequence[str],
    needed: Mapping[str, str],
    stem: str,
) -> tuple[tuple[InputFile, ...], tuple[InputFile, ...]]:
    """Find the files that are staged, each under the name that belongs to the deck.

    Parameters
    ----------
    listed
        Absolute paths of ``inputs.auxiliary``.
    needed
        Ending → keyword of the deck that asks for the file.
    stem
        Path of the deck in the job directory, without its ending.

    Returns
    -------
    tuple of InputFile
        Those that are staged.
    tuple of InputFile
        The other files of the request.

    Raises
    ------
    InvalidParams
        A file is listed or needed and not there, or two want one place.
    """
    found: dict[str, InputFile] = {}
    others: list[InputFile] = []
    for index, file in enumerate(files):
        ending = PurePosixPath(file.path).suffix.lower()
        if index == given.index:
            continue
        if ending in STAGED:
            _add(found, ending, _placed(file, stem, ending), f"files.{index}.path")
        else:
            others.append(file)
    for index, path in enumerate(listed):
        field = f"inputs.auxiliary.{index}"
        ending = PurePosixPath(path).suffix.lower()
        if ending not in STAGED:
            raise InvalidParams(
                f"{PurePosixPath(path).name} is no file that a run starts from",
                hint=f"their names end in {', '.join(STAGED)}",
                field=field,
            )
        if not Path(path).is_file():
            raise InvalidParams(f"{path} is not there", hint="check the path", field=field)
        _add(found, ending, InputFile(f"{stem}{ending}", source=path), field)
    for ending, keyword in needed.items():
        if ending not in found:
            found[ending] = _beside(given, ending, keyword, stem)
    return tuple(found.values()), tuple(others)


def _placed(file: InputFile, stem: str, ending: str) -> InputFile:
    return InputFile(
        f"{stem}{ending}", content=file.content, source=file.source, executable=file.executable
    )


def _add(found: dict[str, InputFile], ending: str, file: InputFile, field: str) -> None:
    if ending in found:
        raise InvalidParams(
            f"two files are given that end in {ending}, and a run starts from one",
            hint="leave one out",
            field=field,
        )
    found[ending] = file


def _beside(given: Given, ending: str, keyword: str, stem: str) -> InputFile:
    name = f"{PurePosixPath(given.file.path).stem}{ending}"
    if given.beside is not None:
        path = given.beside / f"{Path(str(given.file.source)).stem}{ending}"
        if path.is_file():
            return InputFile(f"{stem}{ending}", source=str(path.absolute()))
        name = path.name
    where = "" if given.beside is None else f" beside {given.file.path}"
    what = _WORDS.get(ending, "a file")
    raise InvalidParams(
        f"{keyword} needs {what} {name}, which is not there{where}",
        hint=f"give it among the files, or name it in `inputs.auxiliary`; its name ends in "
        f"{ending}",
        field=given.field,
    )
