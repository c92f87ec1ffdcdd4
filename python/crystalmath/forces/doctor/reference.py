"""One structure with its numbers, which each later start of the engine must give again."""

from __future__ import annotations

from typing import Any

from crystalmath.errors import CrystalMathError
from crystalmath.forces.doctor.specimens import specimens
from crystalmath.forces.doctor.subject import Subject
from crystalmath.forces.lean import LeanCalculator


def reference(lean: LeanCalculator) -> dict[str, Any] | None:
    """Energy and forces of the first structure that the engine computes, as plain data.

    Returns
    -------
    dict or None
        ``structure`` as a model table has it, ``energy_ev``, ``forces_ev_per_a`` and what may
        differ: ``energy_tolerance_ev``, ``force_tolerance_ev_per_a``.
    """
    subject = Subject(lean)
    names = subject.gives("energy", "forces")
    for _, atoms in specimens(subject.elements):
        try:
            found = subject.compute(atoms, *names)
        except CrystalMathError:
            if not lean.connected:
                raise
            continue
        return {
            "structure": {
                "symbols": list(atoms.symbols),
                "positions": atoms.positions.tolist(),
                "cell": atoms.cell.array.tolist(),
                "pbc": [bool(p) for p in atoms.pbc],
            },
            "energy_ev": found["energy"],
            "forces_ev_per_a": found["forces"].tolist() if "forces" in found else None,
            "energy_tolerance_ev": subject.bounds.energy * len(atoms),
            "force_tolerance_ev_per_a": 2 * subject.bounds.forces,
        }
    return None
