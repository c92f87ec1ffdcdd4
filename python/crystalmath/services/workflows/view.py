"""Workflows as clients see them, and the events of topic ``workflows``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from crystalmath.contract.workflows import StepCounts, StepView, Workflow, WorkflowSummary
from crystalmath.services.events import EventHub, Happening
from crystalmath.services.job_view import rfc3339
from crystalmath.services.ports_workflows import StepRecord, WorkflowRecord

_TOPIC: Final = ("workflows",)
_WEIGHT_BYTES: Final = 1200
"""About the length of a summary in JSON."""


def summary_fields(record: WorkflowRecord) -> dict[str, Any]:
    """The fields of a ``WorkflowSummary``."""
    counts = record.counts
    return {
        "id": record.id,
        "uuid": record.uuid,
        "kind": record.kind,
        "name": record.name,
        "state": record.state,
        "message": record.message,
        "hint": record.hint,
        "cancelling": record.cancel_asked and record.state == "RUNNING",
        "code": record.spec["code"],
        "engine": record.engine,
        "model": record.model,
        "formula": record.formula,
        "n_atoms": record.n_atoms,
        "steps": StepCounts(
            total=sum(counts.values()),
            completed=counts.get("COMPLETED", 0),
            running=counts.get("RUNNING", 0),
            failed=counts.get("FAILED", 0) + counts.get("CANCELLED", 0),
        ),
        "created_at": rfc3339(record.created_at),
        "finished_at": rfc3339(record.finished_at),
        "rev": record.rev,
    }


def summary(record: WorkflowRecord) -> WorkflowSummary:
    """One row of the list."""
    return WorkflowSummary(**summary_fields(record))


def whole(
    record: WorkflowRecord,
    steps: Sequence[StepRecord],
    results: Mapping[str, Any],
    progress: Mapping[int, str],
) -> Workflow:
    """Everything about a workflow.

    Parameters
    ----------
    progress
        What jobs that run say of themselves, by number.
    """
    return Workflow(
        **summary_fields(record),
        options=dict(record.spec["options"]),
        source=dict(record.spec["source"]),
        warnings=list(record.warnings),
        graph=[_step(step, progress) for step in steps],
        results=dict(results),
    )


def _step(step: StepRecord, progress: Mapping[int, str]) -> StepView:
    job = step.jobs[-1] if step.jobs else None
    return StepView(
        name=step.name,
        title=step.title,
        kind=step.kind,
        state=step.state,
        after=list(step.after),
        required=step.required,
        attempt=step.attempt,
        job=job,
        jobs=list(step.jobs),
        progress=progress.get(job) if job is not None and step.state == "RUNNING" else None,
        reason=step.reason,
        message=step.message,
        hint=step.hint,
        can_be_retried=step.facts.can_be_retried,
        reused=step.reused,
        input_hash=step.input_hash,
        output_hash=step.output_hash,
        started_at=rfc3339(step.started_at),
        finished_at=rfc3339(step.finished_at),
    )


class WorkflowEvents:
    """Tells subscribers of topic ``workflows``; of each only the last state need be told.

    Implements ``ports_workflows.WorkflowChanges``.
    """

    def __init__(self, hub: EventHub) -> None:
        self._hub = hub

    def changed(self, workflow: WorkflowRecord) -> None:
        """See ``WorkflowChanges.changed``."""

        def content() -> Mapping[str, Any]:
            row = summary(workflow).model_dump(mode="json")
            return {"kind": "workflow", "workflow": row}

        happening = Happening(_TOPIC, ("workflow", workflow.id), _WEIGHT_BYTES, content)
        self._hub.publish([happening])
