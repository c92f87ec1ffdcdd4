"""What the deck says, where a job script printed it before the program's own output. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from crystalmath.codes.crystal.output.numbers import numbers

_GROUPS: Final = 230


def deck_facts(echo: Sequence[str]) -> dict[str, Any]:
    """Flags, group and cell of a three-dimensional deck; nothing where there is none."""
    for i, line in enumerate(echo[:-3]):
        if line != "CRYSTAL":
            continue
        flags, group = echo[i + 1].split(), echo[i + 2].strip()
        if len(flags) != 3 or not all(flag.lstrip("-").isdigit() for flag in flags):
            continue
        # Flag 1 is followed by a symbol; an origin shift stands behind the group.
        number = int(group) if group.isdigit() and 1 <= int(group) <= _GROUPS else None
        shifted = int(flags[2]) > 1
        at = i + (4 if shifted else 3)
        cell = numbers(echo[at]) if at < len(echo) else []
        facts: dict[str, Any] = {"deck_flags": [int(flag) for flag in flags], "group": number}
        if 1 <= len(cell) <= 6:
            facts["deck_cell"] = cell
        return facts
    return {}
