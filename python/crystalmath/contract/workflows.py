"""Params and results of ``workflows.*``."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints, model_validator

from crystalmath.contract.jobs import (
    ClientToken,
    CodeName,
    Context,
    JobId,
    JobName,
    StructureIn,
)
from crystalmath.contract.resources import Resources
from crystalmath.contract.rpc import Model, Params, Timestamp
from crystalmath.contract.workflow_options.bands import BandsOptions
from crystalmath.contract.workflow_options.convergence import ConvergenceOptions
from crystalmath.contract.workflow_options.elastic import ElasticOptions
from crystalmath.contract.workflow_options.eos import EosOptions
from crystalmath.contract.workflow_options.md import MdOptions
from crystalmath.contract.workflow_options.phonon import PhononOptions
from crystalmath.contract.workflow_options.relax import RelaxOptions
from crystalmath.domain.workflow_states import StepState, WorkflowState

WorkflowId = Annotated[int, Field(ge=1, lt=2**63)]
StepName = Annotated[
    str, StringConstraints(min_length=1, max_length=64, pattern=r"^[a-z0-9][a-z0-9._-]*$")
]


class CreateParams(Params):
    """What every workflow is asked for with."""

    structure: StructureIn | None = Field(default=None, description="The structure to start from.")
    job: JobId | None = Field(
        default=None, description="Instead: start from the final structure of this job."
    )
    engine: str | None = Field(
        default=None, min_length=1, max_length=64, description="Force engine that computes it."
    )
    code: CodeName | None = Field(default=None, description="Instead: code that computes it.")
    model: str | None = Field(
        default=None, max_length=4096, description="The engine's model; its default if absent."
    )
    inputs: dict[str, Any] = Field(
        default_factory=dict,
        description="Of each of its jobs, as in `jobs.submit`: what the code takes and the "
        "workflow does not set itself, like cutoffs.",
    )
    cluster: str | None = Field(
        default=None, min_length=1, max_length=50, description="Where its jobs run."
    )
    name: JobName | None = Field(default=None, description="For people; made up if absent.")
    resources: Resources = Field(
        default_factory=Resources, description="Processes, threads and time of each of its jobs."
    )
    context: Context = Field(
        default_factory=dict, description="Variables of the client's environment that codes read."
    )
    client_token: ClientToken | None = Field(
        default=None, description="The same token returns the same workflow."
    )

    @model_validator(mode="after")
    def _one_of_each(self) -> CreateParams:
        if (self.structure is None) == (self.job is None):
            raise ValueError("give exactly one of structure, job")
        if (self.engine is None) == (self.code is None):
            raise ValueError("give exactly one of engine, code")
        return self


class CreateRelaxParams(CreateParams):
    """A relaxation."""

    options: RelaxOptions = Field(default_factory=RelaxOptions, description="Options of the kind.")


class CreateEosParams(CreateParams):
    """An equation of state."""

    options: EosOptions = Field(default_factory=EosOptions, description="Options of the kind.")


class CreateBandsParams(CreateParams):
    """Bands and density of states."""

    options: BandsOptions = Field(default_factory=BandsOptions, description="Options of the kind.")


class CreateConvergenceParams(CreateParams):
    """A convergence series."""

    options: ConvergenceOptions = Field(description="Options of the kind.")


class CreateMdParams(CreateParams):
    """A molecular dynamics."""

    options: MdOptions = Field(default_factory=MdOptions, description="Options of the kind.")


class CreatePhononParams(CreateParams):
    """Phonons."""

    options: PhononOptions = Field(
        default_factory=PhononOptions, description="Options of the kind."
    )


class CreateElasticParams(CreateParams):
    """Elastic constants."""

    options: ElasticOptions = Field(
        default_factory=ElasticOptions, description="Options of the kind."
    )


class StepCounts(Model):
    """How many steps there are; more may be added while it runs."""

    total: int = Field(description="All steps so far.")
    completed: int = Field(description="What they give is stored.")
    running: int = Field(description="On the way.")
    failed: int = Field(description="Failed, or their job was cancelled.")


class WorkflowSummary(Model):
    """One row of the list of workflows."""

    id: int = Field(description="Number of the workflow.")
    uuid: str = Field(description="Unique id, 32 hexadecimal digits.")
    kind: str = Field(description="relax, eos, phonon …")
    name: str = Field(description="The user's name for it.")
    state: WorkflowState = Field(description="RUNNING, WAITING, COMPLETED, FAILED or CANCELLED.")
    message: str | None = Field(default=None, description="Why it waits, or how it ended.")
    hint: str | None = Field(default=None, description="What to do next.")
    cancelling: bool = Field(
        default=False, description="A cancel is asked for; what runs has not ended yet."
    )
    code: str = Field(description="Code that computes it.")
    engine: str | None = Field(default=None, description="Its force engine.")
    model: str | None = Field(default=None, description="The engine's model.")
    formula: str | None = Field(default=None, description="Reduced formula.")
    n_atoms: int | None = Field(default=None, description="Atoms in the cell.")
    steps: StepCounts = Field(description="How far it is.")
    created_at: Timestamp = Field(description="When it was accepted.")
    finished_at: Timestamp | None = Field(default=None, description="When it ended.")
    rev: int = Field(description="Revision at which it last changed.")


class StepView(Model):
    """One step of a workflow."""

    name: str = Field(description="Unique in its workflow.")
    title: str = Field(description="For people.")
    kind: Literal["job", "computation"] = Field(
        description="A job, or a computation in a process of the daemon."
    )
    state: StepState = Field(description="PENDING, RUNNING, COMPLETED, FAILED or CANCELLED.")
    after: list[str] = Field(default_factory=list, description="Steps that it waits for.")
    required: bool = Field(description="Whether the workflow needs what it gives.")
    attempt: int = Field(description="1, and one more for each retry.")
    job: int | None = Field(default=None, description="Its job; the newest where there are more.")
    jobs: list[int] = Field(default_factory=list, description="Its jobs, oldest first.")
    progress: str | None = Field(default=None, description="How far its job is.")
    reason: str | None = Field(default=None, description="Why it failed, in one word.")
    message: str | None = Field(default=None, description="The same, in a sentence.")
    hint: str | None = Field(default=None, description="What to do next.")
    can_be_retried: bool = Field(
        default=False, description="Whether another attempt may end otherwise."
    )
    reused: str | None = Field(
        default=None, description="The step with the same input whose result was taken."
    )
    input_hash: str | None = Field(
        default=None, description="SHA-256 of everything that its result depends on."
    )
    output_hash: str | None = Field(default=None, description="SHA-256 of what it gave.")
    started_at: Timestamp | None = Field(default=None, description="When this attempt began.")
    finished_at: Timestamp | None = Field(default=None, description="When it ended.")


class Workflow(WorkflowSummary):
    """Everything about one workflow."""

    options: dict[str, Any] = Field(description="Its options, defaults filled in.")
    source: dict[str, str] = Field(
        default_factory=dict, description="Where the structure came from."
    )
    warnings: list[str] = Field(default_factory=list, description="What a referee would ask about.")
    graph: list[StepView] = Field(description="Its steps, in the order in which they were added.")
    results: dict[str, Any] = Field(
        default_factory=dict,
        description="The results document: `quantities` (name, label, value, unit, error), "
        "`tables`, `plots`, `flags` (doubts), `provenance`; empty until it is COMPLETED.",
    )


class CreateResult(Model):
    workflow: WorkflowSummary = Field(description="The workflow; it runs.")
    repeated: bool = Field(
        default=False, description="The token was known: this is the workflow of the first call."
    )


class WorkflowResult(Model):
    workflow: WorkflowSummary = Field(description="The workflow as it is now.")


class WorkflowIdParams(Params):
    id: WorkflowId = Field(description="Number of the workflow.")


class RetryParams(Params):
    id: WorkflowId = Field(description="Number of the workflow.")
    step: StepName = Field(description="Name of the step that did not complete.")


class ListWorkflowsParams(Params):
    state: Annotated[list[WorkflowState], Field(max_length=100)] | WorkflowState | None = Field(
        default=None, description="Only those in this state, or in one of these."
    )
    kind: str | None = Field(default=None, max_length=32, description="Only this kind.")
    limit: int = Field(default=200, ge=1, le=1000, description="At most so many.")
    after: WorkflowId | None = Field(
        default=None, description="The page behind this workflow: `next` of the page before."
    )


class WorkflowsMeta(Model):
    rev: int = Field(description="Revision of the workflows: rises with every change.")
    total: int = Field(description="Workflows that fit, on all pages.")
    next: int | None = Field(default=None, description="Give it as `after` for the next page.")


class EngineUse(Model):
    """A force engine, or a code, and whether a kind of workflow can use it."""

    name: str = Field(description="Give it as `engine`, or as `code`.")
    usable: bool = Field(description="Whether it can be used now.")
    reason: str | None = Field(default=None, description="Why not.")


class KindInfo(Model):
    """One kind of workflow."""

    kind: str = Field(description="relax, eos, phonon …")
    title: str = Field(description="For people.")
    summary: str = Field(description="What it gives.")
    method: str = Field(description="The method that starts one.")
    usable: bool = Field(description="Whether one can be started now.")
    reason: str | None = Field(default=None, description="Why not.")
    engines: list[EngineUse] = Field(default_factory=list, description="Force engines.")
    codes: list[EngineUse] = Field(default_factory=list, description="Codes.")
    options: dict[str, Any] = Field(
        default_factory=dict, description="JSON schema of `options`; empty when it is not built."
    )


class KindsMeta(Model):
    total: int = Field(description="Number of kinds.")
