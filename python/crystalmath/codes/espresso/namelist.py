"""Fortran namelists: where each value stands in the text, what it is, and how to change it.

Tolerant: it finds what pw.x would find and leaves judging to the caller. Offsets into the text are
kept, so that a change touches the one value and nothing else. Pure; used by ``deck``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

Value = str | int | float | bool

_QUOTED_OR_COMMENT: Final = re.compile(r"'(?:[^'\n]|'')*'|\"(?:[^\"\n]|\"\")*\"|![^\n]*")
_START: Final = re.compile(r"^[ \t]*&[ \t]*([A-Za-z]\w*)", re.MULTILINE)
_END: Final = re.compile(r"/|&[ \t]*end\b", re.IGNORECASE)
_ASSIGNMENT: Final = re.compile(r"([A-Za-z]\w*(?:%\w+)*)[ \t]*(\([^)\n]*\))?[ \t]*=[ \t\n]*")
_TRUE: Final = re.compile(r"\.?t(?:rue)?\.?", re.IGNORECASE)
_FALSE: Final = re.compile(r"\.?f(?:alse)?\.?", re.IGNORECASE)
_INTEGER: Final = re.compile(r"[+-]?\d+")
_REAL: Final = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[edqEDQ][+-]?\d+)?")


@dataclass(frozen=True, slots=True)
class Entry:
    """One assignment.

    Attributes
    ----------
    text
        The value as it is written, without the comma.
    start, end
        Where ``text`` stands.
    key_start
        Where the whole assignment begins.
    """

    text: str
    start: int
    end: int
    key_start: int

    @property
    def value(self) -> Value:
        """The value that the text means; the text itself when it is none."""
        return parse_value(self.text)


@dataclass(frozen=True, slots=True)
class Namelist:
    """One namelist: ``&name … /``.

    Attributes
    ----------
    entries
        Lower-case key, with its index if it has one (``celldm(1)``) → the assignment that counts,
        which is the last one.
    body
        Offset behind the name.
    end
        Offset behind the line of the closing ``/``.
    closed
        False when there is no closing ``/``.
    """

    name: str
    entries: Mapping[str, Entry]
    body: int
    end: int
    closed: bool


def parse_namelists(text: str) -> dict[str, Namelist]:
    """Find the namelists of a text, by lower-case name; of two with one name the first counts."""
    masked = _QUOTED_OR_COMMENT.sub(_blank, text)
    found: dict[str, Namelist] = {}
    position = 0
    while (start := _START.search(masked, position)) is not None:
        finish = _END.search(masked, start.end())
        stop = len(text) if finish is None else finish.start()
        line_end = text.find("\n", stop)
        position = len(text) if line_end < 0 else line_end + 1
        name = start[1].lower()
        if name not in found:
            found[name] = Namelist(
                name=name,
                entries=_entries(text, masked, start.end(), stop),
                body=start.end(),
                end=position,
                closed=finish is not None,
            )
    return found


def _blank(match: re.Match[str]) -> str:
    """Hide a comment, and what a string holds, without moving anything."""
    text = match[0]
    if text[0] == "!":
        return " " * len(text)
    return text[0] + "_" * (len(text) - 2) + text[-1]


def _entries(text: str, masked: str, start: int, stop: int) -> dict[str, Entry]:
    assignments = list(_ASSIGNMENT.finditer(masked, start, stop))
    entries: dict[str, Entry] = {}
    for index, match in enumerate(assignments):
        after = assignments[index + 1].start() if index + 1 < len(assignments) else stop
        end = match.end() + len(masked[match.end() : after].rstrip(" \t\n,"))
        key = re.sub(r"\s", "", match[1] + (match[2] or "")).lower()
        entries[key] = Entry(text[match.end() : end], match.end(), end, match.start())
    return entries


def parse_value(text: str) -> Value:
    """What a value means: a string, a number, a logical; anything else as it is written."""
    text = text.strip()
    if len(text) >= 2 and text[0] in "'\"" and text[-1] == text[0]:
        return text[1:-1].replace(text[0] * 2, text[0])
    if _INTEGER.fullmatch(text):
        return int(text)
    if _REAL.fullmatch(text):
        return float(re.sub("[dqDQ]", "e", text))
    if _TRUE.fullmatch(text):
        return True
    if _FALSE.fullmatch(text):
        return False
    return text


def render_value(value: Value) -> str:
    """Write a value as Fortran reads it."""
    if isinstance(value, bool):
        return ".true." if value else ".false."
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    if isinstance(value, int):
        return str(value)
    return repr(value).replace("e", "d") if "e" in repr(value) else f"{value!r}d0"


def set_value(text: str, namelist: Namelist, key: str, value: Value) -> str:
    """Return the text with one value set, in its place or on a new line after the name."""
    entry = namelist.entries.get(key)
    if entry is not None:
        return text[: entry.start] + render_value(value) + text[entry.end :]
    rest_of_line = text[namelist.body :].partition("\n")[0]
    line = f"\n  {key} = {render_value(value)}" + (",\n " if rest_of_line.strip() else "")
    return text[: namelist.body] + line + text[namelist.body :]


def remove_value(text: str, namelist: Namelist, key: str) -> str:
    """Return the text without an assignment; a line that is empty then goes too."""
    entry = namelist.entries.get(key)
    if entry is None:
        return text
    end = entry.end
    while end < len(text) and text[end] in " \t,":
        end += 1
    start = text.rfind("\n", 0, entry.key_start) + 1
    line_is_empty = not text[start : entry.key_start].strip() and text[end : end + 1] in ("\n", "")
    if line_is_empty:
        return text[:start] + text[end + 1 :]
    return text[: entry.key_start] + text[end:]
