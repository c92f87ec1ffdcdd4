"""XML files of programs, told apart by their first element. Called by ``structures.read``."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Final

from crystalmath.errors import InputRejected
from crystalmath.structures.formats.xml.pwscf import read_pwscf
from crystalmath.structures.formats.xml.vasprun import read_vasprun
from crystalmath.structures.structure import Structure

_HEAD_BYTES: Final = 64 * 1024
_FIRST: Final = re.compile(rb"<([A-Za-z_][\w.:-]*)")
_READERS: Final[dict[str, Callable[[Path, str], Structure]]] = {
    "modeling": read_vasprun,
    "espresso": read_pwscf,
}
"""Name of the first element, without its name space."""


def read_xml(path: Path, field: str) -> Structure:
    """Read the final structure of a calculation.

    Parameters
    ----------
    field
        The request field to name in errors.

    Raises
    ------
    InputRejected
        It is the XML of no program that is known here, or holds no structure.
    """
    with path.open("rb") as stream:
        head = stream.read(_HEAD_BYTES)
    first = _FIRST.search(head)
    name = "" if first is None else first[1].decode("ascii").rpartition(":")[2]
    reader = _READERS.get(name)
    if reader is None:
        what = f"its first element is {name!r}" if name else "it has no elements"
        raise InputRejected(
            f"this is neither a vasprun.xml nor the XML of pw.x: {what}",
            hint="give vasprun.xml, or data-file-schema.xml of pw.x",
            field=field,
        )
    return reader(path, field)


def read_xml_text(text: str, field: str) -> Structure:
    """Read the final structure of a calculation from the content of its file."""
    with tempfile.NamedTemporaryFile("w", suffix=".xml", encoding="utf-8") as stream:
        stream.write(text)
        stream.flush()
        return read_xml(Path(stream.name), field)
