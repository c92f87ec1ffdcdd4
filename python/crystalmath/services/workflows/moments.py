"""Magnetic moments of a structure in a workflow: which of them its jobs start from.

Settled once, before anything is stored: what options say outweighs the structure, and what nothing
uses is not handed on, so that no step is chosen by it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from crystalmath.domain.moments import (
    moments_of_elements,
    outweighed_by,
    tag_of_moments,
    unused_by,
)
from crystalmath.errors import InvalidParams
from crystalmath.services.ports import StructureData
from crystalmath.services.workflows.calculations import FORCES, VASP

_OPTION: Final = "moments_mu_b"
_GIVE_STRUCTURES: Final = frozenset({"relax", "md"})
"""Kinds whose structures are used further: there they keep their moments."""


def settled_moments(
    kind: str, code: str, engine: str | None, inputs: Mapping[str, Any], structure: StructureData
) -> tuple[StructureData, tuple[str, ...]]:
    """The structure with the moments that its jobs start from, and what is said of it.

    Parameters
    ----------
    inputs
        Of every job.

    Raises
    ------
    InvalidParams
        Moments that break the symmetry by which a kind chooses its steps.
    """
    if structure.moments is None:
        return structure, ()
    without = {name: values for name, values in structure.sites.items() if name != "moments"}
    bare = replace(structure, sites=without)
    if code == FORCES:
        kept = structure if kind in _GIVE_STRUCTURES else bare
        return kept, (unused_by(engine or code),)
    given = _given_beside(code, inputs)
    if given is not None:
        return bare, (outweighed_by(f"`inputs.{given}`"),)
    if kind == "elastic" and moments_of_elements(structure.symbols, structure.moments) is None:
        raise InvalidParams(
            "atoms of one element have different moments in the structure: their symmetry is "
            "lower than the one by which strains are chosen and constants are fitted",
            hint=_instead(code, structure),
            field="structure",
        )
    return structure, ()


def _given_beside(code: str, inputs: Mapping[str, Any]) -> str | None:
    """The input that says otherwise than the structure; None where none does."""
    if code == VASP:
        incar = inputs.get("incar")
        tag = tag_of_moments(incar) if isinstance(incar, Mapping) else None
        return None if tag is None else f"incar.{tag}"
    return _OPTION if inputs.get(_OPTION) is not None else None


def _instead(code: str, structure: StructureData) -> str:
    """What to give in place of moments that differ within an element."""
    of_first: dict[str, float] = {}
    pairs = list(zip(structure.symbols, structure.moments or (), strict=True))
    uneven = next(s for s, moment in pairs if of_first.setdefault(s, moment) != moment)
    if code == VASP:
        return (
            f"give all {uneven} one moment: `inputs.incar.MAGMOM`, a list with a number for each "
            "atom; or compute without spin: `inputs.incar.ISPIN: 1`"
        )
    largest = max(abs(moment) for symbol, moment in pairs if symbol == uneven)
    return f"give moments of elements: `inputs.{_OPTION}.{uneven}: {largest:g}`"
