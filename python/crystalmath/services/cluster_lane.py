"""One cluster's lane: a thread that moves the jobs of one cluster, and no other's.

A login node that hangs holds up this thread alone. The steps are in ``cluster_steps`` and
``cluster_collect``, what a poll leads to is in ``cluster_look``; here is when. Made by
``cluster_lanes``.
"""

from __future__ import annotations

import logging
import random
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

from crystalmath.domain.budget import TokenBucket
from crystalmath.domain.polling import interval_s
from crystalmath.domain.states import JobState
from crystalmath.errors import (
    AuthRefused,
    HostKeyChanged,
    HostKeyUnknown,
    NotFound,
    SshError,
    TransferFailed,
)
from crystalmath.services.cluster_collect import Collecting
from crystalmath.services.cluster_look import Looked, change_of, in_poll
from crystalmath.services.cluster_steps import ClusterSteps, ids_of, watched
from crystalmath.services.job_directory import JobDirectories
from crystalmath.services.ports import CodeAdapter
from crystalmath.services.ports_cluster import (
    Cluster,
    ClusterRunner,
    ClusterStore,
    JobChange,
    QueuePoll,
    RemoteJob,
    Watched,
)
from crystalmath.services.ports_store import Move, Row, Store
from crystalmath.services.postponing import RETRY_AFTER_S, postpone, sentence

log = logging.getLogger(__name__)

TRACKED: Final[tuple[JobState, ...]] = ("SUBMITTED", "RUNNING", "CANCELLING")
_LOGS: Final = ("stdout.log", "stderr.log", "scheduler.log")
_AT_ONCE: Final = 200
_FOLLOW_BYTES: Final = 256 * 1024
_USER_RESERVE: Final = 8


@dataclass(frozen=True, slots=True)
class LaneTiming:
    """Durations; tests set them small."""

    idle_s: float = 60.0
    busy_s: float = 1.0
    follow_s: float = 3.0
    history_every_s: float = 60.0
    cancel_every_s: float = 30.0
    retry_after_s: tuple[float, ...] = RETRY_AFTER_S
    fresh_s: float | None = None
    """Seconds between polls whatever happens; None: the rule of ``domain.polling``."""


@dataclass(frozen=True, slots=True)
class LaneParts:
    """What the lanes are made of."""

    jobs: Store
    store: ClusterStore
    runner_of: Callable[[Cluster], ClusterRunner]
    codes: Mapping[str, CodeAdapter]
    directories: JobDirectories
    clock: Callable[[], float]
    version: str
    watched_logs: Callable[[], set[int]]
    timing: LaneTiming = field(default_factory=LaneTiming)


class Lane:
    """See the module docstring."""

    def __init__(self, cluster_id: int, parts: LaneParts) -> None:
        self._id = cluster_id
        self._parts = parts
        self._clock = parts.clock
        self._awake = threading.Event()
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None
        self._looking = threading.Lock()
        self._record: Any = None
        self._queries = TokenBucket(30, 10, _USER_RESERVE)
        self._submissions = TokenBucket(100, 30)
        self._blocked: SshError | None = None
        self._failures = 0
        self._contact_at = 0.0
        self._poll_failures = 0
        self._poll_at = 0.0
        self._quiet_since = 0.0
        self._history_at = -1e12
        self._follow_at = 0.0
        self._cancel_sent: dict[int, float] = {}
        self.last_poll: QueuePoll | None = None
        self.last_good: QueuePoll | None = None

    def start(self) -> None:
        """Start the thread."""
        self._thread = threading.Thread(target=self._run, name=f"lane-{self._id}", daemon=True)
        self._thread.start()

    def stop(self, timeout_s: float = 5.0) -> None:
        """Stop after the step in progress; a hanging connection is not waited for."""
        self._stopping.set()
        self._awake.set()
        if self._thread is not None:
            self._thread.join(timeout_s)

    def wake(self, *, by_user: bool = False) -> None:
        """There is something new to do; a user's wish also ends a wait for a dead connection."""
        if by_user:
            self._blocked, self._contact_at = None, 0.0
        self._awake.set()

    def _run(self) -> None:
        while not self._stopping.is_set():
            self._awake.clear()
            try:
                wait_s = self.turn()
            except NotFound:
                return  # the cluster was deleted
            except Exception:
                log.exception("a lane could not look at its jobs", extra={"cluster": self._id})
                wait_s = self._parts.timing.idle_s
            if not self._stopping.is_set():
                self._awake.wait(wait_s)

    def turn(self) -> float:
        """Take every job one step further, as far as it is due; returns the seconds to wait."""
        cluster = self._cluster()
        runner = self._parts.runner_of(cluster)
        steps = self._steps(cluster, runner)
        now = self._clock()
        self._cancel_unsent(cluster, steps)
        if self._blocked is not None:
            return self._parts.timing.idle_s
        if now < self._contact_at:
            return self._contact_at - now
        try:
            self._work(cluster, runner, steps)
        except SshError as error:
            self._trouble(cluster, error)
            return max(self._parts.timing.busy_s, self._contact_at - self._clock())
        self._failures = 0
        return self._wait_s(cluster)

    def _work(self, cluster: Cluster, runner: ClusterRunner, steps: ClusterSteps) -> None:
        name, store, now = cluster.record.name, self._parts.store, self._clock()
        for row in store.remote_rows(name, ("CREATED",), due=now, limit=_AT_ONCE):
            self._guarded(row, steps.stage)
        self._hand_over(cluster, steps)
        tracked = store.remote_rows(name, TRACKED)
        if (tracked or self._lost_due(name)) and self._clock() >= self._poll_at:
            self.look(cluster, runner)
            tracked = store.remote_rows(name, TRACKED)
        self._cancel(cluster, runner, steps, tracked)
        self._follow(runner, [row for row in tracked if row["state"] == "RUNNING"])
        ended = store.remote_rows(name, ("FINISHED",), due=self._clock(), limit=_AT_ONCE)
        ended += [
            row
            for row in store.uncollected(name, _AT_ONCE)
            if (row["next_try_at"] or 0.0) <= self._clock()
        ]
        remotes = store.remotes([row["id"] for row in ended])
        for row in ended:
            remote = remotes[row["id"]]
            self._guarded(row, partial(self._collect, steps, remote))

    def look(
        self, cluster: Cluster, runner: ClusterRunner, *, by_user: bool = False, wide: bool = False
    ) -> tuple[QueuePoll | None, list[JobChange]]:
        """Poll, and commit what follows; whoever asks while a poll is under way gets that one.

        Parameters
        ----------
        wide
            Look at LOST jobs too, and at ends that rest on the scheduler's words alone.

        Returns
        -------
        tuple
            The poll (None: the budget is used up) and what has changed.
        """
        asked_at = self._clock()
        with self._looking:
            poll = self.last_poll
            if poll is not None and poll.at >= asked_at and not wide:
                return poll, []
            if not self._queries.take(self._clock(), by_user=by_user):
                self._poll_at = self._clock() + self._queries.wait_s(self._clock())
                return self.last_poll, []
            return self._look(cluster, runner, by_user=by_user, wide=wide)

    def _look(
        self, cluster: Cluster, runner: ClusterRunner, *, by_user: bool, wide: bool
    ) -> tuple[QueuePoll, list[JobChange]]:
        store, name = self._parts.store, cluster.record.name
        rows = store.remote_rows(name, TRACKED)
        rows += store.remote_rows(name, ("LOST",), due=None if wide else self._clock())
        if wide:
            rows += store.remote_rows(name, ("FAILED", "CANCELLED"))
        remotes = store.remotes([row["id"] for row in rows])
        poll = runner.queue(store.next_poll())
        self.last_poll = poll
        if not poll.complete:
            self._poll_failures += 1
            self._plan()
            self._unhealthy(cluster, poll.trouble or "squeue gave no answer")
            return poll, []
        self._poll_failures = 0
        self.last_good = poll
        known = {
            row["id"]: (row, remotes[row["id"]]) for row in rows if _is_looked_at(row, remotes)
        }
        changes = self._changes(runner, known, poll, by_user=by_user)
        done = set(store.commit(changes)) if changes else set()
        changed = [change for change in changes if change.job_id in done and change.moves]
        if changed:
            self._quiet_since = self._clock()
        self._plan()
        healthy = {"polled_at": poll.at, "last_error": None, "unreachable_since": None}
        store.set_health(cluster.id, **healthy)
        return poll, changed

    def _changes(
        self,
        runner: ClusterRunner,
        known: Mapping[int, tuple[Row, RemoteJob]],
        poll: QueuePoll,
        *,
        by_user: bool,
    ) -> list[JobChange]:
        before = self._parts.store.evidence_of(known)
        new = {job_id: list(in_poll(remote, poll)) for job_id, (_, remote) in known.items()}
        gone = [
            watched(*known[job_id])
            for job_id, seen in new.items()
            if seen and seen[0].phase not in ("waiting", "running")
        ]
        for job_id, left in (runner.receipts(gone) if gone else {}).items():
            new[job_id] += left
        missing = [job for job in gone if new[job.job_id][0].phase == "absent"]
        for job_id, said in self._history(runner, missing, by_user=by_user).items():
            new[job_id] += said
        offset_s = runner.facts().clock_offset_s
        looked = (
            Looked(row, remote, before[job_id], new[job_id])
            for job_id, (row, remote) in known.items()
        )
        found = (change_of(one, self._clock(), offset_s) for one in looked)
        return [change for change in found if change is not None]

    def _history(
        self, runner: ClusterRunner, jobs: Sequence[Watched], *, by_user: bool
    ) -> dict[int, list[Any]]:
        """Ask the accounting about jobs that squeue misses: at most once a minute by itself."""
        now = self._clock()
        is_early = now - self._history_at < self._parts.timing.history_every_s
        if not jobs or (is_early and not by_user):
            return {}
        if not self._queries.take(now, by_user=by_user):
            return {}
        self._history_at = now
        found, trouble = runner.history(jobs)
        if trouble is not None:
            log.info("the accounting says nothing", extra={"cluster": self._id, "said": trouble})
        return found

    def _hand_over(self, cluster: Cluster, steps: ClusterSteps) -> None:
        name, jobs, store = cluster.record.name, self._parts.jobs, self._parts.store
        room = cluster.record.max_concurrent
        if room is not None:
            room -= len(store.remote_rows(name, TRACKED))
        for row in jobs.startable(self._clock(), _AT_ONCE, name):
            if self._stopping.is_set() or (room is not None and room <= 0):
                return
            if not self._submissions.take(self._clock()):
                return
            self._guarded(row, steps.hand_over)
            self._quiet_since = self._clock()
            self._poll_at = min(self._poll_at, self._clock() + cluster.record.min_poll_s)
            room = None if room is None else room - 1

    def _cancel_unsent(self, cluster: Cluster, steps: ClusterSteps) -> None:
        """Jobs that were never handed over need no connection to end."""
        store = self._parts.store
        rows = store.remote_rows(cluster.record.name, ("CANCELLING",))
        remotes = store.remotes([row["id"] for row in rows])
        for row in rows:
            remote = remotes[row["id"]]
            if remote.scheduler_id is None and remote.handed_over_at is None:
                self._guarded(row, partial(_cancel_here, steps, remote))

    def _cancel(
        self,
        cluster: Cluster,
        runner: ClusterRunner,
        steps: ClusterSteps,
        tracked: Sequence[Row],
    ) -> None:
        """Tell the scheduler, again and again, until the end is seen; the wish stays till then."""
        now = self._clock()
        rows = [row for row in tracked if row["state"] == "CANCELLING"]
        ids = {row["id"] for row in rows}
        self._cancel_sent = {i: at for i, at in self._cancel_sent.items() if i in ids}
        remotes = self._parts.store.remotes(ids)
        wanted: list[Watched] = []
        for row in rows:
            if now - self._cancel_sent.get(row["id"], -1e12) < self._parts.timing.cancel_every_s:
                continue
            self._cancel_sent[row["id"]] = now
            told = steps.cancel(row, remotes[row["id"]])
            if told is not None:
                wanted.append(told)
        if wanted and self._queries.take(now, by_user=True):
            said = runner.cancel(wanted)
            for job_id in ids_of(wanted):
                if said.get(job_id) == "not_done":
                    self._cancel_sent.pop(job_id, None)
            self._poll_at = min(self._poll_at, now + cluster.record.min_poll_s)

    def _collect(self, steps: ClusterSteps, remote: RemoteJob, row: Row) -> None:
        if not remote.directory or remote.scheduler_id is None:
            self._parts.store.commit([JobChange(row["id"], remote={"collected": True})])
            return
        steps.collecting.collect(row, remote, watched(row, remote))

    def _follow(self, runner: ClusterRunner, running: Sequence[Row]) -> None:
        """Bring what running jobs have written, for their logs and their progress."""
        now = self._clock()
        is_watched = bool(self._parts.watched_logs() & {row["id"] for row in running})
        if not running or now < self._follow_at:
            return
        remotes = self._parts.store.remotes([row["id"] for row in running])
        wanted = []
        for row in running[:_AT_ONCE]:
            here = self._parts.directories.path(row["uuid"])
            output = self._parts.jobs.documents(row["id"]).prepared.get("output")
            names = dict.fromkeys((*_LOGS, *([output] if output else ())))
            there = remotes[row["id"]].directory
            wanted += [(f"{there}/{name}", here / name) for name in names]
        runner.follow(wanted, _FOLLOW_BYTES)
        self._follow_at = now + self._parts.timing.follow_s * (1 if is_watched else 5)
        for row in running[:_AT_ONCE]:
            self._progress(row)

    def _progress(self, row: Row) -> None:
        adapter = self._parts.codes.get(row["code"])
        directory = self._parts.directories.path(row["uuid"])
        found = adapter.progress(directory) if adapter else None
        if found is None:
            return
        if (found.text, found.fraction) != (row["progress_text"], row["progress_fraction"]):
            changes = {"progress_text": found.text, "progress_fraction": found.fraction}
            self._parts.jobs.move(
                Move(row["id"], ("RUNNING",), None, self._clock(), changes=changes)
            )

    def _guarded(self, row: Row, step: Callable[[Row], None]) -> None:
        """Run a step; trouble with the job stays with it, trouble with the host goes up."""
        try:
            step(row)
        except TransferFailed as error:
            self._postpone(row, error)
        except SshError:
            raise
        except Exception as error:
            log.exception("a step failed", extra={"job": row["id"], "state": row["state"]})
            self._postpone(row, error)

    def _postpone(self, row: Row, error: Exception) -> None:
        waits = self._parts.timing.retry_after_s
        postpone(self._parts.jobs, row, sentence(error), waits, self._clock())

    def _trouble(self, cluster: Cluster, error: SshError) -> None:
        """The host cannot be reached, or refuses us; nothing is concluded about any job."""
        log.warning("no connection", extra={"cluster": self._id, "said": error.message})
        self._failures += 1
        if isinstance(error, (AuthRefused, HostKeyChanged, HostKeyUnknown)):
            self._blocked = error  # trying again by itself would look like an attack
        self._contact_at = self._clock() + interval_s(
            0.0, watched=False, failures=self._failures, floor_s=1.0, dice=_dice()
        )
        self._unhealthy(cluster, error.message)

    def _unhealthy(self, cluster: Cluster, trouble: str) -> None:
        since = self._parts.store.cluster(self._id).unreachable_since or self._clock()
        self._parts.store.set_health(cluster.id, last_error=trouble, unreachable_since=since)

    def _plan(self) -> None:
        """When the next poll is due."""
        now, fixed = self._clock(), self._parts.timing.fresh_s
        floor = self._record.min_poll_s
        wait_s = interval_s(
            now - self._quiet_since,
            watched=bool(self._parts.watched_logs()),
            failures=self._poll_failures,
            floor_s=floor,
            dice=_dice(),
        )
        self._poll_at = now + (wait_s if fixed is None else fixed)

    def _wait_s(self, cluster: Cluster) -> float:
        store, name, now = self._parts.store, cluster.record.name, self._clock()
        timing = self._parts.timing
        waits = [timing.idle_s]
        if store.remote_rows(name, TRACKED, limit=1):
            waits.append(self._poll_at - now)
        running = store.remote_rows(name, ("RUNNING",), limit=1)
        if running:
            waits.append(self._follow_at - now)
        if store.remote_rows(name, ("CREATED", "STAGED", "FINISHED"), limit=1):
            waits.append(timing.busy_s)
        if store.uncollected(name, 1):
            waits.append(timing.busy_s)
        return max(0.05, min(waits))

    def _lost_due(self, name: str) -> bool:
        return bool(self._parts.store.remote_rows(name, ("LOST",), due=self._clock(), limit=1))

    def _cluster(self) -> Cluster:
        cluster = self._parts.store.cluster(self._id)
        if cluster.record != self._record:
            self._record = cluster.record
            self._queries = _bucket(cluster.record.query_budget, _USER_RESERVE)
            self._submissions = _bucket(cluster.record.submit_budget, 0)
            self._blocked, self._contact_at = None, 0.0
        return cluster

    def _steps(self, cluster: Cluster, runner: ClusterRunner) -> ClusterSteps:
        parts = self._parts
        collecting = Collecting(
            jobs=parts.jobs,
            store=parts.store,
            runner=runner,
            codes=parts.codes,
            directories=parts.directories,
            clock=parts.clock,
            max_retrieve_mib=cluster.record.max_retrieve_mib,
        )
        return ClusterSteps(
            jobs=parts.jobs,
            store=parts.store,
            runner=runner,
            directories=parts.directories,
            collecting=collecting,
            clock=parts.clock,
            version=parts.version,
        )


def _dice() -> float:
    return random.random()  # noqa: S311 - to spread polls, not to keep a secret


def _cancel_here(steps: ClusterSteps, remote: RemoteJob, row: Row) -> None:
    steps.cancel(row, remote)


def _is_looked_at(row: Row, remotes: Mapping[int, RemoteJob]) -> bool:
    remote = remotes.get(row["id"])
    if remote is None or remote.scheduler_id is None:
        return False
    return row["state"] not in ("FAILED", "CANCELLED") or remote.rests_on_words


def _bucket(budget: Mapping[str, float] | None, reserve: float) -> TokenBucket:
    """No budget: as much as is asked for."""
    if budget is None:
        return TokenBucket(1e9, 1e9)
    return TokenBucket(budget["size"], budget["refill_per_min"], reserve)
