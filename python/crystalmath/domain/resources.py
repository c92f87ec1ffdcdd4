"""Walltime and memory as people write them → numbers. Pure; used by the contract."""

from __future__ import annotations

import math
import re

_CLOCK = re.compile(r"^(?:(?P<days>\d{1,6})-)?(?P<rest>\d{1,9}(?::\d{1,2}){0,2})$", re.ASCII)
_MEMORY = re.compile(
    r"^(?P<number>\d{1,12}(?:\.\d{1,3})?)\s*(?P<unit>[KMGT]?)(?:i?B)?$", re.IGNORECASE
)
_MIB = {"K": 1 / 1024, "": 1.0, "M": 1.0, "G": 1024.0, "T": 1024.0**2}


def parse_walltime_s(value: object) -> float:
    """Seconds from a number (seconds) or from a scheduler's text.

    Text is read as SLURM reads it: ``30`` minutes, ``30:00`` minutes:seconds, ``1:00:00``,
    ``1-12`` days-hours, ``1-12:30`` days-hours:minutes (sbatch(1), ``--time``).

    Raises
    ------
    ValueError
        For anything else.
    """
    if isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value):
        return float(value)
    match = _CLOCK.match(value.strip()) if isinstance(value, str) else None
    if match is None:
        raise ValueError(
            "a time limit is text like 30 (minutes), 30:00, 1:00:00, 1-12:30, or a number: seconds"
        )
    parts = [int(p) for p in match["rest"].split(":")]
    if match["days"] is not None:
        hours, minutes, seconds = [*parts, 0, 0][:3]
    elif len(parts) == 1:
        hours, minutes, seconds = 0, parts[0], 0
    elif len(parts) == 2:
        hours, minutes, seconds = 0, parts[0], parts[1]
    else:
        hours, minutes, seconds = parts
    return float(int(match["days"] or 0) * 86400 + hours * 3600 + minutes * 60 + seconds)


def parse_memory_mib(value: object) -> int:
    """MiB from a number (MiB) or from text like ``4G``, ``4000M``; rounded up.

    Raises
    ------
    ValueError
        For anything else.
    """
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    match = _MEMORY.match(value.strip()) if isinstance(value, str) else None
    if match is None:
        raise ValueError("memory is a number of MiB, or text like 4G, 4000M")
    return math.ceil(float(match["number"]) * _MIB[match["unit"].upper()])
