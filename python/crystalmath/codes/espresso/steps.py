"""What the scripts of several steps have in common: a step, and what ends it. Pure."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from crystalmath.codes.scripts import filled

STOPPED: Final = "stopped before the time limit"


def steps(says: str) -> str:
    """The shell functions ``say`` and ``program``; the script sets ``stop_file`` before.

    Parameters
    ----------
    says
        How a line begins that the script writes to standard error.
    """
    values = {"says": says.strip(), "stopped": STOPPED}
    return filled(Path(__file__).parent / "steps.sh.in", values).rstrip("\n")
