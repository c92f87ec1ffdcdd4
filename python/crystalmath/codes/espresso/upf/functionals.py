"""Names of density functionals in pseudopotentials, which have several spellings of each. Pure."""

from __future__ import annotations

import re
from typing import Final

_SHORT: Final = {
    "PZ": "SLA PZ NOGX NOGC",
    "PBE": "SLA PW PBX PBC",
    "PBESOL": "SLA PW PSX PSC",
    "REVPBE": "SLA PW REVX PBC",
    "BLYP": "SLA LYP B88 BLYP",
    "PW91": "SLA PW GGX GGC",
    "TPSS": "SLA PW TPSS TPSS",
}
"""Short name → exchange, correlation and the gradient corrections of both, as pw.x calls them."""
_LONG: Final = {long: short for short, long in _SHORT.items()}
_SAME: Final = {"LDA": "PZ"}
_OLD_GRADIENTS: Final = {"PBE": ("PBX", "PBC")}


def canonical(text: str) -> str | None:
    """One spelling of a functional: its short name where it has one; None of nothing."""
    words = [word for word in re.split(r"[\s+\-]+", text.upper()) if word]
    if not words:
        return None
    if len(words) == 1:
        return _SAME.get(words[0], words[0])
    if len(words) >= 4:
        exchange = _OLD_GRADIENTS.get(words[2], (words[2], ""))[0]
        correlation = _OLD_GRADIENTS.get(words[3], ("", words[3]))[1]
        words = [*words[:2], exchange, correlation]
    long = " ".join(words)
    return _LONG.get(long, long)


def is_known(name: str) -> bool:
    """Whether a name in one spelling is certainly another functional than other names."""
    return name in _SHORT or " " in name
