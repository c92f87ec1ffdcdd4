"""The atom sites of a CIF: which element, where, and how much of it.

Called by ``structures.cif``. Refuses partial occupancy and vacancies, which no code here can take.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from crystalmath.errors import InputRejected
from crystalmath.structures.formats.number import number
from crystalmath.structures.species import LOST_MASS, element, element_of_label, isotope_of
from crystalmath.structures.structure import Floats

_UNSET = {"?", "."}


@dataclass(frozen=True, slots=True)
class Site:
    """One row of the atom-site loop.

    Attributes
    ----------
    name
        Its label, for messages.
    fraction
        Fractional coordinates.
    species
        What the file calls its element, with the charge or isotope that it may state.
    label
        What the file calls it.
    """

    name: str
    symbol: str
    fraction: Floats
    species: str
    label: str | None


def read_sites(block: Any, field: str, warnings: list[str]) -> list[Site]:
    """Read the atom-site loop of ``block`` (a mapping of lower-case tags to values)."""
    columns = [_column(block, f"_atom_site_fract_{axis}", field) for axis in "xyz"]
    n_sites = len(columns[0])
    if n_sites == 0:
        raise InputRejected("the CIF lists no atom sites", field=field)
    labels = _optional(block, "_atom_site_label", n_sites, field)
    types = _optional(block, "_atom_site_type_symbol", n_sites, field)
    occupancies = _optional(block, "_atom_site_occupancy", n_sites, field)
    sites = [
        _site(index, labels[index], types[index], [column[index] for column in columns], field)
        for index in range(n_sites)
    ]
    _refuse_partial(sites, occupancies)
    heavy = {
        isotope
        for index in range(n_sites)
        if (isotope := isotope_of(str(types[index] or labels[index] or "")))
    }
    warnings.extend(f"{isotope} is read as H: {LOST_MASS}" for isotope in sorted(heavy))
    return sites


def _site(index: int, label: Any, kind: Any, values: list[Any], field: str) -> Site:
    name = str(label or kind or f"number {index + 1}")
    numbers = [number(value) for value in values]
    if None in numbers:
        bad = " ".join(str(value) for value in values)
        raise InputRejected(f"site {name} has the coordinates {bad}", field=field)
    symbol = element(str(kind)) if kind else element_of_label(str(label or ""))
    if symbol is None:
        raise InputRejected(
            f"site {name} at {_place(numbers)} is of no certain element ({kind or label})",
            hint="a vacancy or dummy is deleted from the list; "
            "else write the element as _atom_site_type_symbol",
            field="structure",
        )
    species = str(kind or label)
    return Site(
        name, symbol, np.array(numbers, dtype=float), species, str(label) if label else None
    )


def _column(block: Any, tag: str, field: str) -> list[Any]:
    if tag not in block:
        raise InputRejected(f"the CIF has no {tag}: it is no complete structure", field=field)
    value = block[tag]
    return list(value) if isinstance(value, list) else [value]


def _optional(block: Any, tag: str, n_sites: int, field: str) -> list[Any]:
    """Return a column, with None where the file says nothing."""
    if tag not in block:
        return [None] * n_sites
    value = block[tag]
    values = list(value) if isinstance(value, list) else [value]
    if len(values) != n_sites:
        raise InputRejected(f"{tag} has {len(values)} values for {n_sites} sites", field=field)
    return [None if str(item).strip() in _UNSET else item for item in values]


def _refuse_partial(sites: list[Site], occupancies: list[Any]) -> None:
    """Raise on the first site that is not fully occupied, and name all that share its place."""
    amounts: list[float] = []
    for site, value in zip(sites, occupancies, strict=True):
        amount = 1.0 if value is None else number(value)
        if amount is None:
            raise InputRejected(f"site {site.name} has the occupancy {value}", field="structure")
        amounts.append(amount)
    for site, amount in zip(sites, amounts, strict=True):
        if abs(amount - 1.0) <= 1e-4:
            continue
        shared = [
            f"{other.symbol} {share:g}"
            for other, share in zip(sites, amounts, strict=True)
            if np.abs((d := other.fraction - site.fraction) - np.rint(d)).max() < 1e-3
        ]
        raise InputRejected(
            f"partial occupancy: {' / '.join(shared)} at site {_place(site.fraction)}",
            hint="make an ordered supercell and give that",
            field="structure",
        )


def _place(fraction: Any) -> str:
    return " ".join(f"{value:g}" for value in fraction)
