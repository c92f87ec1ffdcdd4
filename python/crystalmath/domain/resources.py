"""Walltime, memory and start times as people write them → numbers, or a refusal. Pure."""

from __future__ import annotations

import math
import re
from datetime import datetime

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
        if hours > 23:
            raise ValueError("a time limit with days has at most 23 hours beside them: 1-12")
    elif len(parts) == 1:
        hours, minutes, seconds = 0, parts[0], 0
    elif len(parts) == 2:
        hours, minutes, seconds = 0, parts[0], parts[1]
    else:
        hours, minutes, seconds = parts
    if seconds > 59 or (minutes > 59 and (len(parts) > 2 or match["days"] is not None)):
        raise ValueError("a time limit has 59 minutes and 59 seconds at most: 1:59:59")
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


_NOW = re.compile(r"^now(?:\+\d{1,9}(?:(?:second|minute|hour|day|week)s?)?)?$", re.ASCII)
_DAY = frozenset({"today", "tomorrow", "midnight", "noon", "fika", "teatime"})
_FORMS = ("%Y-%m-%d", "%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S", "%H:%M", "%H:%M:%S", "%m%d%y")


def check_begin(value: str) -> str:
    """Refuse what is no start time of sbatch (sbatch(1), ``--begin``): it is found only there.

    Raises
    ------
    ValueError
    """
    if _NOW.match(value) or value in _DAY:
        return value
    for form in _FORMS:
        # strptime takes single digits too, which sbatch reads as something else
        if len(value) == len(datetime(2000, 1, 1).strftime(form)):  # noqa: DTZ001 - its length alone
            try:
                datetime.strptime(value, form)  # noqa: DTZ007 - the cluster's zone, as sbatch reads it
            except ValueError:
                continue
            return value
    raise ValueError(
        "a start time is text like now+1hour, 16:00, tomorrow, 2030-01-31 or 2030-01-31T12:00"
    )
