"""Params and results of ``slurm.*``."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, StringConstraints

from crystalmath.contract.clusters import ClusterRef
from crystalmath.contract.jobs import CodeName, JobName, JobSummary
from crystalmath.contract.rpc import Model, Params, Timestamp
from crystalmath.domain.states import JobState


def _scheduler_id(value: str) -> str:
    if not re.fullmatch(r"[0-9]{1,12}(?:[_+][0-9]{1,9})?", value):
        raise ValueError("an id of the scheduler is needed, like 8100, 8100_3 or 9000+1")
    return value


SchedulerJobId = Annotated[
    str,
    StringConstraints(min_length=1, max_length=30),
    AfterValidator(_scheduler_id),
    Field(examples=["8100_3"]),
]


def _whole_id(value: str) -> str:
    if not re.fullmatch(r"[0-9]{1,12}", value):
        raise ValueError("the scheduler's number of a whole job is needed, like 8100")
    return value


WholeJobId = Annotated[
    str,
    StringConstraints(min_length=1, max_length=12),
    AfterValidator(_whole_id),
    Field(examples=["8100"]),
]


class QueueParams(Params):
    cluster: ClusterRef = Field(description="Name or number of the cluster.")
    all_users: bool = Field(default=False, description="Everybody's jobs, not only one's own.")


class SchedulerJobsParams(Params):
    cluster: ClusterRef = Field(description="Name or number of the cluster.")
    job_ids: list[SchedulerJobId] = Field(
        min_length=1, max_length=1000, description="The scheduler's ids: `8100`, `8100_3`, `9000`."
    )


class AdoptParams(Params):
    cluster: ClusterRef = Field(description="Name or number of the cluster.")
    job_id: WholeJobId = Field(description="The scheduler's id of the whole job.")
    code: CodeName | None = Field(
        default=None, description="Which code it runs; recognised from its files if absent."
    )
    name: JobName | None = Field(default=None, description="Our name; the scheduler's if absent.")


class AdoptResult(Model):
    job: JobSummary = Field(description="The job, as it is followed from now on.")


class SyncParams(Params):
    cluster: ClusterRef | None = Field(
        default=None, description="Name or number; all clusters if absent."
    )


class QueueRow(Model):
    """One row of the scheduler's queue, with what its words mean."""

    job_id: str = Field(description="As the scheduler writes it.")
    base_id: int = Field(description="Number of the job, of all tasks and parts.")
    task: int | None = Field(default=None, description="Task of an array.")
    n_tasks: int | None = Field(default=None, description="Tasks this row stands for.")
    at_least: bool = Field(default=False, description="The list was cut: there are more tasks.")
    part: int | None = Field(default=None, description="Part of a het job.")
    job: int | None = Field(default=None, description="Our number, for jobs that are known here.")
    name: str = Field(description="Name in the scheduler.")
    user: str = Field(description="Owner.")
    state: str = Field(description="The scheduler's word.")
    phase: str = Field(description="waiting, running, ended, cancelled, unchanged or unknown.")
    attention: str | None = Field(default=None, description="Something to look at.")
    reason: str | None = Field(default=None, description="The scheduler's reason.")
    advice: str | None = Field(default=None, description="The reason in plain words.")
    outlook: Literal["waiting", "never", "held", "site", "budget"] | None = Field(
        default=None, description="Whether it will ever start by itself."
    )
    offer: Literal["release", "cancel", "edit", "ask_manager"] | None = Field(
        default=None, description="What can be done."
    )
    warning: str | None = Field(default=None, description="Something that may delay it.")
    nodes: str | None = Field(default=None, description="Where it runs.")
    n_nodes: int | None = Field(default=None, description="Nodes.")
    n_cpus: int | None = Field(default=None, description="Processors.")
    partition: str | None = Field(default=None, description="Partition.")
    account: str | None = Field(default=None, description="Account.")
    qos: str | None = Field(default=None, description="QOS.")
    submitted_at: Timestamp | None = Field(default=None, description="Submission.")
    started_at: Timestamp | None = Field(default=None, description="Start.")
    expected_at: Timestamp | None = Field(default=None, description="Start as it is planned.")
    elapsed_s: float | None = Field(default=None, description="Seconds it has run.")
    limit_s: float | None = Field(default=None, description="Its time limit; null: none.")
    workdir: str | None = Field(default=None, description="Its directory.")


class QueueMeta(Model):
    cluster: str = Field(description="Name of the cluster.")
    age_s: float | None = Field(description="Age of the rows; null: there never was an answer.")
    stale: bool = Field(description="The cluster does not answer now: these are the last rows.")
    trouble: str | None = Field(default=None, description="Why it does not answer.")
    rejects: int = Field(default=0, description="Rows that could not be understood.")


class SchedulerOutcome(Model):
    job_id: str = Field(description="The scheduler's id.")
    outcome: Literal["asked", "already_ending", "not_done"] = Field(
        description="`asked` is no proof: the scheduler says so of ended and unknown jobs too."
    )
    job: int | None = Field(default=None, description="Our number, for jobs that are known here.")


class SchedulerOutcomesMeta(Model):
    total: int = Field(description="Number of outcomes.")
    trouble: str | None = Field(default=None, description="What the scheduler said against it.")


class Changed(Model):
    """A job that a look has changed, with what that rests on."""

    job: int = Field(description="Our number.")
    from_state: JobState | None = Field(description="State before.")
    to_state: JobState | None = Field(description="State after.")
    why: str = Field(description="One sentence.")
    evidence: dict[str, Any] = Field(default_factory=dict, description="What it rests on.")


class SyncedCluster(Model):
    cluster: str = Field(description="Name of the cluster.")
    complete: bool = Field(description="Whether its answer was whole; if not, nothing changed.")
    trouble: str | None = Field(default=None, description="Why not.")


class SyncMeta(Model):
    clusters: list[SyncedCluster] = Field(description="Each cluster that was asked.")
