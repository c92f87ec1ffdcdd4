"""Numbers and times as SLURM prints them → values. Pure; never raises on any text."""

from __future__ import annotations

import re
from typing import Final

_NOTHING: Final = frozenset(
    {"", "n/a", "none", "unknown", "(null)", "null", "invalid", "not_set", "unlimited"}
)
_DURATION = re.compile(
    r"^(?:(\d{1,6})-)?(?:(\d{1,9}):)?(\d{1,9}):(\d{1,2})(\.\d{1,9})?$",
    re.ASCII,
)
_SIZE = re.compile(r"^(?P<number>\d{1,15}(?:\.\d{1,6})?)(?P<unit>[KMGTP]?)$", re.ASCII)
_KIB: Final = {"": 1 / 1024, "K": 1.0, "M": 1024.0, "G": 1024.0**2, "T": 1024.0**3, "P": 1024.0**4}
_EXIT = re.compile(r"^(\d{1,5}):(\d{1,5})$", re.ASCII)
_MAX_EPOCH_S: Final = 1 << 40


def text_or_none(text: str) -> str | None:
    """Return the text, or None for the words by which SLURM says that there is nothing."""
    stripped = text.strip()
    return None if stripped.lower() in _NOTHING else stripped


def parse_epoch_s(text: str) -> float | None:
    """Seconds since 1970 as ``SLURM_TIME_FORMAT=%s`` prints them; None for anything else."""
    digits = text.strip()
    if len(digits) > 13 or not (digits.isdigit() and digits.isascii()):
        return None
    value = float(digits)
    return value if 0 < value < _MAX_EPOCH_S else None


def parse_duration_s(text: str) -> float | None:
    """Seconds of ``1-02:03:04``, ``02:03`` (minutes:seconds) or ``00:05.079``.

    None where SLURM gives no number (``UNLIMITED``, ``NOT_SET``, ``INVALID``), never 0 by accident.
    """
    match = _DURATION.match(text.strip())
    if match is None:
        return None
    days, hours, minutes, seconds, fraction = match.groups()
    value = float(int(minutes) * 60 + int(seconds))
    if hours:
        value += int(hours) * 3600
    if days:
        value += int(days) * 86400
    return value + float(fraction) if fraction else value


def parse_count(text: str) -> int | None:
    """A count, also in the form ``4-8`` (the least counts) and ``2K`` (×1024); None otherwise."""
    match = re.match(r"^(\d{1,9})(K?)(?:-\d+K?)?$", text.strip(), re.ASCII)
    if match is None:
        return None
    return int(match[1]) * (1024 if match[2] else 1)


def parse_size_kib(text: str) -> float | None:
    """KiB of ``3328K``, ``1.50G``; a number without a unit is bytes. None otherwise."""
    match = _SIZE.match(text.strip().rstrip("nc"))
    return None if match is None else float(match["number"]) * _KIB[match["unit"]]


def parse_exit(text: str) -> tuple[int, int] | None:
    """Exit code and signal of ``CODE:SIGNAL``; None for anything else."""
    match = _EXIT.match(text.strip())
    return None if match is None else (int(match[1]), int(match[2]))


def exit_of_wait_status(status: int) -> tuple[int, int]:
    """Exit code and signal of a raw wait status, as JSON listings hold it (768 → 3, 9 → signal 9).

    SLURM's own causes are above the signals of the system: 4021 = 53 + 31·128 → ``0:53``.
    """
    signal = status & 0x7F
    code = (status >> 8) & 0xFF
    if signal and code:
        # both set: SLURM has put a cause of its own into the signal's place
        return 0, signal
    return code, signal
