"""What a verdict changes in the row of a job. Pure; used by ``steps``."""

from __future__ import annotations

from typing import Any

from crystalmath.services.ports import Verdict
from crystalmath.services.ports_store import Row


def changes_of(verdict: Verdict, row: Row) -> dict[str, Any]:
    """Columns of ``jobs`` to set when a job is judged."""
    status = "unknown"
    if verdict.converged is not None:
        status = "converged" if verdict.converged else "not_converged"
    elif not verdict.completed:
        status = "failed"
    atoms, energy = row["n_atoms"], verdict.energy_ev
    return {
        "reason": verdict.reason,
        "message": verdict.message,
        "hint": verdict.hint,
        "science_status": status,
        "converged": None if verdict.converged is None else int(verdict.converged),
        "energy_ev": energy,
        "energy_per_atom_ev": energy / atoms if energy is not None and atoms else None,
        "progress_text": verdict.message or ("done" if verdict.completed else "failed"),
        "progress_fraction": 1.0 if verdict.completed else row["progress_fraction"],
    }
