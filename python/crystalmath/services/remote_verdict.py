"""The verdict on a job of a cluster: the code's, seen with the scheduler's words. Pure.

A scheduler that says anything but a normal end is never overruled into success; the code may name
a better reason than "it ended abnormally".
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from crystalmath.services.ports import Verdict

_SPECIFIC: Final = frozenset(
    {"walltime", "out_of_memory", "node_failure", "preempted", "did_not_start"}
)
_MEMORY: Final = re.compile(r"oom[_-]kill event|[Ee]xceeded (?:job )?memory limit|oom-kill")
_MESSAGES: Final[Mapping[str, tuple[str, str]]] = {
    "walltime": (
        "stopped by the scheduler at its time limit",
        "give it more time: `resources.walltime_s`; `jobs.continue` goes on where it can",
    ),
    "out_of_memory": (
        "ended by the scheduler because it needed more memory than it had asked for",
        "ask for more memory: `resources.memory_mib`, or use fewer processes on a node",
    ),
    "node_failure": ("a node of the job failed", "rerun the job"),
    "preempted": ("the scheduler gave its place to another job", "rerun the job"),
    "did_not_start": (
        "the scheduler could not start the program",
        "check the program's path and modules on the cluster, and the job's directory on its nodes",
    ),
    "crashed": ("the scheduler says that it failed", "read the log; the last lines say why"),
}


def is_memory_kill(scheduler_log: str) -> bool:
    """Whether the scheduler's own words tell of a memory kill; its states often do not."""
    return _MEMORY.search(scheduler_log) is not None


def combine(verdict: Verdict, end: Mapping[str, Any], *, memory_kill: bool) -> Verdict:
    """Judge with both.

    Parameters
    ----------
    end
        What ``remote_jobs.end`` holds: ``reason`` and ``raw`` of the scheduler, ``warned``.
    memory_kill
        See :func:`is_memory_kill`.
    """
    reason = "out_of_memory" if memory_kill else end.get("reason")
    if reason in _SPECIFIC and verdict.reason != reason:
        return _because(verdict, str(reason), str(end.get("raw") or ""))
    if reason is not None and verdict.completed:
        return _because(verdict, str(reason), str(end.get("raw") or ""))
    if end.get("warned") and verdict.reason in ("not_converged", "crashed"):
        return _because(verdict, "walltime", str(end.get("raw") or ""))
    return verdict


def _because(verdict: Verdict, reason: str, raw: str) -> Verdict:
    message, hint = _MESSAGES[reason]
    said = f" ({raw})" if raw else ""
    also = f"; {verdict.message}" if verdict.message and not verdict.completed else ""
    return replace(
        verdict,
        completed=False,
        reason=reason,
        message=f"{message}{said}{also}"[:600],
        hint=hint,
    )
