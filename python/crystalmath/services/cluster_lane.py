"""One cluster's lane: a thread that moves the jobs of one cluster, and no other's.

A login node that hangs holds up this thread alone. The steps are in ``cluster_steps`` and
``cluster_collect``, polls and what they lead to in ``cluster_polls``; here is when. Made by
``cluster_lanes``.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

from crystalmath.domain.budget import TokenBucket
from crystalmath.domain.polling import interval_s
from crystalmath.errors import (
    AuthRefused,
    HostKeyChanged,
    HostKeyUnknown,
    NotFound,
    ShuttingDown,
    SshError,
    TransferFailed,
)
from crystalmath.services.arrays.collect import TaskCollecting
from crystalmath.services.cluster_accounts import Accounts
from crystalmath.services.cluster_collect import Collecting
from crystalmath.services.cluster_polls import TRACKED, Polls, bucket, dice
from crystalmath.services.cluster_steps import ClusterSteps, ids_of, watched
from crystalmath.services.cluster_upkeep import Upkeep
from crystalmath.services.job_directory import JobDirectories
from crystalmath.services.job_files import REMOTE_LOG_FILES
from crystalmath.services.ports import CodeAdapter
from crystalmath.services.ports_cluster import (
    IDS_PER_CANCEL,
    Cluster,
    ClusterRunner,
    ClusterStore,
    JobChange,
    RemoteJob,
    Watched,
)
from crystalmath.services.ports_store import Row, Store
from crystalmath.services.ports_tasks import TaskRecord, task_folder
from crystalmath.services.postponing import RETRY_AFTER_S, postpone, sentence
from crystalmath.services.steps import progress_move

log = logging.getLogger(__name__)

_LOGS: Final = tuple(REMOTE_LOG_FILES.values())
_AT_ONCE: Final = 50
_MOST_OUTPUTS: Final = 10_000
_STEPS_AT_ONCE: Final = 10
"""Jobs that are staged, handed over or collected in one turn: each takes a second or more, and the
polls must not wait for a thousand of them."""
_COLLECTED_BESIDE: Final = 2
"""The same of ended jobs while many others wait to be handed over, whose time has not begun."""
_NEXT_TURN_S: Final = 0.05
_TASKS_FOLLOWED: Final = 20
"""Running tasks of an array whose logs are brought while they run; the others' come at the end."""
_FOLLOW_BYTES: Final = 256 * 1024


@dataclass(frozen=True, slots=True)
class LaneTiming:
    """Durations; tests set them small."""

    idle_s: float = 60.0
    busy_s: float = 1.0
    follow_s: float = 3.0
    history_every_s: float = 60.0
    cancel_every_s: float = 30.0
    retry_after_s: tuple[float, ...] = RETRY_AFTER_S
    usage_after_s: float = 60.0
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


class ClusterGone(Exception):
    """The lane's cluster was deleted."""


class Lane:
    """See the module docstring."""

    def __init__(self, cluster_id: int, parts: LaneParts) -> None:
        self._id = cluster_id
        self._parts = parts
        self._clock = parts.clock
        self._awake = threading.Event()
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None
        self._record: Any = None
        self._submissions = TokenBucket(100, 30)
        self._blocked: SshError | None = None
        self._failures = 0
        self._contact_at = 0.0
        self._follow_at = 0.0
        self._followed = 0
        self._has_more = False
        self._cancel_sent: dict[int, float] = {}
        self._outputs: dict[int, str | None] = {}
        self.polls = Polls(
            parts.store,
            parts.clock,
            is_watched=lambda: bool(parts.watched_logs()),
            history_every_s=parts.timing.history_every_s,
            fixed_s=parts.timing.fresh_s,
        )

        self._accounts = Accounts(parts.store, parts.clock, parts.timing.usage_after_s)
        self._upkeep = Upkeep(parts.store, parts.clock)

    def start(self) -> None:
        """Start the thread."""
        self._thread = threading.Thread(target=self._run, name=f"lane-{self._id}", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Stop after the step in progress."""
        self._stopping.set()
        self._awake.set()

    def join(self, timeout_s: float) -> None:
        """Wait for the end of the step in progress; a hanging connection is not waited for."""
        if self._thread is not None:
            self._thread.join(timeout_s)

    def wake(self, *, by_user: bool = False) -> None:
        """There is something new to do; a user's wish also ends a wait for a dead connection."""
        if by_user:
            self.unblock()
        self._awake.set()

    def unblock(self) -> None:
        """A dead connection is not waited for any longer, at the next turn."""
        self._blocked, self._contact_at = None, 0.0

    def _run(self) -> None:
        while not self._stopping.is_set():
            self._awake.clear()
            try:
                wait_s = self.turn()
            except ClusterGone:
                return
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
        created = store.remote_rows(name, ("CREATED",), due=now, limit=_STEPS_AT_ONCE)
        for row in created:
            self._guarded(row, steps.stage)
        handed_over = self._hand_over(cluster, steps)
        if self.polls.is_due() and (
            store.remote_rows(name, TRACKED, limit=1) or self._lost_due(name)
        ):
            self.polls.look(cluster, runner)
        self._cancel(cluster, runner, steps)
        self._follow(cluster, runner)
        is_crowded = max(len(created), handed_over) >= _STEPS_AT_ONCE
        room = _COLLECTED_BESIDE if is_crowded else _STEPS_AT_ONCE
        ended = store.remote_rows(name, ("FINISHED",), due=self._clock(), limit=room)
        ended += store.uncollected(name, room, self._clock())
        remotes = store.remotes([row["id"] for row in ended])
        for row in ended:
            remote = remotes[row["id"]]
            self._guarded(row, partial(self._collect, steps, remote))
        self._has_more = is_crowded or len(ended) >= room
        self._accounts.ask(name, runner, lambda: self.polls.may_ask(by_user=False))
        self._upkeep.daily(cluster, runner, lambda: self.polls.may_ask(by_user=False))

    def _hand_over(self, cluster: Cluster, steps: ClusterSteps) -> int:
        """Hand jobs over as far as limits allow; returns how many."""
        name, jobs, store = cluster.record.name, self._parts.jobs, self._parts.store
        startable = jobs.startable(self._clock(), _STEPS_AT_ONCE, name)
        room = cluster.record.max_concurrent
        if startable and room is not None:
            room -= len(store.remote_rows(name, TRACKED, limit=room))
        for done, row in enumerate(startable):
            if self._stopping.is_set() or (room is not None and room <= 0):
                return done
            if not self._submissions.take(self._clock()):
                return done
            self._guarded(row, steps.hand_over)
            self.polls.expect_news(cluster.record.min_poll_s)
            room = None if room is None else room - 1
        return len(startable)

    def _cancel_unsent(self, cluster: Cluster, steps: ClusterSteps) -> None:
        """Jobs that were never handed over need no connection to end."""
        store = self._parts.store
        rows = store.remote_rows(cluster.record.name, ("CANCELLING",))
        remotes = store.remotes([row["id"] for row in rows])
        for row in rows:
            remote = remotes[row["id"]]
            if remote.scheduler_id is None and remote.handed_over_at is None:
                self._guarded(row, partial(_cancel_here, steps, remote))

    def _cancel(self, cluster: Cluster, runner: ClusterRunner, steps: ClusterSteps) -> None:
        """Tell the scheduler, again and again, until the end is seen; the wish stays till then."""
        now = self._clock()
        rows = self._parts.store.remote_rows(cluster.record.name, ("CANCELLING",))
        ids = {row["id"] for row in rows}
        self._cancel_sent = {i: at for i, at in self._cancel_sent.items() if i in ids}
        remotes = self._parts.store.remotes(ids)
        wanted: list[Watched] = []
        for row in rows:
            if now - self._cancel_sent.get(row["id"], -1e12) < self._parts.timing.cancel_every_s:
                continue
            self._cancel_sent[row["id"]] = now
            sent = steps.cancel(row, remotes[row["id"]])
            if sent is not None:
                wanted.append(sent)
        calls = self.polls.may_ask_up_to(-(-len(wanted) // IDS_PER_CANCEL), by_user=True)
        told = wanted[: calls * IDS_PER_CANCEL]
        said = runner.cancel(told) if told else {}
        for job_id in ids_of(wanted):
            if said.get(job_id, "not_done") == "not_done":
                self._cancel_sent.pop(job_id, None)
        if told:
            self.polls.expect_news(cluster.record.min_poll_s)

    def _collect(self, steps: ClusterSteps, remote: RemoteJob, row: Row) -> None:
        if not remote.directory or remote.scheduler_id is None:
            self._parts.store.commit([JobChange(row["id"], remote={"collected": True})])
            return
        collecting = steps.collecting if remote.array is None else TaskCollecting(steps.collecting)
        collecting.collect(row, remote, watched(row, remote))

    def _follow(self, cluster: Cluster, runner: ClusterRunner) -> None:
        """Bring what running jobs have written, for their logs and their progress.

        Those that somebody watches each time, then some of the others in turn: a look into the
        files of hundreds at once would hold up the polls, and the host.
        """
        now, store, name = self._clock(), self._parts.store, cluster.record.name
        if now < self._follow_at:
            return
        watched_rows = store.rows_of(self._parts.watched_logs())
        running = [r for r in watched_rows if (r["cluster"], r["state"]) == (name, "RUNNING")]
        is_watched = bool(running)
        ids = {row["id"] for row in running}
        others = store.remote_rows(name, ("RUNNING",), after=self._followed, limit=_AT_ONCE)
        self._followed = others[-1]["id"] if len(others) == _AT_ONCE else 0
        running += [row for row in others if row["id"] not in ids]
        if not running:
            return
        remotes = self._parts.store.remotes([row["id"] for row in running])
        arrays = self._parts.store.tasks_of([i for i, remote in remotes.items() if remote.array])
        wanted = []
        for row in running:
            here = self._parts.directories.path(row["uuid"])
            output = self._output(row["id"])
            names = dict.fromkeys((*_LOGS, *([output] if output else ())))
            there = remotes[row["id"]].directory
            for folder in _folders(arrays.get(row["id"])):
                wanted += [(f"{there}/{folder}{name}", here / f"{folder}{name}") for name in names]
        came = runner.follow(wanted, _FOLLOW_BYTES)
        self._follow_at = now + self._parts.timing.follow_s * (1 if is_watched else 5)
        for row in running if came else ():
            if row["id"] not in arrays:
                self._progress(row)

    def _output(self, job_id: int) -> str | None:
        """The file that the code writes to, which never changes."""
        if job_id not in self._outputs:
            if len(self._outputs) >= _MOST_OUTPUTS:
                self._outputs.clear()
            self._outputs[job_id] = self._parts.jobs.documents(job_id).prepared.get("output")
        return self._outputs[job_id]

    def _progress(self, row: Row) -> None:
        directory = self._parts.directories.path(row["uuid"])
        move = progress_move(self._parts.codes.get(row["code"]), row, directory, self._clock())
        if move is not None:
            self._parts.jobs.move(move)

    def _guarded(self, row: Row, step: Callable[[Row], None]) -> None:
        """Run a step; trouble with the job stays with it, trouble with the host goes up."""
        try:
            step(row)
        except TransferFailed as error:
            self._postpone(row, error)
        except ShuttingDown:
            return  # the next daemon begins the step anew
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
            0.0, watched=False, failures=self._failures, floor_s=1.0, dice=dice()
        )
        self.polls.unhealthy(cluster, error.message)

    def _wait_s(self, cluster: Cluster) -> float:
        store, name, now = self._parts.store, cluster.record.name, self._clock()
        timing = self._parts.timing
        if self._has_more:
            return _NEXT_TURN_S
        waits = [timing.idle_s]
        if store.remote_rows(name, TRACKED, limit=1):
            waits.append(self.polls.wait_s())
        running = store.remote_rows(name, ("RUNNING",), limit=1)
        if running:
            waits.append(self._follow_at - now)
        if store.remote_rows(name, ("CREATED", "STAGED", "FINISHED"), limit=1):
            waits.append(timing.busy_s)
        if store.uncollected(name, 1, now):
            waits.append(timing.busy_s)
        return max(_NEXT_TURN_S, min(waits))

    def _lost_due(self, name: str) -> bool:
        return bool(self._parts.store.remote_rows(name, ("LOST",), due=self._clock(), limit=1))

    def _cluster(self) -> Cluster:
        try:
            cluster = self._parts.store.cluster(self._id)
        except NotFound as error:
            raise ClusterGone from error
        if cluster.record != self._record:
            self._record = cluster.record
            self.polls.take_record(cluster.record)
            self._submissions = bucket(cluster.record.submit_budget, 0)
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
            may_ask=self.polls.may_ask,
        )
        return ClusterSteps(
            jobs=parts.jobs,
            store=parts.store,
            runner=runner,
            directories=parts.directories,
            collecting=collecting,
            clock=parts.clock,
            version=parts.version,
            may_ask=self.polls.may_ask,
        )


def _folders(tasks: Mapping[int, TaskRecord] | None) -> list[str]:
    """Where a job writes: its directory, or the folders of the first tasks that run."""
    if tasks is None:
        return [""]
    running = [number for number, task in tasks.items() if task.state == "RUNNING"]
    return [f"{task_folder(number)}/" for number in running[:_TASKS_FOLLOWED]]


def _cancel_here(steps: ClusterSteps, remote: RemoteJob, row: Row) -> None:
    steps.cancel(row, remote)
