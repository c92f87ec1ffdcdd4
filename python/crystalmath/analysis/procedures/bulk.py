"""A first look at a crystal whose volume counts: whether it fills its cell.

JSON in, JSON out; run by worker processes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from crystalmath.structures.structure import Structure, of_document
from crystalmath.structures.symmetry.dimensionality import VACUUM_A, dimensionality


def checked(structure: Mapping[str, Any], options: Mapping[str, Any]) -> dict[str, Any]:  # noqa: ARG001 - all checks are called alike
    """Look at a structure before anything runs.

    Returns
    -------
    dict
        ``warnings``: what a referee would ask about.
    """
    return {"warnings": empty_space(of_document(structure))}


def empty_space(given: Structure) -> list[str]:
    """What is said of a layer, a rod or a molecule in a box that repeats like a crystal."""
    gaps = dimensionality(given).gaps_angstrom
    if not all(given.pbc) or gaps is None:
        return []
    wide = [f"{gap:.1f} Å along {axis}" for axis, gap in zip("abc", gaps, strict=True)
            if gap >= VACUUM_A]  # fmt: skip
    if not wide:
        return []
    said = (
        f"the cell is empty for {', '.join(wide)}: if that is vacuum, this is no crystal, and what "
        "is computed is that of its box"
    )
    return [said]
