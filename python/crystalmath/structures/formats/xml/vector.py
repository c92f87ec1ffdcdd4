"""Three numbers in the text of an XML element. Called by the readers of this folder."""

from __future__ import annotations

from xml.etree import ElementTree as ET

from crystalmath.errors import InputRejected
from crystalmath.structures.formats.number import number


def vector(node: ET.Element, what: str, field: str) -> list[float]:
    """Read a vector.

    Raises
    ------
    InputRejected
        It is not three finite numbers: stars, where a number did not fit its columns.
    """
    text = node.text or ""
    values = [number(word) for word in text.split()]
    if len(values) != 3 or None in values:
        raise InputRejected(
            f"{what} is not three numbers: {text.strip()[:60]!r}",
            hint="was the program that wrote it stopped, or did it fail?",
            field=field,
        )
    return [value for value in values if value is not None]
