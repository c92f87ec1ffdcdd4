"""The polls of one cluster: when, within which budget, and what follows.

One question for all jobs of a cluster; the accounting is asked only about those that it misses.
Used by the cluster's lane, and by the calls of users at the same time.
"""

from __future__ import annotations

import logging
import random
import threading
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Final

from crystalmath.domain.budget import TokenBucket
from crystalmath.domain.evidence import Observation
from crystalmath.domain.polling import interval_s
from crystalmath.domain.states import JobState
from crystalmath.services.arrays.look import change_of_array, tasks_in_poll
from crystalmath.services.cluster_look import Looked, change_of, in_poll
from crystalmath.services.cluster_steps import watched
from crystalmath.services.ports_cluster import (
    IDS_PER_QUESTION,
    Cluster,
    ClusterRecord,
    ClusterRunner,
    ClusterStore,
    JobChange,
    QueuePoll,
    RemoteJob,
    Watched,
)
from crystalmath.services.ports_store import Row

log = logging.getLogger(__name__)

TRACKED: Final[tuple[JobState, ...]] = ("SUBMITTED", "RUNNING", "CANCELLING")
USER_RESERVE: Final = 8
SPARE_FOR_POLLS: Final = 4
"""Questions about single jobs leave so many: a poll asks for all of them."""
COMMIT_AT_ONCE: Final = 500
"""Jobs in one transaction: a poll in which thousands change must not hold up all other writers."""
CORRECT_FOR_S: Final = 7 * 86_400.0
CORRECT_AT_ONCE: Final = 200
"""Ends by the scheduler's words alone that a user's look asks for again: the newest of a week."""
DETAILS_AT_ONCE: Final = 5
"""Jobs that the controller is asked for one by one, where nothing else tells."""
_NEVER: Final = -1e12


class Polls:
    """See the module docstring.

    Parameters
    ----------
    is_watched
        Whether somebody looks at a job now.
    history_every_s
        Seconds between two questions to the accounting that happen by themselves.
    fixed_s
        Seconds between polls whatever happens; None: the rule of ``domain.polling``.
    """

    def __init__(
        self,
        store: ClusterStore,
        clock: Callable[[], float],
        *,
        is_watched: Callable[[], bool],
        history_every_s: float,
        fixed_s: float | None,
    ) -> None:
        self._store = store
        self._clock = clock
        self._is_watched = is_watched
        self._history_every_s = history_every_s
        self._fixed_s = fixed_s
        self._floor_s = 10.0
        self.queries = TokenBucket(30, 10, USER_RESERVE)
        self._looking = threading.Lock()
        self._counting = threading.Lock()
        self._poll_failures = 0
        self._poll_at = 0.0
        self._quiet_since = 0.0
        self._history_at = _NEVER
        self._calm: dict[int, tuple[int, Hashable]] = {}
        self._history_trouble: str | None = None
        self.last_poll: QueuePoll | None = None
        self.last_good: QueuePoll | None = None

    def take_record(self, record: ClusterRecord) -> None:
        """The cluster was described anew."""
        self._floor_s = record.min_poll_s
        self.queries = bucket(record.query_budget, USER_RESERVE)

    def is_due(self) -> bool:
        """Whether it is time for a poll."""
        return self._clock() >= self._poll_at

    def wait_s(self) -> float:
        """Seconds until the next poll."""
        return self._poll_at - self._clock()

    def expect_news(self, within_s: float) -> None:
        """Something was sent to the scheduler: look soon."""
        self._quiet_since = self._clock()
        self._poll_at = min(self._poll_at, self._clock() + within_s)

    def may_ask(self, n: int = 1, *, by_user: bool = False) -> bool:
        """Whether the budget allows so many more questions; leaves what the next polls need."""
        with self._counting:
            spare = 0.0 if by_user else SPARE_FOR_POLLS
            return self.queries.take(self._clock(), n=n, by_user=by_user, spare=spare)

    def may_ask_up_to(self, n: int, *, by_user: bool) -> int:
        """How many more questions the budget allows, of so many."""
        with self._counting:
            return self.queries.take_up_to(self._clock(), n, by_user=by_user)

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
            if not self.may_ask_up_to(1, by_user=by_user):
                self._poll_at = self._clock() + self.queries.wait_s(self._clock())
                return self.last_poll, []
            return self._look(cluster, runner, by_user=by_user, wide=wide)

    def _look(
        self, cluster: Cluster, runner: ClusterRunner, *, by_user: bool, wide: bool
    ) -> tuple[QueuePoll, list[JobChange]]:
        store, name = self._store, cluster.record.name
        tracked = store.tracked(name, TRACKED)
        rows = store.remote_rows(name, ("LOST",), due=None if wide else self._clock())
        if wide:
            since = self._clock() - CORRECT_FOR_S
            rows += store.ended_on_words(name, since, CORRECT_AT_ONCE)
        poll = runner.queue(store.next_poll())
        self.last_poll = poll
        if not poll.complete:
            self._poll_failures += 1
            self._plan()
            self.unhealthy(cluster, poll.trouble or "squeue gave no answer")
            return poll, []
        self._poll_failures = 0
        self.last_good = poll
        rows += store.rows_of(self._with_news(tracked, poll))
        remotes = store.remotes([row["id"] for row in rows])
        known = {
            row["id"]: (row, remotes[row["id"]]) for row in rows if _is_looked_at(row, remotes)
        }
        changes = self._changes(runner, known, poll, by_user=by_user)
        done: set[int] = set()
        for at in range(0, len(changes), COMMIT_AT_ONCE):
            done.update(store.commit(changes[at : at + COMMIT_AT_ONCE]))
        changed = [change for change in changes if change.job_id in done and change.moves]
        if changed:
            self._quiet_since = self._clock()
        self._plan()
        healthy = {"polled_at": poll.at, "last_error": None, "unreachable_since": None}
        store.set_health(cluster.id, **healthy)
        return poll, changed

    def _with_news(
        self, tracked: Mapping[int, tuple[int, int | None]], poll: QueuePoll
    ) -> list[int]:
        """The jobs of which a poll says something else than the last one, or which have changed.

        A look at any other would come to what the last one came to: nothing.
        """
        news, calm = [], {}
        for job_id, (rev, ident) in tracked.items():
            if ident is None:
                continue
            now = (rev, poll.words.get(ident))
            if self._calm.get(job_id) == now:
                calm[job_id] = now
            else:
                news.append(job_id)
        self._calm = calm
        return news

    def _changes(
        self,
        runner: ClusterRunner,
        known: Mapping[int, tuple[Row, RemoteJob]],
        poll: QueuePoll,
        *,
        by_user: bool,
    ) -> list[JobChange]:
        before = self._store.evidence_of(known)
        arrays = self._store.tasks_of([i for i, (_, remote) in known.items() if remote.array])
        new = {
            job_id: tasks_in_poll(remote, poll, arrays[job_id])
            if job_id in arrays
            else list(in_poll(remote, poll))
            for job_id, (_, remote) in known.items()
        }

        def asked(phases: Callable[[Observation], bool]) -> list[Watched]:
            """Jobs of which the poll says such a thing; of an array its tasks."""
            found = []
            for job_id, seen in new.items():
                such = [one for one in seen if one.source == "squeue" and phases(one)]
                tasks = [one.task for one in such if one.task is not None]
                if such:
                    found.append(watched(*known[job_id], tasks if job_id in arrays else None))
            return found

        gone = asked(lambda one: one.phase not in ("waiting", "running"))
        missing = asked(lambda one: one.phase == "absent")
        for job_id, left in (runner.receipts(gone) if gone else {}).items():
            new[job_id] += left
        for job_id, said in self._history(runner, missing, by_user=by_user).items():
            new[job_id] += said
        for job_id, told in self._details(runner, missing, new).items():
            new[job_id] += told
        offset_s, now = runner.facts().clock_offset_s, self._clock()
        changes = []
        for job_id, (row, remote) in known.items():
            looked = Looked(row, remote, before[job_id], new[job_id])
            change = (
                change_of_array(looked, arrays[job_id], now, offset_s)
                if job_id in arrays
                else change_of(looked, now, offset_s)
            )
            if change is not None:
                changes.append(change)
            elif job_id not in arrays and _is_calm(new[job_id]):
                self._note_calm(row, remote, poll)
        return changes

    def _note_calm(self, row: Row, remote: RemoteJob, poll: QueuePoll) -> None:
        said = poll.words.get(int(remote.scheduler_id or 0))
        if said is not None:
            self._calm[row["id"]] = (row["rev"], said)

    def _details(
        self,
        runner: ClusterRunner,
        missing: Sequence[Watched],
        new: Mapping[int, Sequence[Observation]],
    ) -> dict[int, list[Observation]]:
        """Ask the controller about jobs of which neither accounting nor receipts tell."""
        if self._history_trouble is None:
            return {}
        found: dict[int, list[Observation]] = {}
        for job in missing:
            untold = all(seen.source in ("squeue", "start") for seen in new[job.job_id])
            if untold and len(found) < DETAILS_AT_ONCE and self.may_ask(by_user=False):
                found[job.job_id] = runner.details(job)
        return found

    def _history(
        self, runner: ClusterRunner, jobs: Sequence[Watched], *, by_user: bool
    ) -> dict[int, list[Observation]]:
        """Ask the accounting about jobs that squeue misses: at most once a minute by itself."""
        now = self._clock()
        is_early = now - self._history_at < self._history_every_s
        if not jobs or (is_early and not by_user):
            return {}
        allowed = self.may_ask_up_to(-(-len(jobs) // IDS_PER_QUESTION), by_user=by_user)
        if not allowed:
            return {}
        self._history_at = now
        found, trouble = runner.history(jobs[: allowed * IDS_PER_QUESTION])
        self._history_trouble = trouble
        if trouble is not None:
            log.info("the accounting says nothing", extra={"said": trouble})
        return found

    def unhealthy(self, cluster: Cluster, trouble: str) -> None:
        """Note that a cluster gives no answer, and since when."""
        since = self._store.cluster(cluster.id).unreachable_since or self._clock()
        self._store.set_health(cluster.id, last_error=trouble, unreachable_since=since)

    def _plan(self) -> None:
        """When the next poll is due."""
        now, fixed = self._clock(), self._fixed_s
        floor = self._floor_s
        wait_s = interval_s(
            now - self._quiet_since,
            watched=self._is_watched(),
            failures=self._poll_failures,
            floor_s=floor,
            dice=dice(),
        )
        self._poll_at = now + (wait_s if fixed is None else fixed)


def dice() -> float:
    """A number from 0 to 1, to spread what would happen at the same time."""
    return random.random()  # noqa: S311 - no secret


def bucket(budget: Mapping[str, float] | None, reserve: float) -> TokenBucket:
    """No budget: as much as is asked for."""
    if budget is None:
        return TokenBucket(1e9, 1e9)
    return TokenBucket(budget["size"], budget["refill_per_min"], reserve)


def _is_looked_at(row: Row, remotes: Mapping[int, RemoteJob]) -> bool:
    remote = remotes.get(row["id"])
    return remote is not None and remote.scheduler_id is not None


def _is_calm(seen: Sequence[Observation]) -> bool:
    """Whether the latest poll says of a job only that it waits or runs."""
    return bool(seen) and seen[0].phase in ("waiting", "running")
