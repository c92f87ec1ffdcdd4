"""From what a provider has to what the search shows: composition, cell, space group, verdict.

Run in worker processes by the providers of this room. Whatever a provider claims, only what fits
the query goes on: it is looked at here, in the structure itself.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from crystalmath.domain.composition import ELEMENTS, anonymous, hill, reduced
from crystalmath.domain.material_query import Query

if TYPE_CHECKING:
    from crystalmath.structures.structure import Structure

MOST_ATOMS: Final = 1000
"""The space group of larger cells is not looked for: a list of hits would take too long."""
_WHOLE: Final = 1e-3
"""How far an occupancy may be from 1."""


@dataclass(frozen=True, slots=True)
class Raw:
    """One structure as its provider has it.

    Attributes
    ----------
    structure
        None where its atoms cannot be told one by one; then ``reason`` says why, and ``counts``
        and ``lattice`` hold what is known.
    counts
        Element → amount in the cell, for what has no structure.
    claimed
        The provider's own formula, by which it is found where the amounts are not whole.
    properties
        As they are shown.
    check
        Whether distances are to be looked at; what is shipped has been.
    """

    id: str
    structure: Structure | None
    name: str | None = None
    reason: str | None = None
    counts: Mapping[str, float] = field(default_factory=dict)
    claimed: str | None = None
    lattice: Any = None
    prototype: bool = False
    properties: Mapping[str, Any] = field(default_factory=dict)
    check: bool = True


def fitting(found_ones: Iterable[Mapping[str, Any]], query: Query, limit: int) -> dict[str, Any]:
    """Pick the entries that fit, at most ``limit``.

    Returns
    -------
    dict
        ``entries``, see :func:`entry_of`; ``more``: whether there are others; ``unfit``: how many
        did not fit.
    """
    entries: list[Mapping[str, Any]] = []
    unfit = 0
    for found in found_ones:
        if len(entries) == limit:
            return {"entries": entries, "more": True, "unfit": unfit}
        group = found["space_group"]
        formula = found["formula"] if found["formula_anonymous"] else found["claimed"]
        fits = query.allows(formula or "", found["elements"], found["n_atoms"])
        if fits and query.space_group is not None:
            fits = group is not None and group["number"] == query.space_group
        if fits:
            entries.append(found)
        else:
            unfit += 1
    return {"entries": entries, "more": False, "unfit": unfit}


def entry_of(raw: Raw) -> dict[str, Any]:
    """Describe one structure.

    Returns
    -------
    dict
        The fields of ``contract.material_search.MaterialFound`` that a provider knows, and
        ``structure``, its JSON form or None; ``claimed``, see :class:`Raw`.
    """
    structure, reason = raw.structure, raw.reason
    if structure is not None and raw.check:
        structure, reason = _checked(structure)
    found = raw.structure
    counts = raw.counts if found is None else Counter(found.symbols)
    lattice = raw.lattice if found is None else found.lattice
    whole = all(float(amount).is_integer() and amount > 0 for amount in counts.values())
    amounts = reduced({symbol: int(amount) for symbol, amount in counts.items()}) if whole else None
    return {
        "id": raw.id,
        "name": raw.name,
        "formula": _fractional(counts) if amounts is None else hill(amounts),
        "formula_anonymous": None if amounts is None else anonymous(amounts),
        "claimed": raw.claimed,
        "elements": sorted(counts),
        "n_atoms": len(found.symbols) if found is not None else round(sum(counts.values())),
        "space_group": None if structure is None else _group(structure),
        "lattice": None if lattice is None else _parameters(lattice),
        "volume_angstrom3": None if found is None or not all(found.pbc) else found.volume,
        "prototype": raw.prototype,
        "properties": dict(raw.properties),
        "generatable": structure is not None,
        "reason": reason,
        "structure": None if structure is None else structure.document(),
    }


def _checked(structure: Structure) -> tuple[Structure | None, str | None]:
    from crystalmath.errors import InputRejected
    from crystalmath.structures.checks import check

    try:
        check(structure)
    except InputRejected as error:
        return None, error.message
    return structure, None


def _group(structure: Structure) -> dict[str, Any] | None:
    if not structure.is_crystal or len(structure.symbols) > MOST_ATOMS:
        return None
    from crystalmath.structures.symmetry.crystal import SYMPREC_A
    from crystalmath.structures.symmetry.search import space_dataset

    found = space_dataset(structure, SYMPREC_A)
    if found is None:
        return None
    return {
        "number": int(found.number),
        "symbol": str(found.international),
        "symprec_angstrom": SYMPREC_A,
    }


def _parameters(lattice: Any) -> dict[str, float]:
    import numpy as np

    from crystalmath.structures.cell import cell_parameters

    names = ("a_angstrom", "b_angstrom", "c_angstrom")
    angles = ("alpha_degrees", "beta_degrees", "gamma_degrees")
    return dict(zip((*names, *angles), cell_parameters(np.array(lattice)), strict=True))


def _fractional(counts: Mapping[str, float]) -> str:
    """The formula of what has sites that are shared: ``Fe0.64Ni0.36``."""
    order = [name for name in ("C", "H") if "C" in counts and name in counts]
    order += sorted(name for name in counts if name not in order)
    return "".join(f"{name}{counts[name]:.6g}" for name in order)


def disorder(parts: Mapping[str, float]) -> str | None:
    """Why a site cannot be written as one atom; None when it can.

    Parameters
    ----------
    parts
        What is on the site → how much of it; ``vacancy`` and ``X`` are no elements.
    """
    named = " / ".join(f"{symbol} {amount:g}" for symbol, amount in parts.items())
    if "X" in parts:
        return f"a site is of an unknown kind: {named}"
    if "vacancy" in parts or sum(parts.values()) < 1 - _WHOLE:
        return f"a site is partly empty: {named}"
    if len(parts) != 1 or abs(sum(parts.values()) - 1) > _WHOLE:
        return f"a site is shared: {named}"
    (symbol,) = parts
    return None if symbol in ELEMENTS else f"{symbol!r} is no element"


def told(properties: Mapping[str, Any], names: Sequence[str] | None = None) -> dict[str, Any]:
    """What may be shown of a provider's properties: single values, not long, not null."""
    wanted = properties if names is None else {n: properties[n] for n in names if n in properties}
    return {
        str(name): value
        for name, value in wanted.items()
        if isinstance(value, bool | int | float) or (isinstance(value, str) and len(value) <= 500)
    }
