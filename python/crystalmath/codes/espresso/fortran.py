"""Numbers and durations as pw.x prints them. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

NUMBER: Final = r"([-+]?\d*\.?\d+(?:[EeDd][-+]?\d+)?)"
"""Matches a number; one group."""


def number(text: str) -> float:
    """A Fortran number."""
    return float(text.replace("D", "E").replace("d", "e"))


def parse_duration_s(text: str) -> float | None:
    """Seconds of a duration such as ``2.90s``, ``1m12.30s``, ``3h 4m`` or ``1d 2h 3m``."""
    units: Mapping[str, float] = {"d": 86400.0, "h": 3600.0, "m": 60.0, "s": 1.0}
    parts = re.findall(r"(\d+(?:\.\d*)?)\s*([dhms])", text)
    return sum(float(n) * units[unit] for n, unit in parts) if parts else None
