"""The files of a request: where in the job directory they may go. Shared by the adapters."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import Final

from crystalmath.errors import InvalidParams
from crystalmath.services.ports import InputFile

RESERVED: Final = frozenset({"stdout.log", "stderr.log"})
"""Written by the supervisor."""


def check_path(path: str, field: str) -> str:
    """Check a path inside the job directory and return it in its shortest form.

    Raises
    ------
    InvalidParams
        It is absolute, leaves the directory, is too long, or belongs to CrystalMath.
    """
    parts = path.split("/")
    problem: str | None = None
    if not path or path.endswith("/"):
        problem = "names no file"
    elif path.startswith("/"):
        problem = "is absolute"
    elif ".." in parts:
        problem = "leaves the job directory"
    elif any(ord(character) < 32 or ord(character) == 127 for character in path):
        problem = "holds a control character"
    elif not _encodes(path):
        problem = "is not valid Unicode"
    elif any(len(part.encode()) > 255 for part in parts) or len(path.encode()) > 1024:
        problem = "is too long for a file name"
    clean = PurePosixPath(path).as_posix()
    if problem is None and clean == ".":
        problem = "names no file"
    elif problem is None and (clean in RESERVED or clean.split("/")[0] == ".cm"):
        problem = "is reserved"
    if problem is not None:
        raise InvalidParams(
            f"the path {_short(path)} {problem}",
            hint="give a path inside the job directory, such as run.sh or data/a.txt",
            field=field,
        )
    return clean


def check_files(files: Sequence[InputFile]) -> tuple[InputFile, ...]:
    """Check the paths and sources of all files of a request.

    Returns
    -------
    tuple of InputFile
        The same files with their paths in the shortest form.

    Raises
    ------
    InvalidParams
        A path that :func:`check_path` refuses, two files at one place, or no or two contents.
    """
    result: list[InputFile] = []
    for index, file in enumerate(files):
        clean = check_path(file.path, f"files.{index}.path")
        if (file.content is None) == (file.source is None):
            raise InvalidParams(
                f"the file {clean} needs either content or source", field=f"files.{index}"
            )
        if file.source is not None and not file.source.startswith("/"):
            raise InvalidParams(
                f"the source {file.source!r} is relative",
                hint="give the absolute path",
                field=f"files.{index}.source",
            )
        result.append(
            InputFile(clean, content=file.content, source=file.source, executable=file.executable)
        )
    _refuse_clashes([file.path for file in result])
    return tuple(result)


def _refuse_clashes(paths: list[str]) -> None:
    taken: set[str] = set()
    folders = {
        parent.as_posix() for path in paths for parent in PurePosixPath(path).parents if parent.name
    }
    for index, path in enumerate(paths):
        if path in taken or path in folders:
            raise InvalidParams(f"two files want the path {path}", field=f"files.{index}.path")
        taken.add(path)


def _encodes(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _short(path: str) -> str:
    return ascii(path if len(path) <= 60 else path[:57] + "...")
