"""A case with its right answer, where the folder of cases is present."""

from __future__ import annotations

from pathlib import Path

import pytest

from rig.cases import CASES


def case(path: str) -> Path:
    """A file or folder of the cases; the test is skipped where it is absent."""
    found = CASES / path
    if not found.exists():
        pytest.skip(f"no case {path} (set CRYSTALMATH_CASES)")
    return found
