"""Ending jobs and forgetting them: what ``jobs.cancel`` and ``jobs.delete`` do to one job.

The wish is stored and the pump carries it out; nothing here waits for a program. Used by
``services.jobs``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from crystalmath.contract.jobs import JobOutcome
from crystalmath.domain.states import STATES, TERMINAL, JobState
from crystalmath.errors import CrystalMathError, DatabaseError, IllegalTransition
from crystalmath.services.job_directory import JobDirectories
from crystalmath.services.ports_store import Move, Row, Store
from crystalmath.services.verdicts import CALM

UNFINISHED: tuple[JobState, ...] = tuple(s for s in STATES if s not in TERMINAL)


@dataclass(frozen=True, slots=True)
class Ending:
    """Cancel and delete, one job at a time.

    Attributes
    ----------
    end_unrecorded
        Has the pump end a job of which the database does not know that it is to be ended.
    """

    store: Store
    directories: JobDirectories
    clock: Callable[[], float]
    end_unrecorded: Callable[[int], None]

    def cancel(self, job_id: int) -> JobOutcome:
        """Store the wish that a job be ended.

        Raises
        ------
        NotFound, IllegalTransition
            There is no such job, or it has ended.
        DatabaseError
            The wish cannot be stored. It is noted in the job's directory, and carried out.
        """
        row = self.store.row(job_id)
        state: JobState = row["state"]
        if state in TERMINAL:
            raise IllegalTransition(
                f"job {job_id} has already ended: it is {state}", hint="there is nothing to cancel"
            )
        if state != "CANCELLING":
            waiting = tuple(s for s in UNFINISHED if s != "CANCELLING")
            why = "cancel asked by the user"
            # A step that waits for its next try must not keep the cancel waiting.
            move = Move(job_id, waiting, "CANCELLING", self.clock(), why=why, changes=CALM)
            try:
                self.store.move(move)
            except DatabaseError as error:
                raise self._unrecorded(row, error) from error
            state = self.store.row(job_id)["state"]
        return JobOutcome(id=job_id, ok=True, state=state, message="will be ended")

    def _unrecorded(self, row: Row, error: DatabaseError) -> DatabaseError:
        """A full disk must not keep a program running that somebody wants to end."""
        is_noted = self.directories.mark_for_cancel(row["uuid"])
        self.end_unrecorded(row["id"])
        provided = "" if is_noted else ", if the daemon runs until then"
        return DatabaseError(
            f"{error.message}; job {row['id']} is being ended all the same",
            hint=f"{error.hint or 'the log has the details'}; the cancel is recorded as soon as "
            f"the database can be written{provided}: `jobs.get` shows it then",
        )

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
        if files:
            self._forget_with_files(row)
        else:
            self._forget(job_id)
        return JobOutcome(id=job_id, ok=True, message="removed")

    def _forget_with_files(self, row: Row) -> None:
        key = row["uuid"]
        try:
            self.directories.mark_for_removal(key)
            self._forget(row["id"])
        except (DatabaseError, OSError):
            # On a full disk nothing can be written, and what is to go may be what fills it.
            self.directories.remove(key)
            self._forget(row["id"])
        self.directories.remove(key)

    def _forget(self, job_id: int) -> None:
        if not self.store.delete(job_id):
            raise IllegalTransition(f"job {job_id} moves again", hint="try again when it has ended")


def outcome_of(job_id: int, act: Callable[[int], JobOutcome]) -> JobOutcome:
    """One job of many: its error is its outcome, the others go on."""
    try:
        return act(job_id)
    except CrystalMathError as error:
        return JobOutcome(id=job_id, ok=False, kind=error.kind, message=error.message)
