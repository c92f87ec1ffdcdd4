"""The states of workflows and of their steps, and which of them follow from which.

Pure rules, no I/O, no clock. A workflow is what its steps are: its state is computed from theirs by
:func:`standing`, at the end of every step, by ``services.workflows``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal, get_args

WorkflowState = Literal["RUNNING", "WAITING", "COMPLETED", "FAILED", "CANCELLED"]
WORKFLOW_STATES: Final[tuple[WorkflowState, ...]] = get_args(WorkflowState)

StepState = Literal["PENDING", "RUNNING", "COMPLETED", "FAILED", "CANCELLED"]
STEP_STATES: Final[tuple[StepState, ...]] = get_args(StepState)

WORKFLOW_MEANING: Final[dict[WorkflowState, str]] = {
    "RUNNING": "a step runs, or can be started",
    "WAITING": "a step that it needs did not complete, and the user decides: retry, or cancel",
    "COMPLETED": "every step that it needs is done, and its results are there",
    "FAILED": "a step that it needs cannot complete, or the user ended it when one had failed",
    "CANCELLED": "the user ended it",
}

STEP_MEANING: Final[dict[StepState, str]] = {
    "PENDING": "it waits for the steps before it",
    "RUNNING": "its job, or its computation, is on the way",
    "COMPLETED": "what it gives is stored",
    "FAILED": "it did not complete; the reason says why",
    "CANCELLED": "its job was cancelled",
}

STOPPED: Final[frozenset[StepState]] = frozenset({"FAILED", "CANCELLED"})
"""The step has ended and gives nothing."""

FINAL_REASONS: Final[frozenset[str]] = frozenset({"input_rejected", "refused"})
"""Why a step failed that would fail again: its input, or its data, allow no result."""


@dataclass(frozen=True, slots=True)
class StepFacts:
    """What the rules need to know of a step.

    Attributes
    ----------
    after
        Names of the steps that it waits for.
    required
        Whether the workflow needs what it gives.
    reason
        Why it failed.
    """

    name: str
    state: StepState
    after: tuple[str, ...] = ()
    required: bool = True
    reason: str | None = None

    @property
    def can_be_retried(self) -> bool:
        """Whether another attempt may end otherwise."""
        return self.state in STOPPED and self.reason not in FINAL_REASONS

    @property
    def lets_pass(self) -> bool:
        """Whether the steps after it may start."""
        return self.state == "COMPLETED" or (not self.required and self.state in STOPPED)

    @property
    def blocks(self) -> bool:
        """Whether the workflow cannot complete without another attempt."""
        return self.required and self.state in STOPPED


def startable(steps: Sequence[StepFacts]) -> list[str]:
    """Names of the steps whose turn it is, in their order."""
    passing = {step.name for step in steps if step.lets_pass}
    return [s.name for s in steps if s.state == "PENDING" and passing.issuperset(s.after)]


def standing(steps: Sequence[StepFacts], *, cancel_asked: bool = False) -> WorkflowState:
    """What the workflow is while its steps are so.

    Siblings of a failed step go on: while anything runs, or can start, it is RUNNING.
    """
    if any(step.state == "RUNNING" for step in steps):
        return "RUNNING"
    if cancel_asked:
        return "CANCELLED"
    if startable(steps):
        return "RUNNING"
    if all(step.lets_pass for step in steps):
        return "COMPLETED"
    return "WAITING" if all(s.can_be_retried for s in steps if s.blocks) else "FAILED"
