"""Which structure is asked for: path or text, and in which format.

Decides from names alone and opens nothing, so both the daemon and the worker process use it.
"""

from __future__ import annotations

from pathlib import PurePath
from typing import Final

from crystalmath.errors import InvalidParams

FORMATS: Final[dict[str, str]] = {
    "cif": "cif",
    "poscar": "poscar",
    "contcar": "poscar",
    "vasp": "poscar",
    "xyz": "xyz",
    "extxyz": "xyz",
    "xsf": "xsf",
    "cube": "cube",
    "gen": "gen",
    "gui": "gui",
    "f34": "gui",
    "d12": "d12",
    "res": "res",
    "json": "json",
    "pwi": "espresso-in",
    "espresso-in": "espresso-in",
    "xml": "xml",
    "vasprun": "xml",
}
"""What users call a format, which is also what file names end with → the reader."""

MAX_TEXT_BYTES: Final = 8 * 1024 * 1024
"""A structure sent as text may be this long; a longer one is given as a file."""


def check_request(path: str | None, text: str | None, format: str | None) -> str:  # noqa: A002 - the word of the contract
    """Check what is asked and name the reader.

    Parameters
    ----------
    path
        Absolute path of a file.
    text
        The content itself.
    format
        A key of :data:`FORMATS`; needed for ``text``, else guessed from the file name.

    Returns
    -------
    str
        A value of :data:`FORMATS`.

    Raises
    ------
    InvalidParams
        Both or neither of path and text, a relative path, an unknown format, a text too long.
    """
    if (path is None) == (text is None):
        raise InvalidParams("give either the path or the text of a structure", field="structure")
    if path is not None:
        _check_path(path)
    elif text is not None and _length(text, "structure.text") > MAX_TEXT_BYTES:
        raise InvalidParams(
            f"the structure's text is longer than {MAX_TEXT_BYTES // 1024**2} MiB",
            hint="give it as a file",
            field="structure.text",
        )
    if format is not None:
        return _known_format(format)
    if path is None:
        raise InvalidParams(
            "the format of the text is not given",
            hint=f"one of {', '.join(sorted(FORMATS))}",
            field="structure.format",
        )
    return _guess(path)


def _length(text: str, field: str) -> int:
    """Return the length in bytes of what a worker process can be sent."""
    try:
        return len(text.encode())
    except UnicodeEncodeError:
        raise InvalidParams("the text is not valid Unicode", field=field) from None


def _check_path(path: str) -> None:
    _length(path, "structure.path")
    if "\0" in path:
        raise InvalidParams("the path holds a NUL character", field="structure.path")
    if not path.startswith("/"):
        raise InvalidParams(
            f"the path {path!r} is relative",
            hint="give the absolute path",
            field="structure.path",
        )


def _known_format(name: str) -> str:
    try:
        return FORMATS[name.lower()]
    except KeyError:
        raise InvalidParams(
            f"{name!r} is not a structure format",
            hint=f"one of {', '.join(sorted(FORMATS))}",
            field="structure.format",
        ) from None


def _guess(path: str) -> str:
    """Name the reader from ``POSCAR_relaxed``, ``cu.cif`` and the like."""
    name = PurePath(path).name
    ending = PurePath(path).suffix.removeprefix(".").lower()
    if ending in FORMATS:
        return FORMATS[ending]
    if name.lower() == "fort.34":
        return "gui"
    if name.upper().startswith(("POSCAR", "CONTCAR")):
        return "poscar"
    raise InvalidParams(
        f"the name {name!r} does not say which format the file has",
        hint=f"give the format: one of {', '.join(sorted(FORMATS))}",
        field="structure.path",
    )
