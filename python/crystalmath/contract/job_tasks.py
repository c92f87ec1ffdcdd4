"""Tasks of a job array, and what a job used of its machine, as `jobs.get` shows them."""

from __future__ import annotations

from pydantic import Field

from crystalmath.contract.rpc import Model, Timestamp
from crystalmath.domain.states import JobState


class UsageView(Model):
    """What a job used, by the scheduler's accounting or by its own receipt."""

    cpu_s: float | None = Field(default=None, description="Processor time of all its processes.")
    max_rss_mib: float | None = Field(
        default=None, description="Largest memory of any of its processes, in MiB."
    )
    elapsed_s: float | None = Field(
        default=None, description="Time it had its cores; of an array the sum of its tasks."
    )
    n_cpus: int | None = Field(default=None, description="Cores it had; of an array: each task.")
    core_hours: float | None = Field(default=None, description="Cores times elapsed time.")
    source: str = Field(description="`sacct` or `receipt`.")


class TaskView(Model):
    """One task of a job array."""

    task: int = Field(description="Its number in the array.")
    state: JobState = Field(description="Its own state, with the words of jobs.")
    reason: str | None = Field(default=None, description="Why it FAILED.")
    message: str | None = Field(default=None, description="One sentence about its end.")
    scheduler_state: str | None = Field(default=None, description="The scheduler's word.")
    nodes: str | None = Field(default=None, description="Where it runs or ran.")
    attempt: int = Field(default=1, description="Runs so far.")
    started_at: Timestamp | None = Field(default=None, description="When it started.")
    finished_at: Timestamp | None = Field(default=None, description="When it ended.")
    energy_ev: float | None = Field(default=None, description="Final total energy in eV.")
    max_rss_mib: float | None = Field(default=None, description="Largest memory in MiB.")
    cpu_s: float | None = Field(default=None, description="Processor time in seconds.")
    directory: str = Field(description="Its folder, relative to the job directory.")
