"""Rows of workflows and steps as the values that the services know, and back."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from functools import lru_cache
from typing import Any

from crystalmath.domain.workflow_states import StepState
from crystalmath.services.ports_workflows import NewStep, StepRecord, Use, WorkflowRecord
from crystalmath.storage.moves import encode

_SAME = (
    "id",
    "workflow_id",
    "name",
    "title",
    "kind",
    "state",
    "attempt",
    "input_hash",
    "output_hash",
    "reused",
    "reason",
    "message",
    "hint",
    "tries",
    "next_try_at",
    "started_at",
    "finished_at",
)


def workflow_of(row: Mapping[str, Any], counts: Mapping[StepState, int]) -> WorkflowRecord:
    """Read a row of ``workflows``."""
    return WorkflowRecord(
        id=row["id"],
        uuid=row["uuid"],
        kind=row["kind"],
        name=row["name"],
        state=row["state"],
        engine=row["engine"],
        model=row["model"],
        formula=row["formula"],
        n_atoms=row["n_atoms"],
        spec=json.loads(row["spec_json"]),
        created_at=row["created_at"],
        finished_at=row["finished_at"],
        rev=row["rev"],
        cancel_asked=bool(row["cancel_asked"]),
        message=row["message"],
        hint=row["hint"],
        results_hash=row["results_hash"],
        warnings=tuple(json.loads(row["warnings_json"])),
        counts=counts,
    )


# All steps of a workflow are read at the end of each, and one of them has changed. Nobody writes
# into what is shared so.
@lru_cache(maxsize=4096)
def step_of(columns: tuple[str, ...], values: tuple[Any, ...]) -> StepRecord:
    """Read a row of ``workflow_steps``."""
    row = dict(zip(columns, values, strict=True))
    return StepRecord(
        **{name: row[name] for name in _SAME},
        action=_decoded(row["action_json"]),
        uses=_uses(row["uses_json"]),
        after=_names(row["after_json"]),
        required=bool(row["required"]),
        jobs=tuple(json.loads(row["jobs_json"])),
    )


# What a step is made of never changes, and all steps are read at the end of each. Nobody writes
# into what is shared so.
@lru_cache(maxsize=2048)
def _decoded(text: str) -> Mapping[str, Any]:
    decoded: dict[str, Any] = json.loads(text)
    return decoded


@lru_cache(maxsize=2048)
def _names(text: str) -> tuple[str, ...]:
    return tuple(json.loads(text))


@lru_cache(maxsize=2048)
def _uses(text: str) -> Mapping[str, Use | tuple[Use, ...]]:
    return {name: _use(value) for name, value in json.loads(text).items()}


def values_of(step: NewStep, workflow_id: int) -> dict[str, Any]:
    """Columns of a step to insert."""
    uses = {
        name: [asdict(one) for one in use] if isinstance(use, tuple) else asdict(use)
        for name, use in step.uses.items()
    }
    return {
        "workflow_id": workflow_id,
        "name": step.name,
        "title": step.title,
        "kind": step.kind,
        "state": "PENDING",
        "action_json": encode(step.action),
        "uses_json": encode(uses),
        "after_json": encode(_parents(step)),
        "required": int(step.required),
    }


def _parents(step: NewStep) -> list[str]:
    """Everything that it waits for, once each."""
    used = []
    for use in step.uses.values():
        used += [one.step for one in (use if isinstance(use, tuple) else (use,)) if one.step]
    return list(dict.fromkeys([*step.after, *used]))


def _use(value: Any) -> Use | tuple[Use, ...]:
    if isinstance(value, list):
        return tuple(Use(one["artefact"], one["step"], tuple(one["path"])) for one in value)
    return Use(value["artefact"], value["step"], tuple(value["path"]))
