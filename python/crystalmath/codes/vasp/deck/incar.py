"""INCAR: its tags in the order they stand in, and back to text.

VASP takes the first of two assignments. Values stay text; ``words``, ``number`` and ``flag`` say
what VASP makes of them. https://www.vasp.at/wiki/index.php/INCAR
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

_TAG: Final = re.compile(r"^\s*([A-Za-z][A-Za-z0-9_/]*)\s*=\s*(.*)$", re.DOTALL)
_TIMES: Final = re.compile(r"^(\d+)\*(.+)$")


def parse_incar(text: str) -> tuple[dict[str, str], list[str]]:
    """Return the tags, in upper case, and what stands there twice."""
    tags: dict[str, str] = {}
    twice: list[str] = []
    for statement in _statements(text):
        match = _TAG.match(statement)
        if match is None:
            continue
        name = match[1].upper()
        if name in tags:
            twice.append(name)
        else:
            tags[name] = " ".join(match[2].split()) if '"' not in match[2] else match[2].strip()
    return tags, twice


def _statements(text: str) -> list[str]:
    """Assignments: lines without comments, joined behind a backslash, parted at semicolons."""
    found: list[str] = []
    open_text = ""
    for line in text.replace("\r\n", "\n").split("\n"):
        if open_text.count('"') % 2:  # a text over several lines, as Wannier90's input
            open_text += "\n" + line
        else:
            open_text += re.split(r"[#!]", line, maxsplit=1)[0]
        if open_text.count('"') % 2:
            continue
        if open_text.rstrip().endswith("\\"):
            open_text = open_text.rstrip()[:-1] + " "
            continue
        found += [open_text] if '"' in open_text else open_text.split(";")
        open_text = ""
    return [*found, open_text]


def render_incar(tags: Mapping[str, str]) -> str:
    """One tag a line."""
    return "".join(f"{name} = {value}\n" for name, value in tags.items())


def incar_value(value: Any) -> str:
    """A value as INCAR has it; equal neighbours of a list as ``2*0.6``."""
    if isinstance(value, bool):
        return ".TRUE." if value else ".FALSE."
    if isinstance(value, list | tuple):
        return " ".join(_repeated([incar_value(one) for one in value]))
    if isinstance(value, float):
        return repr(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
    return str(value)


def _repeated(words: Sequence[str]) -> list[str]:
    runs: list[tuple[str, int]] = []
    for word in words:
        if runs and runs[-1][0] == word:
            runs[-1] = (word, runs[-1][1] + 1)
        else:
            runs.append((word, 1))
    return [word if count == 1 else f"{count}*{word}" for word, count in runs]


def words(value: str | None) -> list[str]:
    """The words of a value, each as often as it counts."""
    found: list[str] = []
    for word in (value or "").split():
        match = _TIMES.match(word)
        found += [word] if match is None else [match[2]] * min(int(match[1]), 1_000_000)
    return found


def number(value: str | None) -> float | None:
    """The first word as a number, None where it is none."""
    first = words(value)[:1]
    try:
        return float(first[0].replace("D", "E").replace("d", "e")) if first else None
    except ValueError:
        return None


def integer(value: str | None, default: int) -> int:
    """The first word as a whole number."""
    found = number(value)
    return default if found is None or not found.is_integer() else int(found)


def flag(value: str | None, *, default: bool = False) -> bool:
    """A Fortran logical."""
    word = (value or "").strip().lstrip(".")[:1].upper()
    return default if word not in ("T", "F") else word == "T"
