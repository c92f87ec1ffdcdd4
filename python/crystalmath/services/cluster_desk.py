"""Checks of a submission to a cluster, and its job script beforehand. Used by ``submission``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from crystalmath.contract.jobs import SubmitParams
from crystalmath.errors import InvalidParams, NotFound
from crystalmath.services.cluster_key import job_key
from crystalmath.services.ports import Prepared
from crystalmath.services.ports_cluster import Cluster, ClusterRunner, ClusterStore, Work


def work_of(uuid: str, name: str, prepared: Prepared, resources: Mapping[str, Any]) -> Work:
    """What a prepared job runs."""
    return Work(uuid, name, prepared.argv, prepared.env, resources, prepared.starts_processes)


@dataclass(frozen=True, slots=True)
class ClusterDesk:
    """What is needed to check a submission to a cluster; nothing here connects to it."""

    store: ClusterStore
    runner_of: Callable[[Cluster], ClusterRunner]

    def target(self, params: SubmitParams) -> Cluster:
        """The cluster that a submission names.

        Raises
        ------
        InvalidParams
            There is none of that name, or the runner does not fit it.
        """
        wanted = str(params.cluster)
        try:
            cluster = self.store.cluster(int(wanted) if wanted.isdigit() else wanted)
        except NotFound as error:
            known = ", ".join(one.record.name for one in self.store.clusters())
            raise InvalidParams(
                f"there is no cluster {wanted!r}",
                field="cluster",
                hint=f"clusters here: {known or 'none'}; `clusters.create` adds one",
            ) from error
        kind = cluster.record.kind
        if params.runner is not None and params.runner != kind:
            raise InvalidParams(
                f"{cluster.record.name} is of kind {kind}, not {params.runner}",
                field="runner",
                hint="leave `runner` out",
            )
        return cluster

    def preview(self, cluster: Cluster, params: SubmitParams, prepared: Prepared) -> str:
        """The job script, with the directory as far as it is known before the job has one.

        Raises
        ------
        InvalidParams
            An option that the scheduler could not take; the field is named.
        """
        key = job_key("0" * 32)
        directory = f"{cluster.record.remote_workdir.rstrip('/')}/{key}"
        resources = params.resources.model_dump(mode="json")
        work = work_of("0" * 32, params.name, prepared, resources)
        return self.runner_of(cluster).render(work, directory)
