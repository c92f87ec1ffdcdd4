"""Numbers as files write them, and which library read them. Called by the readers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np


def number(value: Any) -> float | None:
    """Return a finite float, or None for anything else (text, ``?``, NaN, infinity)."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        result = float(value)
    except ValueError:
        return None
    if isinstance(value, str) and "_" in value:  # 1_000 is a number in Python alone
        return None
    return result if np.isfinite(result) else None


def quoted(words: Sequence[str]) -> str:
    """The words of a line as a message shows them; ``nothing`` where there are none."""
    return repr(" ".join(words)) if words else "nothing"


def ase_version() -> str:
    """``ase 3.29.0`` and the like."""
    import ase

    return f"ase {ase.__version__}"
