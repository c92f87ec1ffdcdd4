"""Ending jobs and forgetting them: what ``jobs.cancel`` and ``jobs.delete`` do to one job.

The wish is stored and the pump carries it out; nothing here waits for a program. Used by
``services.jobs``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from crystalmath.contract.jobs import JobOutcome
from crystalmath.domain.states import STATES, TERMINAL, JobState
from crystalmath.errors import CrystalMathError, IllegalTransition
from crystalmath.services.job_directory import JobDirectories
from crystalmath.services.ports_store import Move, Store

UNFINISHED: tuple[JobState, ...] = tuple(s for s in STATES if s not in TERMINAL)


@dataclass(frozen=True, slots=True)
class Ending:
    """Cancel and delete, one job at a time."""

    store: Store
    directories: JobDirectories
    clock: Callable[[], float]

    def cancel(self, job_id: int) -> JobOutcome:
        """Store the wish that a job be ended.

        Raises
        ------
        NotFound, IllegalTransition
            There is no such job, or it has ended.
        """
        state: JobState = self.store.row(job_id)["state"]
        if state in TERMINAL:
            raise IllegalTransition(
                f"job {job_id} has already ended: it is {state}", hint="there is nothing to cancel"
            )
        if state != "CANCELLING":
            waiting = tuple(s for s in UNFINISHED if s != "CANCELLING")
            why = "cancel asked by the user"
            # A step that waits for its next try must not keep the cancel waiting.
            calm = {"tries": 0, "next_try_at": None, "last_error": None, "attention": None}
            move = Move(job_id, waiting, "CANCELLING", self.clock(), why=why, changes=calm)
            self.store.move(move)
            state = self.store.row(job_id)["state"]
        return JobOutcome(id=job_id, ok=True, state=state, message="will be ended")

    def delete(self, job_id: int, *, files: bool) -> JobOutcome:
        """Remove an ended job from the list, and its directory if asked to.

        Raises
        ------
        NotFound, IllegalTransition
            There is no such job, or it has not ended.
        """
        row = self.store.row(job_id)
        if row["state"] not in TERMINAL:
            raise IllegalTransition(
                f"job {job_id} is {row['state']}", hint="cancel it first, then delete it"
            )
        key = row["uuid"]
        if files:
            self.directories.mark_for_removal(key)
        if not self.store.delete(job_id):
            raise IllegalTransition(f"job {job_id} moves again", hint="try again when it has ended")
        if files:
            self.directories.remove(key)
        return JobOutcome(id=job_id, ok=True, message="removed")


def outcome_of(job_id: int, act: Callable[[int], JobOutcome]) -> JobOutcome:
    """One job of many: its error is its outcome, the others go on."""
    try:
        return act(job_id)
    except CrystalMathError as error:
        return JobOutcome(id=job_id, ok=False, kind=error.kind, message=error.message)
