"""Functionals and composite methods: what is one keyword, what is a pair, what takes a ``-D3``.

PBE, PBEsol and the rest of :data:`PAIRS` are two keywords; the names of :data:`SINGLE` are one.
Those that no output at hand confirms are in :data:`UNCONFIRMED`: a deck with one carries a warning.
Pure data.
"""

from __future__ import annotations

from typing import Final

PAIRS: Final[dict[str, tuple[str, str]]] = {
    "PBE": ("PBE", "PBE"),
    "PBESOL": ("PBESOL", "PBESOL"),
    "LDA": ("LDA", "VWN"),
    "VBH": ("VBH", "VBH"),
    "PWGGA": ("PWGGA", "PWGGA"),
    "WCGGA": ("WCGGA", "PBE"),
}
"""Name → words after EXCHANGE and CORRELAT."""

SINGLE: Final = (
    "SVWN", "BLYP", "B3LYP", "B3PW", "PBE0", "PBESOL0", "HSE06", "HSESOL", "HISS", "B97H", "WB97",
    "WB97X", "LC-WPBE", "CAM-B3LYP", "B1WC", "WC1LYP", "B97", "MPW1PW91", "M05", "M052X", "M06",
    "M062X", "M06HF", "M06L", "R2SCAN", "R2SCAN0", "SCAN",
)  # fmt: skip

CONFIRMED: Final = frozenset({"PBE", "HSE06", "B3LYP", "B3PW", "PBE0", "M062X", "PBESOL"})

EXCHANGES: Final = frozenset({"LDA", "VBH", "BECKE", "PBE", "PBESOL", "PWGGA", "SOGGA", "WCGGA",
                              "MPW91", "SOGGA11", "REVPBE"})  # fmt: skip
CORRELATIONS: Final = frozenset({"LYP", "P86", "PBE", "PBESOL", "PWGGA", "PWLSD", "PZ", "VBH",
                                 "VWN", "WL", "SOGGA11"})  # fmt: skip
GGA: Final = frozenset({"BECKE", "PBE", "PBESOL", "PWGGA", "SOGGA", "WCGGA", "MPW91", "LYP", "P86",
                        "WL", "SOGGA11", "REVPBE"})  # fmt: skip
"""Exchange and correlation keywords that depend on the gradient."""

LDA_CORRELATIONS: Final = CORRELATIONS - GGA
WITH_D3: Final = frozenset(
    {"BLYP", "PBE", "B97", "B3LYP", "PBE0", "HSE06", "HSESOL", "MPW1PW91", "LC-WPBE", "M06"}
)
"""Functionals that have a keyword with ``-D3`` behind."""

COMPOSITES: Final[dict[str, str]] = {
    "PBEH3C": "def2-mSVP",
    "HSE3C": "def2-mSVP",
    "B973C": "mTZVP",
    "PBESOL03C": "SOLDEF2MSVP",
    "HSESOL3C": "SOLDEF2MSVP",
    "HF3C": "MINIX",
    "HFSOL3C": "SOLMINIX",
    "R2SCANPOB3C": "POB-TZVP-REV2",
    "R2SCAN0POB3C": "POB-TZVP-REV2",
    "R2SCANSOL3C": "SOLDEF2MSVP",
    "R2SCAN0SOL3C": "SOLDEF2MSVP",
}
"""Composite method → the basis set that it is made for."""
CONFIRMED_COMPOSITES: Final = frozenset(
    {"R2SCANPOB3C", "R2SCAN0POB3C", "R2SCANSOL3C", "R2SCAN0SOL3C"}
)
HF_COMPOSITES: Final = frozenset({"HF3C", "HFSOL3C"})
"""These replace the Hamiltonian; the others stand inside DFT."""

PURE: Final = frozenset({"PBE", "PBESOL", "LDA", "VBH", "PWGGA", "WCGGA", "SVWN", "BLYP", "B97",
                         "M06L", "R2SCAN", "SCAN"})  # fmt: skip
"""No exact exchange."""

TOLINTEG: Final = (7, 7, 7, 7, 14)
TOLINTEG_COMPOSITE: Final = (7, 7, 7, 7, 25)
TOLINTEG_HYBRID: Final = (8, 8, 8, 8, 24)
TOLINTEG_HYBRID_FREQ: Final = (9, 9, 9, 11, 38)


def without_d3(name: str) -> str:
    """The functional of a keyword that may end with ``-D3``."""
    return name.removesuffix("-D3")


def single(name: str) -> str | None:
    """The keyword for one name, as CRYSTAL spells it; None for what is none."""
    upper = name.upper()
    spelled = {"MPW1PW91": "mPW1PW91", "LC-WPBE": "LC-wPBE", "WB97": "wB97", "WB97X": "wB97X"}
    return spelled.get(upper, upper) if upper in SINGLE else None


def tolinteg(method: str, functional: str | None, *, frequencies: bool) -> tuple[int, ...]:
    """The five tolerances of the integrals that fit a Hamiltonian.

    Parameters
    ----------
    method
        ``HF``, ``UHF``, ``DFT`` or a composite, in capitals.
    functional
        In capitals, without ``-D3``; None unless the method is DFT.
    """
    if method in COMPOSITES:
        return TOLINTEG_COMPOSITE
    hybrid = functional is not None and functional not in PURE
    if hybrid and frequencies:
        return TOLINTEG_HYBRID_FREQ
    return TOLINTEG_HYBRID if hybrid else TOLINTEG


def pair_problem(exchange: str, correlation: str) -> str | None:
    """Why these two do not belong together; None when they do."""
    if exchange not in EXCHANGES:
        return f"{exchange} is no exchange functional"
    if correlation not in CORRELATIONS:
        return f"{correlation} is no correlation functional"
    if (exchange in GGA) != (correlation in GGA):
        kinds = ("depends", "does not") if exchange in GGA else ("does not depend", "does")
        return f"{exchange} {kinds[0]} on the gradient of the density, {correlation} {kinds[1]}"
    return None
