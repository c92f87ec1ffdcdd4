"""A template that is whole: front matter and body agree with each other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from crystalmath.templates.front import Front, read_front
from crystalmath.templates.limits import OutOfTime, limited
from crystalmath.templates.problem import TemplateFault
from crystalmath.templates.sandbox import check_body, writes_nothing
from crystalmath.templates.source import FENCE, Source, parse_source

MAKERS: Final[Mapping[str, str]] = {
    "crystal_deck": "structure",
    "crystal_properties": "deck",
    "code_inputs": "structure",
    "batch_job": "cluster",
}
"""Functions of a template → their first argument. The services make what they give."""


@dataclass(frozen=True, slots=True)
class Piece:
    """The text of one file.

    Attributes
    ----------
    name
        Of the file; itself with places to fill in.
    first_line
        Line of the template on which the text begins.
    name_line
        Line of the template on which ``renders`` stands.
    """

    name: str
    text: str
    first_line: int
    name_line: int


@dataclass(frozen=True, slots=True)
class Template:
    """Front matter, and the text of each file."""

    front: Front
    pieces: tuple[Piece, ...]


def parse_template(text: str, expected_id: str) -> Template:
    """Read a template.

    Raises
    ------
    TemplateFault
        With the line at fault.
    """
    try:
        with limited():
            return _parse(text, expected_id)
    except OutOfTime:
        raise TemplateFault("it takes too long to read", hint="make it simpler") from None
    except MemoryError:
        raise TemplateFault("it needs too much memory to read", hint="make it simpler") from None


@lru_cache(maxsize=256)
def _parse(text: str, expected_id: str) -> Template:
    source = parse_source(text)
    front = read_front(source, expected_id)
    pieces = _pieces(source, front)
    known = {**front.parameters, **MAKERS}
    for name in MAKERS:
        if name in front.parameters:
            raise TemplateFault(
                f"a parameter cannot be called {name}: that is a function",
                line=source.line_of("parameters", name),
            )
    used: set[str] = set()
    for piece in pieces:
        used |= check_body(piece.name, known, piece.name_line)
        used |= check_body(piece.text, known, piece.first_line)
    for name in front.parameters:
        if name not in used:
            raise TemplateFault(
                f"parameter {name} is used nowhere in the text",
                line=source.line_of("parameters", name),
                hint="use it or take it away: whoever fills it in expects it to count",
            )
    return Template(front, pieces)


def _pieces(source: Source, front: Front) -> tuple[Piece, ...]:
    """Split the body at lines ``---`` when there are several files."""
    name_line = source.line_of("renders")
    if len(front.renders) == 1:
        return (Piece(front.renders[0], source.body, source.body_line, name_line),)
    texts: list[list[str]] = [[]]
    lines = [source.body_line]
    for i, line in enumerate(source.body.splitlines(keepends=True), source.body_line):
        if line.rstrip() == FENCE:
            texts.append([])
            lines.append(i + 1)
        else:
            texts[-1].append(line)
    if len(texts) == len(front.renders) + 1 and writes_nothing("".join(texts[0])):
        texts, lines = _behind_first(texts, lines)
    if len(texts) != len(front.renders):
        raise TemplateFault(
            f"renders names {len(front.renders)} files, and the text has {len(texts)} parts",
            line=name_line,
            hint="part them by lines ---, in the order of renders; one part more, before them, "
            "that only sets something counts for each",
        )
    return tuple(
        Piece(name, "".join(text), line, name_line)
        for name, text, line in zip(front.renders, texts, lines, strict=True)
    )


def _behind_first(texts: list[list[str]], lines: list[int]) -> tuple[list[list[str]], list[int]]:
    """Each part behind the first one, which counts for all; a comment keeps lines in their places.

    Returns
    -------
    list, list
        Texts, and the line that each begins on: that of the first part.
    """
    first, *others = texts
    made: list[list[str]] = []
    for text, line in zip(others, lines[1:], strict=True):
        gap = line - lines[0] - len(first)
        made.append([*first, "{#", "\n" * (gap - 1), "#}\n", *text])
    return made, [lines[0]] * len(made)
