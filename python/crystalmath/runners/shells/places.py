"""Paths on a host, as words of a POSIX shell. Pure."""

from __future__ import annotations

import re
import shlex
from pathlib import PurePosixPath

_VARIABLE = re.compile(r"\$(?:\{([A-Za-z_]\w*)\}|([A-Za-z_]\w*))")


def literal(path: PurePosixPath | str) -> str:
    """Quote a path; a leading ``~/`` is the home directory there, nothing else is expanded."""
    text = str(path)
    if text == "~":
        return '"$HOME"'
    if text.startswith("~/"):
        return '"$HOME"/' + shlex.quote(text[2:])
    # A name must not be taken for an option.
    return shlex.quote(f"./{text}" if text.startswith("-") else text)


def expanded(path: PurePosixPath | str) -> str:
    """Quote a path; ``~/``, ``$NAME`` and ``${NAME}`` are expanded on the host."""
    text = str(path)
    if text == "~" or text.startswith("~/"):
        text = "$HOME" + text[1:]
    words, at = [], 0
    for found in _VARIABLE.finditer(text):
        if found.start() > at:
            words.append(shlex.quote(text[at : found.start()]))
        # An unset variable must not turn `$SCRATCH/x` into `/x`.
        words.append(f'"${{{found[1] or found[2]}:?}}"')
        at = found.end()
    if at < len(text) or not words:
        words.append(shlex.quote(text[at:]))
    return "".join(words)
