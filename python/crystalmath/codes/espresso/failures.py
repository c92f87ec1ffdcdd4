"""Errors that pw.x is known for: which reason each is, and what to do about it. Pure data.

``Error in routine NAME`` and its message come from the output or from CRASH. An error that is not
in the table is ``input_rejected`` when it comes before the calculation has begun, else ``crashed``.
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


_KNOWN: Final[tuple[tuple[str, str, str, str], ...]] = (
    (
        r"read_namelists",
        r"bad line|could not find",
        "input_rejected",
        "a word of that namelist is misspelt or does not belong there; correct the deck",
    ),
    (
        r"readpp|read_pseudo\w*|upf\w*",
        r"not found|open",
        "input_rejected",
        "the pseudopotential is missing or cannot be read; check ATOMIC_SPECIES",
    ),
    (
        r"read_rhog|read_scf\w*|read_file\w*|pw_restart|read_xml\w*|qexsd\w*|potinit|openfil",
        r".",
        "input_rejected",
        "the files of the earlier run are missing or do not fit this deck (prefix, cutoffs)",
    ),
    (
        r"checkallsym|sgam_at|symmetr\w*|cell_base\w*|latgen",
        r".",
        "",
        "the cell or the positions do not fit the symmetry: give more digits, or nosym = .true.",
    ),
    (
        r".*",
        r"Not enough space allocated for radial FFT",
        "crashed",
        "the cell grew too much: `jobs.continue` goes on from the last geometry, with more room",
    ),
    (
        r".*",
        r"too many bands are not converged|failed to converge|not positive definite",
        "not_converged",
        "the diagonalisation failed: try diagonalization = 'cg', a lower mixing_beta",
    ),
    (
        r"electrons",
        r"charge is wrong",
        "not_converged",
        "the occupations do not add up: a metal needs occupations = 'smearing' and more bands",
    ),
    (
        r"efermi\w*",
        r".",
        "not_converged",
        "no Fermi level was found: more bands (nbnd), or another smearing",
    ),
    (
        r"setup",
        r"fixed occupations",
        "input_rejected",
        "an odd number of electrons: occupations = 'smearing', or nspin = 2",
    ),
    (
        r"davcio|open_buffer|diropn|\w*write\w*",
        r"writ|space|disk",
        "disk_full",
        "pw.x could not write its files: free space on the disk of the job directory",
    ),
    (
        r".*",
        r"allocat|not enough memory",
        "out_of_memory",
        "use more processes or a machine with more memory; pools multiply the memory needed",
    ),
    (
        r"divide_et_impera|mp_start_pools",
        r".",
        "input_rejected",
        "there are more processes or pools than k points",
    ),
)
"""Routine, words of the message, reason (empty: the usual one), hint."""


def explain(routine: str, message: str, *, has_started: bool) -> Failure:
    """Say what an error means.

    Parameters
    ----------
    has_started
        Whether the calculation had begun; before that, what is at fault is the input.
    """
    usual = "crashed" if has_started else "input_rejected"
    for routines, words, reason, hint in _KNOWN:
        if re.fullmatch(routines, routine, re.IGNORECASE) and _says(message, words):
            return Failure(reason or usual, hint)
    hint = (
        "read the end of the output; the message is pw.x's own"
        if has_started
        else "correct the deck, then submit it again"
    )
    return Failure(usual, hint)


def _says(message: str, words: str) -> bool:
    return re.search(words, message, re.IGNORECASE) is not None
