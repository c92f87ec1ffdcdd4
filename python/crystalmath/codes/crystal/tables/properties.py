"""The words of a deck of properties (``.d3``): which there are, and which close with an END.

From the CRYSTAL23 manual as far as decks at hand confirm it. Unknown words are kept and warned of.
Pure data.
"""

from __future__ import annotations

from typing import Final

BLOCKS: Final = frozenset(
    {
        "ECHG", "POTM", "CLAS", "PROF", "EDFT", "ENECOR", "ADFT", "ACOR", "BOLTZTRA", "LOCALWF",
        "TOPO", "LOCALI",
    }
)  # fmt: skip
"""Words that are followed by words of their own and an END."""

TITLED: Final = frozenset({"BAND"})
"""Words behind which a title stands."""

NO_DATA: Final = frozenset(
    {
        "ANGSTROM", "BOHR", "FRACTION", "PPAN", "RDFMWF", "FMWF", "INFOGUI", "COORPRT", "STOP",
        "EXTPRT", "SYMADAPT", "NOSYMADA", "PGEOMW", "SYMMOPS",
    }
)  # fmt: skip
"""Words without a data record."""

WORDS: Final = BLOCKS | TITLED | NO_DATA | frozenset(
    {
        "NEWK", "DOSS", "ECH3", "ECHD", "POT3", "POTC", "POLI", "PATO", "PBAN", "PDIB", "PDIDE",
        "PSCF", "XRDSPEC", "XFAC", "CP", "BR", "BIDIERD", "EMDL", "EMDP", "EMDLDM", "KINETEMD",
        "DENSMAT", "HIRSHCHG", "BWIDTH", "ANBD", "BASE", "NEIGHBOR", "SETINF", "SETPRINT",
        "POLSPIN", "SPOLBP", "SPOLWF", "ISOTROPIC", "ROTREF", "RAYCOV", "CHARGED", "DIEL", "POL",
        "COOP", "COHP", "CRYAPI_OUT", "PARAMPRT", "PRINTOUT", "MULPOPAN", "WANNIER90",
        "SCALE", "RANGE",
    }
)  # fmt: skip
"""Words that stand at the top of a deck."""

NEED_NEWK: Final = frozenset({"DOSS", "PDIB", "COOP", "COHP"})
"""Words that use the eigenvectors which NEWK calculates."""

MAX_PROJECTIONS: Final = 15
MAX_POLYNOMIALS: Final = 25
