"""How a check is told: with a number and what is allowed, or as skipped with the reason."""

from __future__ import annotations

import math
from typing import Any

Finding = dict[str, Any]


def measured(
    name: str, value: float, tolerance: float, unit: str, detail: str, structure: str | None = None
) -> Finding:
    """A check that passes when ``value`` is no larger than ``tolerance``; NaN fails."""
    return {
        "name": name,
        "structure": structure,
        "verdict": "passed" if value <= tolerance else "failed",
        "value": float(value) if math.isfinite(value) else None,
        "tolerance": tolerance,
        "unit": unit,
        "detail": detail,
    }


def passed(name: str, detail: str, structure: str | None = None, **more: Any) -> Finding:
    """A check without anything to compare."""
    return {"name": name, "structure": structure, "verdict": "passed", "detail": detail, **more}


def failed(name: str, detail: str, structure: str | None = None) -> Finding:
    """A check that came to no number."""
    return {"name": name, "structure": structure, "verdict": "failed", "detail": detail}


def skipped(name: str, detail: str, structure: str | None = None) -> Finding:
    """A check that was not made."""
    return {"name": name, "structure": structure, "verdict": "skipped", "detail": detail}
