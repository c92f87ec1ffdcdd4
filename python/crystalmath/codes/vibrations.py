"""Counting modes at Γ: which are acoustic, which imaginary. Pure; shared by the adapters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

ACOUSTIC_CM1: Final = 5.0
"""Of the modes nearer to zero than this, up to three are the acoustic ones."""
N_ACOUSTIC: Final = 3


def count_modes(cm1: Sequence[float]) -> tuple[int, int]:
    """How many modes are acoustic, and how many of the others are imaginary (negative).

    Parameters
    ----------
    cm1
        All frequencies at Γ, cm⁻¹.
    """
    near = [value for value in sorted(cm1, key=abs)[:N_ACOUSTIC] if abs(value) < ACOUSTIC_CM1]
    negative = sum(value < 0 for value in cm1) - sum(value < 0 for value in near)
    return len(near), negative
