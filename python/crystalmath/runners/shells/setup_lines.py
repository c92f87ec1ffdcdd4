"""Which of the lines that run before every command ends the shell. Pure.

Asked only when one has: the lines run again, the first alone, then the first two, and so on, each
time in a shell of its own. Where only several lines together are a command, they count together.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from typing import Final

from crystalmath.services.ports_shell import Ran

_SAID: Final = 200
"""Characters of what the shell says."""


def diagnosis_script(lines: Sequence[str]) -> str:
    """Say of every beginning of the lines whether the shell is alive behind it."""
    parts = []
    for number in range(1, len(lines) + 1):
        beginning = shlex.quote("\n".join(lines[:number]) + "\n")
        alive = shlex.quote("\n".join(lines[:number]) + "\nprintf 'alive\\n' >&9\n")
        parts.append(
            f"printf 'line {number}\\n'\n"
            f"if /bin/sh -n -c {beginning} </dev/null >/dev/null 2>&1; then\n"
            f"  said=$(/bin/sh -c {alive} 9>&1 </dev/null 2>&1 >/dev/null)\n"
            "  printf '%s\\n' \"$said\"\n"
            "else printf 'unfinished\\n'; fi"
        )
    return "\n".join(parts)


def read_diagnosis(ran: Ran, lines: Sequence[str]) -> tuple[int, str] | None:
    """The number of the line that ends the shell, from 1, and what was said; None: unknown."""
    blocks = re.split(r"^line (\d+)$", ran.out_text(), flags=re.MULTILINE)[1:]
    wrong: tuple[int, str] | None = None
    for number, text in zip(blocks[::2], blocks[1::2], strict=False):
        said = [line.strip() for line in text.splitlines() if line.strip()]
        if "unfinished" in said:
            wrong = wrong or (int(number), "it is not a whole command")
            continue
        if "alive" not in said:
            return min(int(number), len(lines)), (said[-1] if said else "")[:_SAID]
        wrong = None  # what was unfinished is finished by this line
    return wrong
