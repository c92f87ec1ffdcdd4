"""A cluster as clients see it: its record, what was learned of it, and how its connection does.

Used by ``clusters``, by the events of topic ``clusters``, ``system.status`` and ``system.doctor``.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from typing import Any, Final

from crystalmath.contract.clusters import ClusterView, ConnectionView
from crystalmath.contract.system import Check
from crystalmath.services.events import EventHub, Happening
from crystalmath.services.job_view import rfc3339
from crystalmath.services.ports_cluster import Cluster, ClusterRecord

_TOPIC: Final = ("clusters",)
_WEIGHT_BYTES: Final = 4000
"""About the length of a cluster in JSON."""

ConnectionOf = Callable[[ClusterRecord], ConnectionView | None]
"""How the connection of a record does, without asking the host."""


def view(
    cluster: Cluster, connection: ConnectionView | None = None, warnings: Sequence[str] = ()
) -> ClusterView:
    """A cluster as clients see it."""
    record: dict[str, Any] = {
        f.name: getattr(cluster.record, f.name) for f in fields(ClusterRecord)
    }
    record["setup_commands"] = [*cluster.record.setup_commands]
    status = "error" if cluster.last_error else "active"
    if cluster.polled_at is None and not cluster.probe and not cluster.last_error:
        status = "inactive"
    return ClusterView(
        **record,
        id=cluster.id,
        status=status,
        last_error=cluster.last_error,
        unreachable_since=rfc3339(cluster.unreachable_since),
        polled_at=rfc3339(cluster.polled_at),
        probe=dict(cluster.probe),
        connection=connection,
        warnings=[*warnings],
    )


class ClusterEvents:
    """Tells subscribers of topic ``clusters``; of each cluster only the last state need be told."""

    def __init__(self, hub: EventHub, connection_of: ConnectionOf) -> None:
        self._hub = hub
        self._connection_of = connection_of

    def changed(self, cluster: Cluster) -> None:
        """It is new, described anew, or something was learned of it."""

        def content() -> Mapping[str, Any]:
            seen = view(cluster, self._connection_of(cluster.record))
            return {"kind": "cluster", "cluster": seen.model_dump(mode="json")}

        self._hub.publish([Happening(_TOPIC, ("cluster", cluster.id), _WEIGHT_BYTES, content)])

    def removed(self, cluster: Cluster) -> None:
        """It is forgotten."""
        gone = {"kind": "cluster_removed", "id": cluster.id, "name": cluster.record.name}
        self._hub.publish([Happening(_TOPIC, ("cluster", cluster.id), 100, lambda: gone)])


def status_row(cluster: Cluster, connection: ConnectionView | None) -> dict[str, Any]:
    """What ``system.status`` says of a cluster."""
    seen = view(cluster, connection)
    names = {"id", "name", "kind", "status", "last_error", "unreachable_since", "polled_at"}
    return seen.model_dump(mode="json", include=names | {"connection"})


def check(cluster: Cluster, connection: ConnectionView | None) -> Check:
    """What ``system.doctor`` says of a cluster: what is known, without asking it."""
    seen = view(cluster, connection)
    polled = cluster.polled_at
    age = "" if polled is None else f", its scheduler answered {time.time() - polled:.0f} s ago"
    detail, hint = f"active{age}", None
    if seen.status == "error":
        since = seen.unreachable_since
        detail = f"{cluster.last_error}" + ("" if since is None else f" (since {since:%F %T} UTC)")
        hint = "`clusters.test` says part by part what works, and what to do"
        if connection is not None and connection.state == "needs_user":
            hint = f"nothing is tried again without you; {hint}"
    elif seen.status == "inactive":
        detail = "never asked yet; `clusters.test` tries it"
    return Check(
        name=f"cluster {cluster.record.name}",
        ok=seen.status != "error",
        detail=detail,
        hint=hint,
    )
