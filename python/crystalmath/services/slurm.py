"""``slurm.*``: the scheduler of a cluster, as its own users see it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from crystalmath.contract.jobs import JobSummary
from crystalmath.contract.rpc import Call, Listing, rpc
from crystalmath.contract.slurm import (
    AdoptParams,
    AdoptResult,
    Changed,
    QueueMeta,
    QueueParams,
    QueueRow,
    SchedulerJobsParams,
    SchedulerOutcome,
    SchedulerOutcomesMeta,
    SyncedCluster,
    SyncMeta,
    SyncParams,
)
from crystalmath.errors import (
    Conflict,
    DatabaseError,
    IllegalTransition,
    InvalidParams,
    NotFound,
    SlurmError,
    SshError,
)
from crystalmath.services.cluster_adopt import Adoption
from crystalmath.services.cluster_lane import Lane
from crystalmath.services.cluster_lanes import Lanes
from crystalmath.services.cluster_polls import TRACKED
from crystalmath.services.job_directory import JobDirectories
from crystalmath.services.job_ending import Ending
from crystalmath.services.job_view import rfc3339, summary_of
from crystalmath.services.ports import CodeAdapter
from crystalmath.services.ports_cluster import (
    IDS_PER_CANCEL,
    Cluster,
    ClusterStore,
    JobChange,
    QueuePoll,
    Scheduler,
)
from crystalmath.services.ports_store import Store

USED_UP = "the site's limit of questions is used up; try again in a minute"
FRESH_S = 5.0
"""Rows of this age are shown as they are: nobody reads faster."""


@dataclass(frozen=True, slots=True)
class SlurmParts:
    """What the service is made of; put together by ``api``."""

    jobs: Store
    store: ClusterStore
    lanes: Lanes
    runner_of: Callable[[Cluster], Scheduler]
    ending: Ending
    codes: Mapping[str, CodeAdapter]
    directories: JobDirectories
    clock: Callable[[], float]


class SlurmService:
    """Queue, cancel, release and sync."""

    def __init__(self, parts: SlurmParts) -> None:
        self._parts = parts
        self._store = parts.store

    @rpc(
        errors=(NotFound, SshError, SlurmError, DatabaseError),
        lane="net",
        deadline_s=75.0,
        read_only=True,
    )
    def queue(self, params: QueueParams) -> Listing[QueueRow, QueueMeta]:
        """List the scheduler's queue, with reasons in plain words.

        While the cluster does not answer, these are the last rows with their age, never an empty
        list that looks like an empty queue.
        """
        cluster = self._slurm(params.cluster)
        runner = self._parts.runner_of(cluster)
        lane = self._parts.lanes.lane(cluster.id)
        last = lane.polls.last_poll
        poll, trouble = last, None
        try:
            if params.all_users:
                _may_ask(lane)
                poll = runner.queue(0, all_users=True)
            elif last is None or self._age_s(last) > FRESH_S or not last.complete:
                poll, _ = lane.polls.look(cluster, runner, by_user=True)
            if poll is not None and not poll.complete:
                trouble = poll.trouble or "the answer was cut"
        except SshError as error:
            trouble = error.message
        shown = lane.polls.last_good if trouble is not None and not params.all_users else poll
        if shown is None or (trouble is not None and params.all_users):
            raise SlurmError(
                f"{cluster.record.name} gives no answer: {trouble or 'it was never asked'}",
                hint="`clusters.test` says what is wrong",
            )
        return Listing(
            data=[QueueRow(**row) for row in self._rows(cluster, shown)],
            meta=QueueMeta(
                cluster=cluster.record.name,
                age_s=round(self._age_s(shown), 3),
                stale=trouble is not None,
                trouble=trouble,
                rejects=shown.rejects,
            ),
        )

    @rpc(errors=(NotFound, SshError, SlurmError, DatabaseError), lane="net", deadline_s=75.0)
    def cancel(
        self, params: SchedulerJobsParams
    ) -> Listing[SchedulerOutcome, SchedulerOutcomesMeta]:
        """Ask for jobs to be ended, by the scheduler's ids.

        For jobs that are known here the wish is stored, and repeated until their end is seen.
        """
        cluster = self._slurm(params.cluster)
        runner = self._parts.runner_of(cluster)
        ids = list(dict.fromkeys(params.job_ids))
        _may_ask(self._parts.lanes.lane(cluster.id), -(-len(ids) // IDS_PER_CANCEL))
        ours = self._ours(cluster, ids)
        for ident, job in ours.items():
            if job is not None:
                self._wish(job, ident)
        said = runner.cancel_ids(ids)
        self._parts.lanes.wake()
        found = [
            SchedulerOutcome(job_id=ident, outcome=said[ident], job=ours[ident]) for ident in ids
        ]
        return Listing(data=found, meta=SchedulerOutcomesMeta(total=len(found)))

    @rpc(errors=(NotFound, SshError, SlurmError, DatabaseError), lane="net", deadline_s=75.0)
    def release(
        self, params: SchedulerJobsParams
    ) -> Listing[SchedulerOutcome, SchedulerOutcomesMeta]:
        """Release jobs that are held; it happens only when somebody asks for it."""
        cluster = self._slurm(params.cluster)
        runner = self._parts.runner_of(cluster)
        ids = list(dict.fromkeys(params.job_ids))
        lane = self._parts.lanes.lane(cluster.id)
        _may_ask(lane)
        trouble = runner.release(ids)
        lane.wake(by_user=True)
        outcome = "asked" if trouble is None else "not_done"
        ours = self._ours(cluster, ids)
        found = [SchedulerOutcome(job_id=ident, outcome=outcome, job=ours[ident]) for ident in ids]
        return Listing(data=found, meta=SchedulerOutcomesMeta(total=len(found), trouble=trouble))

    @rpc(
        errors=(NotFound, Conflict, InvalidParams, SlurmError, SshError, DatabaseError),
        lane="net",
        deadline_s=150.0,
    )
    def adopt(self, params: AdoptParams) -> AdoptResult:
        """Follow a job that was submitted without us, as one of ours.

        The code is recognised from its files, which are only read. Its files are fetched and judged
        at its end, and it can be cancelled like any other job.
        """
        cluster = self._slurm(params.cluster)
        runner = self._parts.runner_of(cluster)
        lane = self._parts.lanes.lane(cluster.id)
        poll, _ = lane.polls.look(cluster, runner, by_user=True)
        seen = None
        if poll is not None and poll.complete:
            seen = poll.seen.get(int(params.job_id))
        if seen is None:
            _may_ask(lane)  # the accounting
        adoption = Adoption(
            store=self._store,
            cluster=cluster,
            runner=runner,
            codes=self._parts.codes,
            directories=self._parts.directories,
            now=self._parts.clock(),
        )
        job_id = adoption.adopt(params, seen)
        self._parts.lanes.wake()
        row = self._parts.jobs.row(job_id)
        return AdoptResult(job=JobSummary(**summary_of(row, self._parts.clock())))

    @rpc(errors=(NotFound, SshError, DatabaseError), lane="net", deadline_s=150.0)
    def sync(self, params: SyncParams, call: Call) -> Listing[Changed, SyncMeta]:
        """Look at clusters now, at lost jobs too; return what has changed and why."""
        if params.cluster is not None:
            clusters = [self._slurm(params.cluster)]
        else:
            clusters = [one for one in self._store.clusters() if one.record.kind == "slurm"]
        changed: list[Changed] = []
        asked: list[SyncedCluster] = []
        for cluster in clusters:
            call.check()
            complete, trouble, changes = self._look(cluster)
            asked.append(
                SyncedCluster(cluster=cluster.record.name, complete=complete, trouble=trouble)
            )
            changed += [one for change in changes for one in _told(change)]
        return Listing(data=changed, meta=SyncMeta(clusters=asked))

    def _look(self, cluster: Cluster) -> tuple[bool, str | None, list[JobChange]]:
        lane = self._parts.lanes.lane(cluster.id)
        try:
            poll, changes = lane.polls.look(
                cluster, self._parts.runner_of(cluster), by_user=True, wide=True
            )
        except SshError as error:
            lane.wake(by_user=True)
            return False, error.message, []
        lane.unblock()
        if any(move.state not in TRACKED for change in changes for move in change.moves):
            lane.wake()  # there is something to collect
        if poll is None:
            return False, USED_UP, []
        return poll.complete, poll.trouble, changes

    def _rows(self, cluster: Cluster, poll: QueuePoll) -> list[dict[str, Any]]:
        found = []
        ours = self._ours(cluster, [str(row["base_id"]) for row in poll.rows])
        for row in poll.rows:
            shown = dict(row, job=ours[str(row["base_id"])])
            for name in ("submitted_at", "started_at", "expected_at"):
                shown[name] = rfc3339(shown[name])
            found.append(shown)
        return found

    def _ours(self, cluster: Cluster, idents: Sequence[str]) -> dict[str, int | None]:
        """The scheduler's ids → our numbers, of those that are known here."""
        bases = {ident: int(ident.partition("_")[0].partition("+")[0]) for ident in idents}
        known = self._store.jobs_of(cluster.id, bases.values())
        return {ident: known.get(base) for ident, base in bases.items()}

    def _wish(self, job_id: int, ident: str) -> None:
        """Store the wish: of a whole job, or of a task of an array."""
        if ident.isdigit():
            with suppress(IllegalTransition):  # it has ended
                self._parts.ending.cancel(job_id)
            return
        _, _, task = ident.partition("_")
        if task.isdigit():
            self._store.commit([JobChange(job_id, tasks={int(task): {"cancel_asked": 1}})])

    def _age_s(self, poll: QueuePoll) -> float:
        return max(0.0, self._parts.clock() - poll.at)

    def _slurm(self, wanted: int | str) -> Cluster:
        try:
            cluster = self._store.cluster(wanted)
        except NotFound as error:
            raise NotFound(error.message, hint=error.hint, field="cluster") from error
        if cluster.record.kind != "slurm":
            raise InvalidParams(
                f"{cluster.record.name} has no scheduler",
                field="cluster",
                hint="`jobs.list` has its jobs",
            )
        return cluster


def _may_ask(lane: Lane, n: int = 1) -> None:
    """Take so many questions of the user from the cluster's budget; raises ``SlurmError``."""
    if not lane.polls.may_ask(n, by_user=True):
        raise SlurmError(USED_UP, hint="`clusters.update` can raise `query_budget`")


def _told(change: JobChange) -> list[Changed]:
    found = []
    for move in change.moves:
        evidence: Mapping[str, Any] = move.evidence
        if move.why is not None:
            found.append(
                Changed(
                    job=change.job_id,
                    from_state=move.expected[0],
                    to_state=move.state or move.expected[0],
                    why=move.why,
                    evidence=dict(evidence),
                )
            )
    return found
