"""Checks of a submission to a cluster, and its job script beforehand. Used by ``submission``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from crystalmath.contract.jobs import SubmitParams
from crystalmath.domain.task_list import parse_array
from crystalmath.errors import InvalidParams, NotFound
from crystalmath.services.cluster_key import job_key
from crystalmath.services.ports import Prepared
from crystalmath.services.ports_cluster import Cluster, ClusterRunner, ClusterStore, Work
from crystalmath.services.ports_tasks import FOLDER


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
        _check_array(cluster, params)
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


def doubts(cluster: Cluster, params: SubmitParams) -> list[str]:
    """What does not fit on a node as the last survey found them; the site may have changed since.

    The scheduler has the last word, so that these are warnings.
    """
    asked = params.resources
    name = asked.partition or cluster.record.queue_name
    known = [
        one
        for one in cluster.probe.get("partitions") or ()
        if (one["name"] == name if name is not None else one["default"])
    ]
    if not known:
        return []
    partition, found = known[0], []
    cpus, memory = partition.get("cpus_per_node"), partition.get("memory_mib_per_node")
    each = asked.ntasks_per_node or -(-asked.ntasks // asked.nodes)
    if cpus is not None and each * asked.cpus_per_task > cpus:
        need = each * asked.cpus_per_task
        found.append(f"it asks for {need} cores of a node, and {_nodes(partition)} {cpus} at most")
    if memory is not None and asked.memory_mib is not None and asked.memory_mib > memory:
        need = asked.memory_mib
        found.append(f"it asks for {need} MiB of a node, and {_nodes(partition)} {memory} at most")
    if partition.get("nodes") is not None and asked.nodes > partition["nodes"]:
        there = f"partition {partition['name']} has {partition['nodes']}"
        found.append(f"it asks for {asked.nodes} nodes, and {there}")
    limit = partition.get("max_walltime_s")
    if limit is not None and asked.walltime_s is not None and asked.walltime_s > limit:
        allowed = f"partition {partition['name']} allows {limit:.0f} s"
        found.append(f"it asks for {asked.walltime_s:.0f} s, and {allowed}")
    return [f"{one}: it may never start" for one in found]


def _nodes(partition: Mapping[str, Any]) -> str:
    return f"those of partition {partition['name']} have"


def _check_array(cluster: Cluster, params: SubmitParams) -> None:
    asked = params.resources
    for name in ("array", "ntasks_per_node"):
        if cluster.record.kind == "ssh" and getattr(asked, name) is not None:
            raise InvalidParams(
                f"`resources.{name}` is for schedulers, and {cluster.record.name} has none",
                field=f"resources.{name}",
                hint="leave it out",
            )
    if asked.array is None:
        return
    scheduler = cluster.probe.get("scheduler") or {}
    limit = scheduler.get("max_array_size")
    last = parse_array(asked.array).last
    if limit is not None and last >= limit:
        raise InvalidParams(
            f"task {last} is above the highest that {cluster.record.name} allows: {limit - 1}",
            field="resources.array",
            hint="number the tasks from 0 or 1, or submit several arrays",
        )
    for i, file in enumerate(params.files):
        if file.path.partition("/")[0] == FOLDER:
            raise InvalidParams(
                f"in the directory of a job array `{FOLDER}` holds the folders of its tasks",
                field=f"files.{i}.path",
                hint="give the file another name",
            )
