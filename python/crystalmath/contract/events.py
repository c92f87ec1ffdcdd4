"""Params and results of ``events.*``, and what ``events.notify`` carries.

A subscription names topics. Everything that happens under them is told once, in the order of its
commit; of several changes of the same thing only the last may be told. Who cannot be told
everything, because too much has happened meanwhile, is told to read again: ``resync``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Final, Literal

from pydantic import BaseModel, Field, StringConstraints

from crystalmath.contract.clusters import ClusterView
from crystalmath.contract.event_names import NOTIFY
from crystalmath.contract.force_rows import EngineInfo, InstallTask, WorkerInfo
from crystalmath.contract.jobs import JobEvent, JobSummary
from crystalmath.contract.rpc import Model, Params
from crystalmath.contract.workflows import WorkflowSummary

Topic = Annotated[
    str,
    StringConstraints(
        max_length=32, pattern=r"^(jobs|clusters|engines|workflows|(job|log):[1-9][0-9]{0,18})$"
    ),
    Field(examples=["job:12"]),
]
LogStream = Literal["output", "stdout", "stderr", "scheduler"]


class SubscribeParams(Params):
    topics: list[Topic] = Field(
        min_length=1,
        max_length=64,
        description="jobs, job:ID, log:ID, clusters, engines or workflows.",
    )
    since: int | None = Field(
        default=None,
        ge=0,
        lt=2**63,
        description="`seq` of the last notification: what came after it is told again.",
    )
    instance: str | None = Field(
        default=None,
        max_length=64,
        description="The instance that `since` is a number of; another one means `resync`.",
    )


class SubscribeResult(Model):
    subscription: int = Field(description="Number of the subscription.")
    seq: int = Field(description="Everything that happens after this event will be told.")
    instance: str = Field(description="Unique id of this run of the daemon.")


class UnsubscribeParams(Params):
    subscription: int = Field(ge=1, lt=2**63, description="Number of the subscription.")


class UnsubscribeResult(Model):
    subscription: int = Field(description="The subscription that is no more.")


class JobChanged(Model):
    """A job is new or has changed: its row as it is now."""

    topic: str = Field(description="jobs, or job:ID.")
    kind: Literal["job"] = Field(description="Always `job`.")
    job: JobSummary = Field(description="The row.")


class JobRemoved(Model):
    """A job was deleted."""

    topic: str = Field(description="jobs, or job:ID.")
    kind: Literal["job_removed"] = Field(description="Always `job_removed`.")
    id: int = Field(description="Number of the job.")


class JobHappened(Model):
    """A line was added to a job's history."""

    topic: str = Field(description="job:ID.")
    kind: Literal["event"] = Field(description="Always `event`.")
    event: JobEvent = Field(description="The line.")


class LogGrown(Model):
    """An output of a running job has another size; read on with `jobs.log` by offset."""

    topic: str = Field(description="log:ID.")
    kind: Literal["log"] = Field(description="Always `log`.")
    stream: LogStream = Field(description="Which output, as in `jobs.log`.")
    size: int = Field(description="Bytes of the file now.")


class EngineChanged(Model):
    """An engine can now be used, or no longer, or another declaration of it was found."""

    topic: str = Field(description="engines.")
    kind: Literal["engine"] = Field(description="Always `engine`.")
    engine: EngineInfo = Field(description="The engine as it is now.")


class InstallChanged(Model):
    """An installation goes on, or has ended."""

    topic: str = Field(description="engines.")
    kind: Literal["install"] = Field(description="Always `install`.")
    install: InstallTask = Field(description="Where it stands.")


class WorkerChanged(Model):
    """A worker is new or has changed; one that is `stopped` or `crashed` is told for the last time.

    Counters alone are no change: who wants them asks `forces.workers`.
    """

    topic: str = Field(description="engines.")
    kind: Literal["worker"] = Field(description="Always `worker`.")
    worker: WorkerInfo = Field(description="The worker as it is now.")


class ClusterChanged(Model):
    """A cluster is new or described anew, or something was learned of it: health, age of data."""

    topic: str = Field(description="clusters.")
    kind: Literal["cluster"] = Field(description="Always `cluster`.")
    cluster: ClusterView = Field(description="The cluster as it is now.")


class ClusterRemoved(Model):
    """A cluster was forgotten."""

    topic: str = Field(description="clusters.")
    kind: Literal["cluster_removed"] = Field(description="Always `cluster_removed`.")
    id: int = Field(description="Number it had.")
    name: str = Field(description="Name it had.")


class WorkflowChanged(Model):
    """A workflow is new, or one of its steps has changed."""

    topic: str = Field(description="workflows.")
    kind: Literal["workflow"] = Field(description="Always `workflow`.")
    workflow: WorkflowSummary = Field(description="The workflow as it is now.")


class Resync(Model):
    """Something was missed: read everything again that the topics are about."""

    kind: Literal["resync"] = Field(description="Always `resync`.")


Event = Annotated[
    JobChanged
    | JobRemoved
    | JobHappened
    | LogGrown
    | EngineChanged
    | InstallChanged
    | WorkerChanged
    | ClusterChanged
    | ClusterRemoved
    | WorkflowChanged
    | Resync,
    Field(discriminator="kind"),
]


class EventsNotify(Model):
    """What has happened since the notification before, oldest first."""

    subscription: int = Field(description="Number of the subscription.")
    seq: int = Field(description="All events up to this one are told; the next `since`.")
    events: list[Event] = Field(description="What happened.")


@dataclass(frozen=True, slots=True)
class Notification:
    """A message that the daemon sends by itself."""

    name: str
    summary: str
    params: type[BaseModel]


NOTIFICATIONS: Final = (
    Notification(
        NOTIFY,
        "Tells a subscriber what happened; sent by the daemon, never answered.",
        EventsNotify,
    ),
)
"""Every notification of the daemon; they come only to those who have subscribed."""
