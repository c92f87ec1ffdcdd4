"""A relaxation, with the energy, forces and stress of its last cell in its own plane waves.

JSON in, JSON out; run by worker processes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from crystalmath.analysis.procedures.relaxed import same_cell, structure_of_step


def joined(relaxed: Mapping[str, Any], final: Mapping[str, Any]) -> dict[str, Any]:
    """One output of both, of the form that a code gives which computes them in one job.

    Parameters
    ----------
    relaxed
        What the relaxation gave, with the plane waves of its first cell.
    final
        What a calculation in the cell that it ended with gave: of the same atoms, or with the atoms
        relaxed with its plane waves.

    Raises
    ------
    BadResult
        The calculation was made in another cell, or of other atoms.
    """
    wanted = structure_of_step(relaxed)
    same_cell(structure_of_step(final), wanted, "the calculation in the relaxed cell")
    ended = {**(relaxed.get("relaxation") or {}), "final_enthalpy_ev": relaxed["energy_ev"]}
    steps = {name: relaxed[name] for name in ("n_ionic_steps",) if name in relaxed}
    return {
        **final,
        **steps,
        "relaxation": ended,
        "final_scf": {"energy_ev": final["energy_ev"]},
    }
