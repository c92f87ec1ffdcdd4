"""The magnetic moments of a job's structure: kept for the structure that the job ends with.

What a job starts with stands in its provenance, since a job that goes on from a deck has no
structure of its own. Used by ``submission``, ``verdicts``, and by what continues jobs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from crystalmath.domain.moments import moments_of_elements
from crystalmath.services.ports import StructureData

_KEY: Final = "moments"
_NO_SPIN_MU_B: Final = 0.05
"""Less than this in the whole cell is no moment."""
_BY_ELEMENT: Final = frozenset({"vasp"})
"""Codes whose own files have the atoms of an element together, otherwise in the order asked for."""
_OWN_ORDER: Final = frozenset({"crystal"})
"""Codes that list the atoms of a cell of their own."""


def started_with(structure: StructureData | None) -> dict[str, Any]:
    """What provenance says of the moments of a structure; nothing where it has none."""
    if structure is None or structure.moments is None:
        return {}
    return {_KEY: {"symbols": list(structure.symbols), "moments_mub": list(structure.moments)}}


def kept_moments(provenance: Mapping[str, Any]) -> dict[str, Any]:
    """The same of a job that goes on as another one."""
    return {_KEY: provenance[_KEY]} if _KEY in provenance else {}


def had_spin(results: Mapping[str, Any]) -> bool:
    """Whether a calculation ended with a moment, as far as its code tells."""
    total = results.get("absolute_magnetisation_mu_b")
    return isinstance(total, int | float) and total > _NO_SPIN_MU_B


def with_moments(
    code: str, results: Mapping[str, Any], provenance: Mapping[str, Any]
) -> dict[str, Any]:
    """Results whose final structure has the moments that the job started with.

    Where atoms of one element differ, and the order of the atoms is not known, it has a warning.
    """
    final, given = results.get("structure"), provenance.get(_KEY)
    if not isinstance(final, dict) or given is None:
        return dict(results)
    moments = _moved(code, given["symbols"], given["moments_mub"], final["symbols"])
    if moments is not None:
        final = {**final, "sites": {**(final.get("sites") or {}), "moments": moments}}
    else:
        lost = (
            "the moments that the calculation started with are not known atom by atom here, since "
            f"{code} lists the atoms in another order: give them again"
        )
        final = {**final, "warnings": [*(final.get("warnings") or ()), lost]}
    return {**results, "structure": final}


def lost_moments(
    code: str, results: Mapping[str, Any], provenance: Mapping[str, Any]
) -> tuple[str, ...]:
    """What a workflow says of a job whose final structure lacks the moments that it began with."""
    final = results.get("structure")
    if provenance.get(_KEY) is None or not isinstance(final, dict):
        return ()
    if (final.get("sites") or {}).get("moments") is not None:
        return ()
    said = (
        "the magnetic moments of the structure are not known atom by atom after a job of "
        f"{code}: a step that goes on from it starts without them"
    )
    return (said,)


def _moved(
    code: str, symbols: Sequence[str], moments: Sequence[float], wanted: Sequence[str]
) -> list[float] | None:
    """The moments in the order of the final structure; None where it is not known."""
    of_elements = moments_of_elements(symbols, moments)
    if of_elements is not None and set(wanted) <= of_elements.keys():
        return [of_elements[symbol] for symbol in wanted]
    if code in _OWN_ORDER:
        return None
    if list(symbols) == list(wanted):
        return list(moments)
    first = list(dict.fromkeys(symbols))
    order = sorted(range(len(symbols)), key=lambda i: first.index(symbols[i]))
    if code not in _BY_ELEMENT or [symbols[i] for i in order] != list(wanted):
        return None
    return [moments[i] for i in order]
