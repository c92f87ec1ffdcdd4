"""The lanes of all clusters, and the runners that they share with the calls of users.

Built by ``api``. A lane is made when its cluster first has something to do.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from typing import Any, Final

from crystalmath.errors import CrystalMathError
from crystalmath.services.cluster_lane import Lane, LaneParts
from crystalmath.services.ports_cluster import Cluster, ClusterRecord

log = logging.getLogger(__name__)

STOP_S: Final = 3.0
"""So long all lanes together may take to end what they are at."""


class RunnerRegistry:
    """One runner for each cluster as it is described now.

    Parameters
    ----------
    make
        Builds the runner of a record; connects to nothing.
    """

    def __init__(self, make: Callable[[ClusterRecord], Any]) -> None:
        self._make = make
        self._lock = threading.Lock()
        self._made: dict[int, tuple[ClusterRecord, Any]] = {}

    def of(self, cluster: Cluster) -> Any:
        """The runner; another one when the record has changed."""
        with self._lock:
            known = self._made.get(cluster.id)
            if known is not None and known[0] == cluster.record:
                return known[1]
            made = self._make(cluster.record)
            self._made[cluster.id] = (cluster.record, made)
        if known is not None:
            known[1].close()
        return made

    def close(self) -> None:
        """Close every connection."""
        with self._lock:
            made, self._made = list(self._made.values()), {}
        for _, runner in made:
            runner.close()


class Lanes:
    """Wakes, makes and stops the lanes."""

    def __init__(self, parts: LaneParts) -> None:
        self._parts = parts
        self._lock = threading.Lock()
        self._lanes: dict[int, Lane] = {}
        self._stopped = False

    def start(self) -> None:
        """Take up the jobs that an earlier daemon has left."""
        self.wake()

    def wake(self) -> None:
        """Jobs have changed: every cluster with something to do looks."""
        try:
            busy = self._parts.store.busy_clusters()
        except CrystalMathError:
            log.exception("the pump of the clusters could not look at the jobs")
            return
        for cluster_id in busy:
            self.lane(cluster_id).wake()

    def lane(self, cluster_id: int) -> Lane:
        """The lane of a cluster; made and started if there is none."""
        with self._lock:
            lane = self._lanes.get(cluster_id)
            if lane is None:
                lane = Lane(cluster_id, self._parts)
                self._lanes[cluster_id] = lane
                if not self._stopped:
                    lane.start()
            return lane

    def forget(self, cluster_id: int) -> None:
        """The cluster is deleted."""
        with self._lock:
            lane = self._lanes.pop(cluster_id, None)
        if lane is not None:
            lane.stop()

    def stop(self) -> None:
        """Stop them all; jobs go on, the next daemon finds them."""
        with self._lock:
            self._stopped = True
            lanes = list(self._lanes.values())
        for lane in lanes:
            lane.stop()
        until = time.monotonic() + STOP_S
        for lane in lanes:
            lane.join(max(0.0, until - time.monotonic()))
