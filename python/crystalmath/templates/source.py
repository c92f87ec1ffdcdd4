"""A template's file: YAML between two lines ``---``, then the text. No meaning here, only parts."""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import Any, Final

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap
from ruamel.yaml.error import MarkedYAMLError, YAMLError

from crystalmath.templates.problem import TemplateFault

FENCE: Final = "---"
MAX_BYTES: Final = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Source:
    """The parts of a file.

    Attributes
    ----------
    front
        The YAML, with its comments and lines.
    body
        What follows.
    front_line, body_line
        Where each begins, from 1.
    """

    front: CommentedMap
    body: str
    front_line: int
    body_line: int

    def line_of(self, *path: str) -> int:
        """The line of a key of the front matter, or of the nearest one that there is."""
        found = self.front_line
        node: Any = self.front
        for key in path:
            if not isinstance(node, CommentedMap) or key not in node:
                break
            found = self.front_line + node.lc.key(key)[0]
            node = node[key]
        return found


def yaml() -> YAML:
    """A reader and writer that keeps order, comments and lines."""
    made = YAML(typ="rt")
    made.preserve_quotes = True
    made.width = 100
    return made


def parse_source(text: str) -> Source:
    """Take a file apart.

    Raises
    ------
    TemplateFault
        It has no front matter, or that is no YAML.
    """
    if len(text.encode("utf-8", "surrogatepass")) > MAX_BYTES:
        raise TemplateFault("it is larger than 1 MiB")
    if "\x00" in text:
        raise TemplateFault("it holds a NUL character", hint="save it as plain text")
    lines = plain(text).splitlines(keepends=True)
    if not lines or lines[0].rstrip() != FENCE:
        raise TemplateFault(
            "the first line is not ---",
            line=1,
            hint="begin with front matter: ---, the keys, --- again, then the text",
        )
    ends = (i for i, line in enumerate(lines[1:], 1) if line.rstrip() == FENCE)
    end = next(ends, None)
    if end is None:
        raise TemplateFault("the front matter has no end", line=1, hint="close it by a line ---")
    front = _front("".join(lines[1:end]), 2)
    return Source(front, "".join(lines[end + 1 :]), 2, end + 2)


def plain(text: str) -> str:
    """Text without byte order mark and carriage returns, however its editor ended lines."""
    return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")


def render_source(front: CommentedMap, body: str) -> str:
    """Put a file together again."""
    stream = io.StringIO()
    yaml().dump(front, stream)
    return f"{FENCE}\n{stream.getvalue()}{FENCE}\n{body}"


def _front(text: str, first: int) -> CommentedMap:
    try:
        found = yaml().load(text)
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = first + mark.line if mark is not None else first
        problem = (error.problem or "it is no YAML").strip().splitlines()[0]
        raise TemplateFault(f"the front matter is no YAML: {problem}", line=line) from None
    except (YAMLError, ValueError, RecursionError) as error:
        said = str(error).strip().splitlines() or ["it is no YAML"]
        raise TemplateFault(f"the front matter is no YAML: {said[0]}", line=first) from None
    if not isinstance(found, CommentedMap):
        raise TemplateFault("the front matter has no keys", line=first, hint="write `id: …`")
    return found
