"""The verdict of the code, seen with the scheduler's words."""

from __future__ import annotations

import pytest

from crystalmath.services.ports import Verdict
from crystalmath.services.remote_verdict import combine, is_memory_kill

GOOD = Verdict(completed=True, converged=True)
CRASHED = Verdict(completed=False, reason="crashed", message="exit code 1")
UNCONVERGED = Verdict(completed=False, reason="not_converged", message="no convergence")


@pytest.mark.parametrize(
    ("verdict", "end", "memory_kill", "reason"),
    [
        (GOOD, {"raw": "COMPLETED"}, False, None),
        (GOOD, {"raw": "TIMEOUT", "reason": "walltime"}, False, "walltime"),
        (GOOD, {"raw": "FAILED", "reason": "crashed"}, False, "crashed"),
        (GOOD, {"raw": "COMPLETED"}, True, "out_of_memory"),
        (CRASHED, {"raw": "FAILED", "reason": "crashed"}, True, "out_of_memory"),
        (CRASHED, {"raw": "NODE_FAIL", "reason": "node_failure"}, False, "node_failure"),
        (CRASHED, {"raw": "PREEMPTED", "reason": "preempted"}, False, "preempted"),
        (UNCONVERGED, {"raw": "FAILED", "reason": "crashed"}, False, "not_converged"),
        (UNCONVERGED, {"raw": "COMPLETED", "warned": True}, False, "walltime"),
        (UNCONVERGED, {"raw": "COMPLETED"}, False, "not_converged"),
        (GOOD, {"raw": "COMPLETED", "warned": True}, False, None),
    ],
)
def test_the_most_specific_reason_wins(
    verdict: Verdict, end: dict[str, object], memory_kill: bool, reason: str | None
) -> None:
    found = combine(verdict, end, memory_kill=memory_kill)
    assert found.reason == reason
    assert found.completed == (reason is None)


@pytest.mark.parametrize(
    "text",
    [
        "slurmstepd: error: Detected 1 oom_kill event in StepId=3.batch.",
        "slurmstepd: error: Exceeded job memory limit",
        "slurmstepd: error: Job 12 exceeded memory limit (300 > 256), being killed",
    ],
)
def test_memory_kills_are_told_by_the_log_alone(text: str) -> None:
    assert is_memory_kill(text)
    assert not is_memory_kill("all is well")
