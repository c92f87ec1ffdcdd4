"""Decks of a request: which of its files is the deck, and its text. Shared by the adapters."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from crystalmath.codes.files import check_path
from crystalmath.errors import InvalidParams
from crystalmath.services.ports import InputFile

MAX_DECK_BYTES: Final = 8 * 1024**2


@dataclass(frozen=True, slots=True)
class Given:
    """The deck as it came.

    Attributes
    ----------
    index
        Which of the files it is.
    beside
        Directory it lies in, for relative paths; None when it came as text.
    """

    index: int
    file: InputFile
    beside: Path | None

    @property
    def field(self) -> str:
        """The request's field."""
        return f"files.{self.index}"


def find_deck(
    files: Sequence[InputFile],
    named: str | None,
    *,
    endings: Sequence[str],
    program: str,
    is_last: Callable[[str], bool] = lambda _: False,
) -> Given:
    """Find the deck among the files of a request.

    Parameters
    ----------
    named
        Which file it is, if the request says so.
    endings
        What the names of decks end with.
    program
        What a user calls the program that reads it.
    is_last
        Paths that are taken only where no other has such an ending.

    Raises
    ------
    InvalidParams
        There is none, or not the one that is named.
    """
    if named is not None:
        wanted = check_path(named, "inputs.deck")
        match = [i for i, file in enumerate(files) if file.path == wanted]
        problem, field = f"{wanted} is not among the files", "inputs.deck"
    else:
        match = [i for i, f in enumerate(files) if f.path.lower().endswith(tuple(endings))]
        match.sort(key=lambda i: is_last(files[i].path))
        problem, field = f"no file ends in {', '.join(endings)}", "files"
    if not match:
        raise InvalidParams(
            f"there is no deck: {problem}",
            hint=f"give the {program} input as a file; `inputs.deck` names it if it has another "
            "ending",
            field=field,
        )
    file = files[match[0]]
    return Given(match[0], file, None if file.source is None else Path(file.source).parent)


def read_deck(given: Given, *, crlf: str) -> tuple[str, list[str]]:
    """The text of a deck as a program needs it, and what was changed for that.

    Parameters
    ----------
    crlf
        What the program does with CRLF line ends.

    Raises
    ------
    InvalidParams
        It cannot be read, is too large, or is no text.
    """
    file = given.file
    if file.content is not None:
        raw = file.content.encode()
    else:
        try:
            with Path(str(file.source)).open("rb") as stream:
                raw = stream.read(MAX_DECK_BYTES + 1)
        except OSError as error:
            raise InvalidParams(f"{file.path}: {error.strerror}", field=given.field) from error
    if len(raw) > MAX_DECK_BYTES or b"\0" in raw:
        problem = "is larger than 8 MiB" if len(raw) > MAX_DECK_BYTES else "is no text"
        raise InvalidParams(
            f"{file.path} {problem}", hint="is it the deck?", field=f"{given.field}.path"
        )
    return clean_text(raw, crlf=crlf)


def clean_text(raw: bytes, *, crlf: str) -> tuple[str, list[str]]:
    """Decode a deck and give it LF line ends; returns what a user should know of it."""
    warnings: list[str] = []
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = raw.decode("latin-1")
        warnings.append("the deck is not UTF-8 and was read as Latin-1")
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
        warnings.append(f"the deck had CRLF line ends, {crlf}; now they are LF")
    return (text if text.endswith("\n") else text + "\n"), warnings
