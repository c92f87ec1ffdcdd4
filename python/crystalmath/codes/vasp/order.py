"""The order of atoms in POSCAR, where it is another one than that of the structure. Pure.

POSCAR has the atoms of an element together. What a job gives has them in the order that was asked
for, so that forces are those of their atoms. Used by ``prepare``, ``proceed`` and ``verdict``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

RECORD: Final = "atoms.json"
_UNKNOWN: Final = (
    f"{RECORD} does not tell the order of the atoms: forces and positions are left out, because it "
    "is not known which atoms they belong to"
)


def render_order(order: Sequence[int]) -> str:
    """The record of a job; empty where POSCAR has the order of the structure."""
    if list(order) == sorted(order):
        return ""
    return json.dumps({"poscar_has": list(order)}) + "\n"


def parse_order(text: str) -> list[int]:
    """Of each atom of POSCAR its place in the structure, from 0; empty where there is no such."""
    try:
        found = json.loads(text)["poscar_has"]
    except (ValueError, KeyError, TypeError):
        return []
    return found if is_order(found) else []


def is_order(found: Any) -> bool:
    """Whether these are the numbers from 0 on, each once."""
    return (
        isinstance(found, list)
        and all(isinstance(place, int) for place in found)
        and sorted(found) == list(range(len(found)))
    )


def in_order_asked(
    results: Mapping[str, Any], record: str
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Results with their atoms in the order of the structure.

    Parameters
    ----------
    results
        Of ``output.results``, in the order of POSCAR.
    record
        The text of the record; empty where POSCAR has the order of the structure.

    Returns
    -------
    dict, tuple of str
        The results, and what is to be told.
    """
    found = dict(results)
    structure, forces = found.get("structure"), found.get("forces_ev_per_a")
    if not record or (structure is None and forces is None):
        return found, ()
    order, n_atoms = parse_order(record), found.get("n_atoms")
    if len(order) != n_atoms:
        for name in ("structure", "forces_ev_per_a"):
            found.pop(name, None)
        return found, (_UNKNOWN,)
    places = sorted(range(len(order)), key=order.__getitem__)
    if forces is not None:
        found["forces_ev_per_a"] = [forces[place] for place in places]
    if structure is not None:
        per_atom = {key: structure[key] for key in ("symbols", "positions")}
        taken = {key: [rows[place] for place in places] for key, rows in per_atom.items()}
        found["structure"] = {**structure, **taken}
    return found, ()
