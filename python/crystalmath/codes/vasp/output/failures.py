"""What VASP is known to print when it fails: the sentence, and what helps. Pure data.

The fixes are proposals for the user; nothing is changed by itself. Sources: the VASP wiki and forum
(https://www.vasp.at/wiki, https://www.vasp.at/forum).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Failure:
    """A text that VASP prints, and what to do."""

    reason: str
    sentence: str
    fixes: tuple[str, ...]


_SYMMETRY: Final = (
    r"inverse of rotation matrix was not found[^\n]*"
    r"|(?:VERY BAD NEWS|internal error)[^\n]*(?:SGRCON|PRICEL|RHOSYG|IBZKPT|symmetry)[^\n]*"
    r"|(?:SGRCON|PRICEL|RHOSYG)[^\n]*(?:error|not found)[^\n]*"
    r"|Reciprocal lattice and k-lattice belong to different class[^\n]*"
)
_KNOWN: Final[tuple[tuple[str, str, tuple[str, ...]], ...]] = (
    (
        r"ZBRENT: fatal (?:internal )?error[^\n]*",
        "crashed",
        (
            "go on from CONTCAR (`jobs.continue`)",
            "EDIFF = 1e-6, so that the forces are better",
            "IBRION = 1 near the minimum, or a smaller POTIM",
        ),
    ),
    (
        r"(?:Error )?EDDDAV: Call to ZHEGV failed[^\n]*|Error EDDDAV[^\n]*",
        "crashed",
        (
            "ALGO = All or Normal",
            "look at the structure: atoms may be too close",
            "another number of processes, or NCORE = 1",
        ),
    ),
    (
        r"BRMIX: very serious problems[^\n]*",
        "crashed",
        (
            "run it again without the CHGCAR and WAVECAR of another cell (ICHARG = 2)",
            "ISYM = 0, or a mesh with Γ",
            "compare the order of POTCAR and the number of electrons (NELECT) with POSCAR",
        ),
    ),
    (
        r"WARNING: Sub-Space-Matrix is not hermitian[^\n]*",
        "crashed",
        ("ALGO = Normal or All", "LREAL = .FALSE.", "a smaller POTIM, if the atoms moved"),
    ),
    (
        r"POSMAP internal error[^\n]*",
        "crashed",
        (
            "SYMPREC = 1e-6, or 1e-4",
            "ISYM = 0",
            "give the positions in POSCAR with all their digits",
        ),
    ),
    (
        _SYMMETRY,
        "crashed",
        (
            "SYMPREC = 1e-6, or 1e-4",
            "a Γ-centred mesh that fits the symmetry of the cell",
            "ISYM = 0",
        ),
    ),
    (
        r"Tetrahedron method fails[^\n]*|DENTET[^\n]*",
        "input_rejected",
        ("ISMEAR = 0 with SIGMA = 0.05", "a denser mesh of k points"),
    ),
    (
        r"Error reading item[^\n]*|ERROR: .{0,80}(?:INCAR|POSCAR|KPOINTS)[^\n]*",
        "input_rejected",
        ("correct that tag of the inputs",),
    ),
    (
        r"number of potentials on File POTCAR incompatible[^\n]*",
        "input_rejected",
        ("compare POSCAR and POTCAR: number and order of the elements",),
    ),
    (
        r"TOO FEW BANDS[^\n]*",
        "input_rejected",
        ("a larger NBANDS",),
    ),
    (
        r"(?:ERROR FEXC[PF]|REAL_OPTLAY: internal error|LAPACK: Routine ZPOTRF failed)[^\n]*",
        "crashed",
        ("look at the structure: atoms may be too close", "ALGO = Normal", "a smaller POTIM"),
    ),
)
_PATTERNS: Final = tuple((re.compile(text), reason, fixes) for text, reason, fixes in _KNOWN)
_BORDER: Final = re.compile(r"\s*\|\s*$")


def find_failure(text: str) -> Failure | None:
    """The first failure that a text names."""
    hits = [
        (match.start(), match[0], reason, fixes)
        for pattern, reason, fixes in _PATTERNS
        if (match := pattern.search(text)) is not None
    ]
    if not hits:
        return None
    _, sentence, reason, fixes = min(hits, key=lambda hit: hit[0])
    return Failure(reason, " ".join(_BORDER.sub("", sentence).split())[:300], fixes)
