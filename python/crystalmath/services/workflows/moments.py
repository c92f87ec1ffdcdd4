"""Magnetic moments of a structure in a workflow: which of them its jobs start from.

Settled once, before anything is stored: what options say outweighs the structure, and what nothing
uses is not handed on, so that no step is chosen by it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from crystalmath.domain.moments import moments_of_elements, outweighed_by, unused_by
from crystalmath.errors import InvalidParams
from crystalmath.services.ports import StructureData
from crystalmath.services.workflows.calculations import FORCES

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
    if inputs.get(_OPTION) is not None:
        return bare, (outweighed_by(f"`inputs.{_OPTION}`"),)
    if kind == "elastic" and moments_of_elements(structure.symbols, structure.moments) is None:
        raise InvalidParams(
            "atoms of one element have different moments in the structure: their symmetry is "
            "lower than the one by which strains are chosen and constants are fitted",
            hint="give moments of elements by `inputs.moments_mu_b`: {Ni: 2}",
            field="structure",
        )
    return structure, ()
