"""Errors that CRYSTAL is known for: which reason each is, and what to do about it. Pure data.

The line is ``ERROR **** unit **** text``. One that is not in the table is ``input_rejected`` before
the first SCF cycle, else ``crashed``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Failure:
    """What an error means."""

    reason: str
    hint: str


_CONTINUE: Final = "`jobs.continue` goes on from the last wave function or geometry"
_KNOWN: Final[tuple[tuple[str, str, str], ...]] = (
    (
        r"GEOMETRY OPTIMIZATION FAILED|OPTIMI[SZ]ATION FAILED",
        "not_converged",
        f"{_CONTINUE}; raise MAXCYCLE of OPTGEOM, or loosen TOLDEG",
    ),
    (
        r"SCF FAILED|SCF.*NOT CONVERGED|TOO MANY CYCLES",
        "not_converged",
        f"{_CONTINUE}; more cycles (MAXCYCLE), more mixing (FMIXING) or LEVSHIFT help",
    ),
    (
        r"INCONSISTENT ITOL SIZE",
        "input_rejected",
        (
            "the guess (GUESSP, fort.20) was written with other tolerances: leave GUESSP out, or "
            "give TOLINTEG the values of the run that wrote it"
        ),
    ),
    (
        r"NOT NEUTRAL",
        "input_rejected",
        (
            "the electrons of the basis set do not add up to the nuclear charges: check the "
            "occupations, and NAT above 200 where the basis set has an effective core potential"
        ),
    ),
    (
        r"LINEARLY DEPENDENT|CHOLSK",
        "input_rejected",
        (
            "the basis set is linearly dependent in this cell: take out or contract its most "
            "diffuse functions"
        ),
    ),
    (
        r"SHRINK|MONKH",
        "input_rejected",
        "the k mesh does not fit the symmetry or the dimension: correct SHRINK",
    ),
    (
        r"FORT\.?20|UNIT 20|GUESSP|RESTART|UNIT 9\b|FORT\.?9\b",
        "input_rejected",
        "the wave function of the earlier run is missing or does not fit: give its .f9",
    ),
    (
        r"BASIS",
        "input_rejected",
        "correct the basis set: its name, or the shells and occupations written in the deck",
    ),
    (
        r"ALLOCAT|MEMORY",
        "out_of_memory",
        "use more processes on more nodes, or Pcrystal with less memory per process (LOWMEM)",
    ),
)
"""Words of the line, reason, hint."""


def explain(line: str, *, has_cycles: bool) -> Failure:
    """Say what an error line means.

    Parameters
    ----------
    has_cycles
        Whether an SCF cycle was made; before that, what is at fault is the input.
    """
    for words, reason, hint in _KNOWN:
        if re.search(words, line, re.IGNORECASE):
            return Failure(reason, hint)
    if has_cycles:
        return Failure("crashed", "read the end of the output; the message is CRYSTAL's own")
    return Failure("input_rejected", "correct the deck, then submit it again")
