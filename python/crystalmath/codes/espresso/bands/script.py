"""The script of a band structure: one text for this machine and for clusters. Pure."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from crystalmath.codes.espresso.bands.decks import N_BANDS
from crystalmath.codes.espresso.steps import SCF, steps
from crystalmath.codes.scripts import filled

NAME: Final = "band_structure.sh"
SAYS: Final = f"{NAME}: "
"""How a line begins that the script writes to standard error."""
DECK: Final = ".deck"
"""Ending of a deck that waits for its number of bands."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What the script is to do.

    Attributes
    ----------
    command
        pw.x and its arguments, with the launcher where it is known; without the deck.
    steps
        Names of the steps, ``scf`` first.
    n_bands
        None: by the number of electrons.
    spins
        With two, more bands are computed: one of them may hold more electrons.
    """

    prefix: str
    command: Sequence[str]
    steps: Sequence[str]
    n_bands: int | None
    spins: int


def render(plan: Plan) -> str:
    """Write the script."""
    later = [name for name in plan.steps if name != SCF]
    values = {
        "prefix": shlex.quote(plan.prefix),
        "wanted": "" if plan.n_bands is None else str(plan.n_bands),
        "command": shlex.join(plan.command),
        "later": " ".join(later),
        "share": "0.3" if plan.spins == 1 else "0.5",
        "least": "4" if plan.spins == 1 else "6",
        "mark": N_BANDS,
        "steps": steps(SAYS),
    }
    return filled(Path(__file__).parent / "band_structure.sh.in", values)
