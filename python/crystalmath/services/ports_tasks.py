"""Tasks of job arrays and what jobs used, as the database holds them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from crystalmath.domain.states import JobState

FOLDER: Final = "tasks"
"""Below a job's directory: a folder for each task, named by its number."""


def task_folder(task: int) -> str:
    """Folder of a task, relative to the job's directory, here and on the cluster."""
    return f"{FOLDER}/{task}"


@dataclass(frozen=True, slots=True)
class TaskRecord:
    """One task of a job array.

    Attributes
    ----------
    state
        ``CREATED`` until the scheduler has been seen to have it.
    cancel_asked
        Somebody has asked for the end of this task.
    end
        How it ended, as ``RemoteJob.end`` of other jobs.
    """

    task: int
    state: JobState = "CREATED"
    reason: str | None = None
    message: str | None = None
    scheduler_state: str | None = None
    nodes: str | None = None
    attempt: int = 1
    started_at: float | None = None
    finished_at: float | None = None
    energy_ev: float | None = None
    cancel_asked: bool = False
    rests_on_words: bool = False
    max_rss_kib: float | None = None
    cpu_s: float | None = None
    end: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Used:
    """What a job, or a task of one, used of the machine.

    Attributes
    ----------
    elapsed_s, core_s
        Of a job array the sums over its tasks.
    """

    cpu_s: float | None = None
    max_rss_kib: float | None = None
    elapsed_s: float | None = None
    n_cpus: int | None = None
    core_s: float | None = None
    source: Literal["sacct", "receipt"] = "sacct"


@dataclass(frozen=True, slots=True)
class Account:
    """What the accounting has told of one ended job; ``used`` is None where it told nothing.

    Attributes
    ----------
    tasks
        Of a job array: task → columns of its row.
    """

    used: Used | None
    tasks: Mapping[int, Mapping[str, Any]] = field(default_factory=dict)
