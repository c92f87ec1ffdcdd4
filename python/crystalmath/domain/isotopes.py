"""Isotopes of a structure: what is said where they are taken for the element as it is found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

NATURAL_MASSES: Final = (
    "isotopes are taken with the masses of their elements: frequencies and motion are not theirs"
)


def natural_masses(sites: Mapping[str, Sequence[Any]]) -> tuple[str, ...]:
    """What is said of the sites of a structure; nothing where no atom is an isotope."""
    masses = sites.get("mass_numbers") or ()
    return (NATURAL_MASSES,) if any(mass is not None for mass in masses) else ()
