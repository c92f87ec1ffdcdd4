"""What ended jobs used, asked of the cluster's accounting once for each.

It comes later than the end, and nobody waits for it: the verdict has been given. Called by
``services.cluster_lane`` alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from crystalmath.services.cluster_steps import watched
from crystalmath.services.ports_cluster import ClusterRunner, ClusterStore
from crystalmath.services.ports_tasks import Account, Used

AT_ONCE: Final = 200
"""Jobs in one question."""
LOOK_EVERY_S: Final = 20.0
AGAIN_S: Final = 3600.0
GIVE_UP_S: Final = 7 * 86_400.0


class Accounts:
    """The questions of one cluster.

    Parameters
    ----------
    after_s
        Seconds after its end from which a job is asked for: steps are accounted late.
    """

    def __init__(self, store: ClusterStore, clock: Callable[[], float], after_s: float) -> None:
        self._store = store
        self._clock = clock
        self._after_s = after_s
        self._due_at = 0.0

    def ask(self, name: str, runner: ClusterRunner, may_ask: Callable[[], bool]) -> None:
        """Ask for one portion, if there is one and the budget allows it."""
        now = self._clock()
        if now < self._due_at:
            return
        self._due_at = now + min(LOOK_EVERY_S, self._after_s)
        rows = self._store.unaccounted(name, now - self._after_s, AT_ONCE)
        if not rows or not may_ask():
            return
        remotes = self._store.remotes([row["id"] for row in rows])
        told = runner.usage([watched(row, remotes[row["id"]]) for row in rows])
        if told is not None:
            found = {row["id"]: account_of(told.get(row["id"], {})) for row in rows}
            self._store.record_accounts(found, now)
            return
        self._due_at = now + AGAIN_S
        late = [row for row in rows if now - row["finished_at"] > GIVE_UP_S]
        self._store.record_accounts({row["id"]: Account(None) for row in late}, now)


def account_of(told: Mapping[int | None, Used]) -> Account:
    """Sum up what is told of a job, or of the tasks of an array."""
    if None in told:
        return Account(told[None])
    if not told:
        return Account(None)
    used = list(told.values())
    memory = [one.max_rss_kib for one in used if one.max_rss_kib is not None]
    cpus = [one.n_cpus for one in used if one.n_cpus is not None]
    tasks: dict[int, dict[str, Any]] = {
        task: {"max_rss_kib": one.max_rss_kib, "cpu_s": one.cpu_s}
        for task, one in told.items()
        if task is not None
    }
    whole = Used(
        cpu_s=_sum(one.cpu_s for one in used),
        max_rss_kib=max(memory, default=None),
        elapsed_s=_sum(one.elapsed_s for one in used),
        n_cpus=max(cpus, default=None),
        core_s=_sum(one.core_s for one in used),
        source=used[0].source,
    )
    return Account(whole, tasks)


def _sum(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None
