"""What the services need of the database for workflows; implemented by ``storage.workflows``.

Every method is one transaction, and every change is a compare-and-set on the state and the attempt
of a step: a step that has moved meanwhile is left alone, and the method says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from crystalmath.domain.workflow_states import StepFacts, StepState, WorkflowState
from crystalmath.services.ports_store import NewJob

StepKind = Literal["job", "computation"]


@dataclass(frozen=True, slots=True)
class Use:
    """Where an argument of a step comes from: an artefact, or what another step gives.

    Attributes
    ----------
    artefact
        Hash of a stored document.
    step
        Name of a step of the same workflow.
    path
        Keys and indices from the whole document to the part that is meant.
    """

    artefact: str | None = None
    step: str | None = None
    path: tuple[str | int, ...] = ()


@dataclass(frozen=True, slots=True)
class NewStep:
    """A step to add.

    Attributes
    ----------
    name
        Unique in its workflow.
    title
        For people.
    action
        Of a job the fields of ``jobs.submit``, of a computation the function's name under
        ``function``; plain values, the same for the same work.
    uses
        Arguments that other steps or artefacts give. A list where several do.
    after
        Steps that it waits for beside those it uses.
    """

    name: str
    title: str
    kind: StepKind
    action: Mapping[str, Any]
    uses: Mapping[str, Use | tuple[Use, ...]] = field(default_factory=dict)
    after: tuple[str, ...] = ()
    required: bool = True


@dataclass(frozen=True, slots=True)
class NewWorkflow:
    """A workflow to insert, with its first steps and the artefacts that they use."""

    uuid: str
    kind: str
    name: str
    engine: str | None
    model: str | None
    formula: str | None
    n_atoms: int | None
    spec: Mapping[str, Any]
    steps: Sequence[NewStep]
    artefacts: Sequence[str]
    """Canonical texts."""
    created_at: float
    token: str | None = None
    request_sha256: str = ""
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class StepRecord:
    """A step as it is stored.

    Attributes
    ----------
    attempt
        Counts from 1; a retry is the next.
    jobs
        Its jobs, oldest first; the last one is that of this attempt when it is RUNNING.
    input_hash, output_hash
        Of what it is made from, once it has started; of what it gave.
    reused
        Name of the step whose result was taken, since it has the same input.
    next_try_at
        Not to be started before, because of trouble with this machine.
    """

    id: int
    workflow_id: int
    name: str
    title: str
    kind: StepKind
    state: StepState
    attempt: int
    action: Mapping[str, Any]
    uses: Mapping[str, Use | tuple[Use, ...]]
    after: tuple[str, ...]
    required: bool
    jobs: tuple[int, ...] = ()
    input_hash: str | None = None
    output_hash: str | None = None
    reused: str | None = None
    reason: str | None = None
    message: str | None = None
    hint: str | None = None
    tries: int = 0
    next_try_at: float | None = None
    started_at: float | None = None
    finished_at: float | None = None

    @property
    def facts(self) -> StepFacts:
        """What the rules of ``domain.workflow_states`` need."""
        return StepFacts(self.name, self.state, self.after, self.required, self.reason)


@dataclass(frozen=True, slots=True)
class WorkflowRecord:
    """A workflow as it is stored, without its steps.

    Attributes
    ----------
    results_hash
        Artefact of its results document, when it is COMPLETED.
    counts
        Number of steps by state.
    """

    id: int
    uuid: str
    kind: str
    name: str
    state: WorkflowState
    engine: str | None
    model: str | None
    formula: str | None
    n_atoms: int | None
    spec: Mapping[str, Any]
    created_at: float
    finished_at: float | None
    rev: int
    cancel_asked: bool = False
    message: str | None = None
    hint: str | None = None
    results_hash: str | None = None
    warnings: tuple[str, ...] = ()
    counts: Mapping[StepState, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class EndedJob:
    """A RUNNING step whose job has ended, or is not there any more."""

    step_id: int
    workflow_id: int
    job_id: int


@dataclass(frozen=True, slots=True)
class Ending:
    """How a step ended.

    Attributes
    ----------
    output
        Canonical text of what it gives; None when it did not complete.
    steps
        Steps that it adds.
    warnings
        What the workflow says from now on, beside what it said.
    """

    state: StepState
    output: str | None = None
    steps: Sequence[NewStep] = ()
    input_hash: str | None = None
    reused: str | None = None
    reason: str | None = None
    message: str | None = None
    hint: str | None = None
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class WorkflowPage:
    """Rows of a listing with the revision they belong to."""

    rows: Sequence[WorkflowRecord]
    rev: int
    total: int


class WorkflowChanges(Protocol):
    """Who wants to know of changes; implemented by ``services.workflows.view``."""

    def changed(self, workflow: WorkflowRecord) -> None:
        """Called after each commit, in the order of the commits; never waits, never raises."""


class WorkflowStore(Protocol):
    """The database as the workflow services see it."""

    def create(self, new: NewWorkflow) -> tuple[int, bool]:
        """Insert and return ``(id, True)``, or ``(id of the first, False)`` for a known token.

        Raises ``Conflict`` when the token was used for another request.
        """

    def by_token(self, token: str, request_sha256: str) -> int | None:
        """The workflow of a token; raises ``Conflict`` as :meth:`create` does."""

    def workflow(self, workflow_id: int) -> WorkflowRecord:
        """One workflow; raises ``NotFound``."""

    def page(
        self, states: Sequence[WorkflowState], kind: str | None, limit: int, before: int | None
    ) -> WorkflowPage:
        """The newest workflows, those older than ``before``."""

    def running(self) -> list[int]:
        """Ids of the workflows that are RUNNING."""

    def steps(self, workflow_id: int) -> list[StepRecord]:
        """All steps, in the order in which they were added."""

    def graph(self, workflow_id: int) -> tuple[WorkflowRecord, list[StepRecord]]:
        """A workflow and all its steps, as of one moment; raises ``NotFound``."""

    def step(self, step_id: int) -> StepRecord:
        """One step; raises ``NotFound``."""

    def artefact(self, content_hash: str) -> str:
        """Canonical text of a stored document; raises ``NotFound``."""

    def ended_jobs(self) -> list[EndedJob]:
        """RUNNING steps whose job needs no more waiting for."""

    def begin_job(self, step: StepRecord, job: NewJob, input_hash: str, at: float) -> int | None:
        """PENDING → RUNNING and its job, together; None when the step has moved.

        A job that is there already with the token is taken, not a second one inserted.
        """

    def begin_computation(self, step: StepRecord, input_hash: str, at: float) -> bool:
        """PENDING → RUNNING; False when the step has moved."""

    def end(self, step: StepRecord, ending: Ending, at: float) -> bool:
        """The end of a step, what it gives and the steps it adds; False when it has moved."""

    def postpone(self, step: StepRecord, message: str, next_try_at: float) -> None:
        """Note trouble with this machine; the step stays PENDING."""

    def conclude(
        self,
        workflow: WorkflowRecord,
        state: WorkflowState,
        at: float,
        *,
        message: str | None = None,
        hint: str | None = None,
        results_hash: str | None = None,
    ) -> bool:
        """RUNNING → ``state``; False when anything of it has changed since it was read."""

    def ask_cancel(self, workflow_id: int, state: WorkflowState, message: str, at: float) -> bool:
        """Store the wish and cancel the PENDING steps, while the workflow is in ``state``.

        A WAITING one is FAILED at once: what it needs has failed already.
        """

    def again(self, workflow_id: int, names: Iterable[str]) -> bool:
        """Steps that did not complete → PENDING, next attempt; the workflow → RUNNING.

        Returns
        -------
        bool
            False when one of them, or the workflow, is in no state for it any more.
        """
