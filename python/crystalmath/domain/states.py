"""The job states and the transitions between them: the one table that everybody reads.

Pure data and rules, no I/O, no clock. The services move jobs by :func:`check_transition`, the
database constraint, ``docs/job-states.md`` and the tests are made from the same table.
"""

from __future__ import annotations

from typing import Final, Literal, get_args

JobState = Literal[
    "CREATED",
    "STAGED",
    "SUBMITTED",
    "RUNNING",
    "FINISHED",
    "COMPLETED",
    "FAILED",
    "CANCELLING",
    "CANCELLED",
    "LOST",
]
STATES: Final[tuple[JobState, ...]] = get_args(JobState)

MEANING: Final[dict[JobState, str]] = {
    "CREATED": "recorded; its files are not written yet",
    "STAGED": "its files are in place; it waits for its turn",
    "SUBMITTED": "the scheduler, or the local supervisor, has it",
    "RUNNING": "the program runs",
    "FINISHED": "the program ended; results are not collected and judged yet",
    "COMPLETED": "the calculation is judged good",
    "FAILED": "the calculation is judged bad, or never ran; the reason says which",
    "CANCELLING": "somebody wants it cancelled; its end is not seen yet",
    "CANCELLED": "it ended because it was cancelled",
    "LOST": "a remote job of which no evidence is left; corrected when evidence returns",
}

TERMINAL: Final[frozenset[JobState]] = frozenset({"COMPLETED", "FAILED", "CANCELLED"})
"""The job will not move by itself any more."""

LIVE: Final[frozenset[JobState]] = frozenset({"SUBMITTED", "RUNNING", "CANCELLING"})
"""Something outside the daemon may be running for the job."""

REMOTE: Final[frozenset[JobState]] = frozenset({"SUBMITTED", "RUNNING", "CANCELLING"})
"""States that may become LOST, for jobs that run elsewhere."""

TRANSITIONS: Final[dict[tuple[JobState, JobState], str]] = {
    ("CREATED", "STAGED"): "files written",
    ("STAGED", "SUBMITTED"): "handed over",
    ("SUBMITTED", "RUNNING"): "seen running",
    ("RUNNING", "FINISHED"): "ended",
    ("FINISHED", "COMPLETED"): "judged good",
    ("FINISHED", "FAILED"): "judged bad",
    ("CREATED", "FINISHED"): "imported: somebody ran it by hand, and it had ended already",
    ("CREATED", "FAILED"): "input_rejected, rejected, dependency_failed, did_not_start",
    ("STAGED", "FAILED"): "input_rejected, rejected, dependency_failed, did_not_start",
    ("SUBMITTED", "FINISHED"): "too short to be seen running",
    ("RUNNING", "SUBMITTED"): "requeued or preempted; restarts + 1",
    ("CREATED", "CANCELLING"): "cancel asked",
    ("STAGED", "CANCELLING"): "cancel asked",
    ("SUBMITTED", "CANCELLING"): "cancel asked",
    ("RUNNING", "CANCELLING"): "cancel asked",
    ("FINISHED", "CANCELLING"): "cancel asked",
    ("LOST", "CANCELLING"): "cancel asked",
    ("CANCELLING", "CANCELLED"): "its end, or its absence, is seen",
    ("CANCELLING", "FINISHED"): "it ended by itself first: the real end wins",
    ("SUBMITTED", "LOST"): "evidence exhausted (remote jobs only)",
    ("RUNNING", "LOST"): "evidence exhausted (remote jobs only)",
    ("CANCELLING", "LOST"): "evidence exhausted (remote jobs only)",
    ("LOST", "SUBMITTED"): "evidence returned",
    ("LOST", "RUNNING"): "evidence returned",
    ("LOST", "FINISHED"): "evidence returned",
    ("FAILED", "FINISHED"): "better evidence, where the verdict rested on scheduler words",
    ("CANCELLED", "FINISHED"): "better evidence, where the verdict rested on scheduler words",
}

REASONS: Final[dict[str, str]] = {
    "not_converged": "the program ended, but the calculation did not converge",
    "out_of_memory": "the program needed more memory than it could have",
    "walltime": "the time limit was reached",
    "input_rejected": "the program or CrystalMath refused the input",
    "rejected": "the scheduler refused the job",
    "dependency_failed": "a job that it waits for did not complete",
    "node_failure": "the machine went down while it ran",
    "preempted": "the scheduler took its place away",
    "crashed": "the program ended abnormally",
    "disk_full": "the disk or the quota was full",
    "did_not_start": "the program could not be started",
}


def is_terminal(state: JobState) -> bool:
    """Whether ``state`` is an end."""
    return state in TERMINAL


def may_move(old: JobState, new: JobState) -> bool:
    """Whether the table allows ``old`` → ``new``."""
    return (old, new) in TRANSITIONS
