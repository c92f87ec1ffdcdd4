"""The script of a phonon job: one text for this machine and for clusters. Pure."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from crystalmath.codes.espresso.steps import steps
from crystalmath.codes.scripts import filled

NAME: Final = "phonons.sh"


def render(prefix: str, pw: Sequence[str], ph: Sequence[str]) -> str:
    """Write the script.

    Parameters
    ----------
    pw, ph
        The programs and their arguments, without the deck.
    """
    values = {
        "prefix": shlex.quote(prefix),
        "pw": shlex.join(pw),
        "ph": shlex.join(ph),
        "steps": steps(f"{NAME}: "),
    }
    return filled(Path(__file__).parent / "phonons.sh.in", values)
