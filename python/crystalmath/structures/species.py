"""From what a file calls a species to the element.

``Fe2+`` is Fe, ``D`` is H, ``Al_pv`` and ``Al/e1f2`` are Al. A charge never changes the element.
Called by the readers in a worker process (it uses the element table of ase).
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from crystalmath.structures.structure import SiteData

ISOTOPES: Final = {"D": 2, "T": 3}
"""Names of heavy hydrogen → mass number."""

# Letters, then nothing, a charge (2+, +2, 0.5-), a number, or a suffix of a VASP potential.
_SPECIES = re.compile(r"([A-Za-z]{1,2})(?:\d*\.?\d*[+-]?|[+-]\d+|[_/].*)")
_LABEL = re.compile(r"([A-Z])([A-Za-z]?)")


@cache
def elements() -> frozenset[str]:
    """All chemical symbols."""
    from ase.data import chemical_symbols

    return frozenset(chemical_symbols[1:])


def element(text: str) -> str | None:
    """Return the element that a species name means, or None when it means none.

    Parameters
    ----------
    text
        A type symbol of a CIF or a name in a POSCAR, in any case: ``FE`` is Fe.
    """
    match = _SPECIES.fullmatch(text.strip())
    if match is None or (re.search(r"\.", text) and not text.rstrip().endswith(("+", "-"))):
        return None  # H.5 is a pseudo-atom, not hydrogen
    name = match[1].capitalize()
    if name in ISOTOPES:
        return "H"
    return name if name in elements() else None


def element_of_label(label: str) -> str | None:
    """Return the element of an atom-site label (``Si1``, ``O2A``), or None when it is not certain.

    ``CA1`` may be calcium or the alpha carbon of a protein: a label in capitals that can be read in
    both ways is not certain.
    """
    match = _LABEL.match(label.strip())
    if match is None:
        return None
    first, second = match[1], match[2]
    known = elements()
    pair = first + second.lower()
    single = "H" if first in ISOTOPES else first
    if not second:
        return single if single in known else None
    if second.islower():
        return pair if pair in known else None
    candidates = {name for name in (pair, single) if name in known}
    return candidates.pop() if len(candidates) == 1 else None


def charge_of(text: str) -> float | None:
    """Return the oxidation state in a species name: 2 of ``Fe2+`` and ``Fe+2``, -1 of ``O-``."""
    match = re.fullmatch(r"[A-Za-z]{1,2}(?:(\d*\.?\d*)([+-])|([+-]\d+))", text.strip())
    if match is None:
        return None
    if match[3] is not None:
        return float(match[3])
    amount = float(match[1]) if match[1] not in {"", "."} else 1.0
    return amount if match[2] == "+" else -amount


LOST_MASS: Final = "its mass is lost in a deck; `ISOTOPES` of FREQCALC sets it"
"""What is said of an isotope after its name."""


def isotope_of(text: str) -> str | None:
    """Return ``D`` or ``T`` when a species or label is heavy hydrogen."""
    match = re.match(r"([DT])(?![A-Za-z])", text.strip())
    return match[1] if match else None


def element_of_number(number: int) -> str | None:
    """Return the element of CRYSTAL's conventional atomic number, or None.

    The hundreds choose a basis set or a core potential: 26, 126 and 226 are all iron.
    """
    from ase.data import chemical_symbols

    atomic = number % 100
    return chemical_symbols[atomic] if 0 < atomic < len(chemical_symbols) else None


def site_data(names: list[str], labels: list[str | None] | None = None) -> SiteData:
    """Return the charges and isotopes that the names of atoms state.

    Parameters
    ----------
    names
        What the file calls the species of each atom.
    labels
        What the file calls the atoms.
    """
    charges = tuple(charge_of(name) for name in names)
    masses = tuple(ISOTOPES.get(isotope_of(name) or "") for name in names)
    return SiteData(
        oxidation_states=charges if any(c is not None for c in charges) else None,
        mass_numbers=masses if any(m is not None for m in masses) else None,
        labels=None if labels is None or not any(labels) else tuple(labels),
    )
