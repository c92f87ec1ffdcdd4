"""Once a day: what the site's scheduler is like now, and old evidence folded away.

Called by ``services.cluster_lane`` alone.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Final

from crystalmath.services.ports_cluster import Cluster, ClusterRunner, ClusterStore

log = logging.getLogger(__name__)

DAY_S: Final = 86_400.0
KEEP_EVIDENCE_S: Final = 30 * DAY_S
_FOLD_AT_ONCE: Final = 200


class Upkeep:
    """The daily work for one cluster."""

    def __init__(self, store: ClusterStore, clock: Callable[[], float]) -> None:
        self._store = store
        self._clock = clock
        self._folded_at = 0.0

    def daily(self, cluster: Cluster, runner: ClusterRunner, may_ask: Callable[[], bool]) -> None:
        """Survey the site and fold evidence, each if its day has passed."""
        now = self._clock()
        if now - self._folded_at >= DAY_S:
            n = self._store.fold_evidence(now - KEEP_EVIDENCE_S, _FOLD_AT_ONCE)
            # The next portion has its turn at once.
            self._folded_at = 0.0 if n == _FOLD_AT_ONCE else now
        surveyed_at = float(cluster.probe.get("surveyed_at") or 0.0)
        if now - surveyed_at < DAY_S or cluster.record.kind != "slurm" or not may_ask():
            return
        found = runner.survey()
        known = cluster.probe.get("scheduler") or {}
        if found and known.get("version") not in (None, found.get("version")):
            told = {"was": known.get("version"), "now": found.get("version")}
            log.info("the scheduler has another version", extra=told)
        scheduler = {**known, **found} if found else known
        probe = {**cluster.probe, "scheduler": scheduler or None, "surveyed_at": now}
        self._store.set_health(cluster.id, probe=probe)
