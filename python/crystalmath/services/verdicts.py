"""What a verdict changes in the row of a job. Pure; used by ``steps`` and ``cluster_steps``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from crystalmath.domain.states import JobState
from crystalmath.services.job_moments import with_moments
from crystalmath.services.ports import EndReceipt, Verdict
from crystalmath.services.ports_store import Documents, Move, Row
from crystalmath.services.ports_tasks import Used

CALM: Final[Mapping[str, Any]] = {
    "tries": 0,
    "next_try_at": None,
    "last_error": None,
    "attention": None,
}
"""Whatever troubled earlier tries is over."""


def step_end(
    row: Row,
    state: JobState | None,
    why: str,
    at: float,
    *,
    evidence: Mapping[str, Any] | None = None,
    changes: Mapping[str, Any] | None = None,
    documents: Mapping[str, Any] | None = None,
) -> Move:
    """The end of a step, from the row's state; whatever troubled earlier tries is over."""
    return Move(
        job_id=row["id"],
        expected=(row["state"],),
        state=state,
        at=at,
        why=why,
        evidence=evidence or {},
        changes={**CALM, **(changes or {})},
        documents=documents or {},
    )


def judged(
    row: Row, documents: Documents, verdict: Verdict, noticed: Sequence[str], at: float
) -> Move:
    """FINISHED → COMPLETED | FAILED."""
    warnings = dict.fromkeys((*documents.warnings, *verdict.warnings, *noticed))
    program = verdict.results.get("engine", {})
    return Move(
        job_id=row["id"],
        expected=(row["state"],),
        state="COMPLETED" if verdict.completed else "FAILED",
        at=at,
        why=verdict.message or ("judged good" if verdict.completed else "judged bad"),
        evidence={"converged": verdict.converged, "reason": verdict.reason},
        changes={**CALM, **changes_of(verdict, row)},
        documents={
            "results_json": with_moments(row["code"], verdict.results, documents.provenance),
            "warnings_json": list(warnings),
            "provenance_json": {
                **documents.provenance,
                "program": program if isinstance(program, dict) else {"name": program},
            },
        },
    )


def changes_of(verdict: Verdict, row: Row) -> dict[str, Any]:
    """Columns of ``jobs`` to set when a job is judged."""
    status = "unknown"
    if verdict.converged is not None:
        status = "converged" if verdict.converged else "not_converged"
    elif not verdict.completed:
        status = "failed"
    # Of some decks only the program's output says what the crystal is made of; and the energy is
    # that of the cell that the program was given, which may be a primitive one of the structure.
    formula, computed = (verdict.results.get(name) for name in ("formula", "n_atoms"))
    found = {"formula": formula} if row["formula"] is None and formula else {}
    if computed:
        found["n_atoms"] = computed
    atoms, energy = computed or row["n_atoms"], verdict.energy_ev
    return {
        **found,
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


def used_by(end: EndReceipt | None, resources: Mapping[str, Any]) -> Used | None:
    """What a receipt tells of the usage of a job of this machine; None where it tells nothing."""
    if end is None or end.cpu_s is None:
        return None
    n_cpus = int(resources.get("ntasks", 1)) * int(resources.get("cpus_per_task", 1))
    elapsed_s = max(0.0, end.t_end - end.t_start)
    return Used(
        cpu_s=end.cpu_s,
        max_rss_kib=end.max_rss_kib,
        elapsed_s=elapsed_s,
        n_cpus=n_cpus,
        core_s=elapsed_s * n_cpus,
        source="receipt",
    )
