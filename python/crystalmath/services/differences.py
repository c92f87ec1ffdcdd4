"""What differs between two versions of an input file, as blocks of lines. Pure."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from typing import Final

from crystalmath.contract.jobs import FileChange

MAX_LINES: Final = 20_000
"""Of longer files the comparison would take too long; they are given as one block."""
MAX_BLOCK: Final = 20_000
"""Characters of a block that are given."""


def differences(file: str, before: str, after: str) -> Iterator[FileChange]:
    """Yield the blocks that differ; none when the two are equal."""
    if before == after:
        return
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    if len(old) + len(new) > MAX_LINES:
        yield FileChange(file=file, before=_cut(before), after=_cut(after))
        return
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    for tag, i, j, k, m in matcher.get_opcodes():
        if tag != "equal":
            yield FileChange(
                file=file, before=_cut("".join(old[i:j])), after=_cut("".join(new[k:m]))
            )


def _cut(text: str) -> str:
    return text if len(text) <= MAX_BLOCK else text[:MAX_BLOCK] + "…\n"
