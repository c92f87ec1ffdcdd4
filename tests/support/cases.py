"""The folder of cases with right answers, where it is present.

``CRYSTALMATH_CASES`` overrides where it is looked for.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

CASES = Path(
    os.environ.get("CRYSTALMATH_CASES", Path(__file__).parents[2].parent / "shared" / "cases")
)


def case(path: str) -> Path:
    """A file or folder of the cases; the test is skipped where it is absent."""
    found = CASES / path
    if not found.exists():
        pytest.skip(f"no case {path} (set CRYSTALMATH_CASES)")
    return found
