"""The steps that move a job of a cluster before it runs and after it has ended, each repeatable.

The intention is committed before the action: the database says that a job is being handed over
before sbatch runs, and a daemon that is killed in between asks the job's directory on the cluster
what became of it. Between the two lie the polls, see ``cluster_look``. Called by
``services.cluster_lane`` alone.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from crystalmath.domain.states import JobState
from crystalmath.services.cluster_collect import Collecting
from crystalmath.services.cluster_desk import work_of
from crystalmath.services.cluster_key import job_name
from crystalmath.services.job_directory import JobDirectories
from crystalmath.services.ports_cluster import (
    Accepted,
    ClusterRunner,
    ClusterStore,
    JobChange,
    Outcome,
    Rejected,
    RemoteJob,
    Staging,
    Unknown,
    Wait,
    Watched,
)
from crystalmath.services.ports_store import Move, Row, Store
from crystalmath.services.postponing import postponement
from crystalmath.services.steps import missing_input, provenance_with
from crystalmath.services.submission import decode_prepared
from crystalmath.services.verdicts import step_end

SINCE_SLACK_S: Final = 600.0
DOUBT_S: Final = 300.0
"""So long nobody may know of a job before it is handed over a second time."""
ASK_AGAIN_S: Final = 5.0
QUESTIONS_TO_FIND: Final = 2
"""To squeue and to the accounting."""
_LIMIT_AFTER_S: Final = (60.0, 300.0, 1200.0, 1800.0)


@dataclass(frozen=True, slots=True)
class ClusterSteps:
    """The steps of one cluster, with what they need."""

    jobs: Store
    store: ClusterStore
    runner: ClusterRunner
    directories: JobDirectories
    collecting: Collecting
    clock: Callable[[], float]
    version: str
    may_ask: Callable[[int], bool] = lambda _n: True

    def stage(self, row: Row) -> None:
        """CREATED → STAGED: the files here, then on the cluster, complete."""
        documents = self.jobs.documents(row["id"])
        prepared = decode_prepared(documents.prepared)
        try:
            hashes = _drained(self.directories.creating(row["uuid"], prepared.files))
        except OSError as error:
            gone = missing_input(error)
            if gone is None:
                raise
            self._refused(row, "input_rejected", *gone)
            return
        work = work_of(row["uuid"], row["name"], prepared, documents.resources)
        directory = self.runner.stage(
            Staging(work, self.directories.path(row["uuid"]), prepared.files)
        )
        move = self._move(
            row,
            "STAGED",
            f"its files are on {row['cluster']}",
            evidence={"files": len(hashes), "directory": directory},
            changes={"progress_text": "waiting for its turn"},
            documents={"provenance_json": provenance_with(documents, hashes, self.version)},
        )
        remote = {"directory": directory, "owner": self.runner.facts().user}
        self.store.commit([JobChange(row["id"], (move,), remote)])

    def hand_over(self, row: Row) -> None:
        """STAGED → SUBMITTED: exactly once, whatever dies in between."""
        remote = self.store.remote(row["id"])
        directory = str(remote.directory)
        name = job_name(row["uuid"], row["name"])
        if remote.handed_over_at is None:
            remote = self._intend(row, remote)
            if remote.handed_over_at is None:
                return  # somebody cancelled it meanwhile
            outcome = self.runner.submit(directory, name, remote.claim)
        else:
            outcome = self.runner.receipt(directory, remote.claim)
            if isinstance(outcome, Unknown) and not outcome.claimed:
                # The daemon died, or the connection broke, before anything was begun.
                outcome = self.runner.submit(directory, name, remote.claim)
        self._settle(row, remote, outcome, name)

    def cancel(self, row: Row, remote: RemoteJob) -> Watched | None:
        """CANCELLING: at once where nothing was sent; else what the scheduler is to be told."""
        if remote.scheduler_id is not None:
            return watched(row, remote)
        if remote.handed_over_at is None:
            self._commit(row, "CANCELLED", "it had not been handed over", progress="cancelled")
            return None
        outcome = self.runner.receipt(str(remote.directory), remote.claim)
        if isinstance(outcome, Unknown) and not outcome.claimed:
            self._commit(row, "CANCELLED", "it had not been handed over", progress="cancelled")
            return None
        name = job_name(row["uuid"], row["name"])
        self._settle(row, remote, outcome, name)
        return None

    def _intend(self, row: Row, remote: RemoteJob) -> RemoteJob:
        """Commit the intention; the claim stays, unless an earlier one has come to its end."""
        move = Move(
            row["id"],
            ("STAGED",),
            None,
            self.clock(),
            why="being handed to the scheduler",
            evidence={"claim": max(1, remote.claim)},
            changes={"progress_text": "being handed to the scheduler", "attention": None},
        )
        values = {"claim": max(1, remote.claim), "handed_over_at": self.clock()}
        self.store.commit([JobChange(row["id"], (move,), values)])
        return self.store.remote(row["id"])

    def _settle(self, row: Row, remote: RemoteJob, outcome: Outcome, name: str) -> None:
        if isinstance(outcome, Accepted):
            self._accepted(row, outcome)
        elif isinstance(outcome, Rejected):
            self._not_taken(row, outcome)
        elif isinstance(outcome, Wait):
            self._wait(row, remote, outcome)
        elif outcome.at_work:
            self._later(row, ASK_AGAIN_S, "the scheduler is being asked", attention=None)
        else:
            self._in_doubt(row, remote, outcome, name)

    def _accepted(self, row: Row, outcome: Accepted) -> None:
        columns = {
            "scheduler_id": str(outcome.job_id),
            "scheduler_state": "PENDING",
            "progress_text": "waiting in the queue",
        }
        evidence = {"source": "sbatch", "job_id": outcome.job_id, "cluster": outcome.cluster}
        remote = {
            "scheduler_id": outcome.job_id,
            "scheduler_cluster": outcome.cluster,
            "doubted_at": None,
        }
        why = f"the scheduler has taken it, as job {outcome.job_id}"
        documents: dict[str, Any] = {}
        if outcome.warnings:
            known = self.jobs.documents(row["id"]).warnings
            documents["warnings_json"] = list(dict.fromkeys((*known, *outcome.warnings)))
        move = self._move(
            row, "SUBMITTED", why, evidence=evidence, changes=columns, documents=documents
        )
        if row["state"] == "STAGED" and self.store.commit([JobChange(row["id"], (move,), remote)]):
            return
        # A cancel came in between: the number is kept, so that the scheduler can be told.
        told = Move(
            row["id"], ("CANCELLING",), None, self.clock(), why, evidence, columns, documents
        )
        self.store.commit([JobChange(row["id"], (told,), remote)])

    def _not_taken(self, row: Row, outcome: Rejected) -> None:
        hint = outcome.hint or "change what the scheduler objects to, and submit it again"
        if row["state"] == "CANCELLING":
            why = f"the scheduler had refused it: {outcome.text}"
            self._commit(row, "CANCELLED", why, progress="cancelled")
            return
        self._refused(row, "rejected", f"the scheduler refuses it: {outcome.text}"[:600], hint)

    def _wait(self, row: Row, remote: RemoteJob, outcome: Wait) -> None:
        """Nothing was submitted: the claim has come to its end, and the next one is another."""
        values = {"claim": remote.claim + 1, "handed_over_at": None, "doubted_at": None}
        if row["state"] == "CANCELLING":
            move = self._move(row, "CANCELLED", "the scheduler had not taken it")
            self.store.commit([JobChange(row["id"], (move,), values)])
            return
        text = (
            f"the scheduler takes no more jobs now: {outcome.text}"
            if outcome.limit
            else (f"the scheduler does not answer: {outcome.text}")
        )
        move = postponement(
            row,
            text,
            _LIMIT_AFTER_S,
            self.clock(),
            expected=(row["state"],),
            progress="waiting for the scheduler",
        )
        self.store.commit([JobChange(row["id"], (move,), values)])

    def _in_doubt(self, row: Row, remote: RemoteJob, outcome: Unknown, name: str) -> None:
        """Look for the job before anything else; hand it over again only after long silence."""
        now = self.clock()
        since = remote.doubted_at or now
        if remote.doubted_at is None:
            self.store.commit([JobChange(row["id"], (), {"doubted_at": now})])
        if not self.may_ask(QUESTIONS_TO_FIND):
            self._later(row, ASK_AGAIN_S, outcome.text, attention=row["attention"])
            return
        found = self.runner.find(name, (remote.handed_over_at or now) - SINCE_SLACK_S)
        if found.ids:
            self._accepted(row, Accepted(found.ids[0]))
            return
        if now - since >= DOUBT_S and {"squeue", "sacct"} <= found.asked:
            why = "it never reached the scheduler: two sources have said so for minutes"
            values = {"claim": remote.claim + 1, "handed_over_at": None, "doubted_at": None}
            state: JobState | None = "CANCELLED" if row["state"] == "CANCELLING" else None
            move = self._move(row, state, why, evidence={"asked": sorted(found.asked)})
            self.store.commit([JobChange(row["id"], (move,), values)])
            return
        text = f"nobody knows yet whether the scheduler has it: {outcome.text}"
        self._later(row, 30.0, text, attention=text)

    def _later(self, row: Row, wait_s: float, text: str, attention: str | None) -> None:
        changes = {
            "next_try_at": self.clock() + wait_s,
            "progress_text": text[:300],
            "attention": attention,
        }
        expected: tuple[JobState, ...] = (row["state"],)
        self.jobs.move(Move(row["id"], expected, None, self.clock(), changes=changes))

    def _refused(self, row: Row, reason: str, message: str, hint: str) -> None:
        columns = {"reason": reason, "message": message, "hint": hint, "progress_text": message}
        move = self._move(row, "FAILED", message, changes=columns)
        self.store.commit([JobChange(row["id"], (move,), {"collected": True})])

    def _commit(self, row: Row, state: JobState, why: str, *, progress: str) -> None:
        move = self._move(row, state, why, changes={"progress_text": progress})
        self.store.commit([JobChange(row["id"], (move,), {"collected": True})])

    def _move(
        self,
        row: Row,
        state: JobState | None,
        why: str,
        *,
        evidence: Mapping[str, Any] | None = None,
        changes: Mapping[str, Any] | None = None,
        documents: Mapping[str, Any] | None = None,
    ) -> Move:
        return step_end(
            row, state, why, self.clock(), evidence=evidence, changes=changes, documents=documents
        )


def watched(row: Row, remote: RemoteJob, tasks: Sequence[int] | None = None) -> Watched:
    """A job, or tasks of it, as the runner is asked for it."""
    begun = remote.handed_over_at
    return Watched(
        job_id=row["id"],
        scheduler_id=int(remote.scheduler_id or 0),
        key=None if remote.adopted else remote.key,
        directory=str(remote.directory or ""),
        cluster=remote.scheduler_cluster,
        since=None if begun is None else begun - SINCE_SLACK_S,
        tasks=None if tasks is None else tuple(tasks),
    )


def _drained(work: Generator[int, None, dict[str, str]]) -> dict[str, str]:
    while True:
        try:
            next(work)
        except StopIteration as end:
            hashes: dict[str, str] = end.value
            return hashes


def ids_of(jobs: Sequence[Watched]) -> list[int]:
    """Our numbers of jobs."""
    return [job.job_id for job in jobs]
