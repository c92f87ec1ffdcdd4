"""What a workflow is while its steps are so."""

from __future__ import annotations

import pytest

from crystalmath.domain.workflow_states import (
    STEP_MEANING,
    STEP_STATES,
    WORKFLOW_MEANING,
    WORKFLOW_STATES,
    StepFacts,
    standing,
    startable,
)


def steps(*states: str, reason: str | None = None, required: bool = True) -> list[StepFacts]:
    """A chain: each step waits for the one before; only the last one may be not required."""
    names = [f"s{i}" for i in range(len(states))]
    return [
        StepFacts(
            name,
            state,  # type: ignore[arg-type]
            after=(names[i - 1],) if i else (),
            required=required or i < len(states) - 1,
            reason=reason if state == "FAILED" else None,
        )
        for i, (name, state) in enumerate(zip(names, states, strict=True))
    ]


@pytest.mark.parametrize(
    ("states", "cancel", "wanted"),
    [
        (("PENDING", "PENDING"), False, "RUNNING"),
        (("COMPLETED", "RUNNING"), False, "RUNNING"),
        (("COMPLETED", "COMPLETED"), False, "COMPLETED"),
        (("FAILED", "PENDING"), False, "WAITING"),
        (("CANCELLED", "PENDING"), False, "WAITING"),
        (("RUNNING", "PENDING"), True, "RUNNING"),
        (("COMPLETED", "CANCELLED"), True, "CANCELLED"),
        (("PENDING", "PENDING"), True, "CANCELLED"),
    ],
)
def test_standing(states: tuple[str, ...], cancel: bool, wanted: str) -> None:
    assert standing(steps(*states), cancel_asked=cancel) == wanted


@pytest.mark.parametrize("reason", ["input_rejected", "refused"])
def test_what_would_fail_again_ends_the_workflow(reason: str) -> None:
    assert standing(steps("COMPLETED", "FAILED", reason=reason)) == "FAILED"


def test_siblings_of_a_failed_step_go_on() -> None:
    found = [StepFacts("a", "FAILED"), StepFacts("b", "RUNNING"), StepFacts("c", "PENDING", ("b",))]
    assert standing(found) == "RUNNING"
    assert startable(found) == []
    found[1] = StepFacts("b", "COMPLETED")
    assert (standing(found), startable(found)) == ("RUNNING", ["c"])


def test_a_step_that_is_not_required_lets_the_others_pass() -> None:
    found = [StepFacts("a", "FAILED", required=False), StepFacts("b", "PENDING", ("a",))]
    assert startable(found) == ["b"]
    assert standing(steps("COMPLETED", "FAILED", required=False)) == "COMPLETED"


def test_every_state_is_explained() -> None:
    assert tuple(WORKFLOW_MEANING) == WORKFLOW_STATES
    assert tuple(STEP_MEANING) == STEP_STATES
