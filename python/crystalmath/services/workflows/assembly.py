"""Putting the workflows together: the service, and the driver that moves them. No rules here.

Called by ``api``, which knows the adapters.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from crystalmath import __version__
from crystalmath.services.job_directory import JobDirectories
from crystalmath.services.job_ending import Ending
from crystalmath.services.ports import CodeAdapter, RunWorker
from crystalmath.services.ports_store import Store
from crystalmath.services.ports_workflows import WorkflowStore
from crystalmath.services.submission import Desk
from crystalmath.services.workflows.conduct import Conductor
from crystalmath.services.workflows.driver import Driver
from crystalmath.services.workflows.kinds import PROCEDURES
from crystalmath.services.workflows.service import WorkflowsParts, WorkflowsService
from crystalmath.services.workflows.step_jobs import DeskJobs


@dataclass(frozen=True, slots=True)
class Workplace:
    """What workflows need of the rest of the daemon.

    Attributes
    ----------
    ending
        Ends the jobs of workflows that are cancelled.
    run_worker
        Runs a computation in a worker process.
    submitted
        Called when there may be new jobs.
    """

    store: WorkflowStore
    jobs: Store
    desk: Desk
    codes: Mapping[str, CodeAdapter]
    directories: JobDirectories
    ending: Ending
    run_worker: RunWorker
    clock: Callable[[], float]
    submitted: Callable[[], None]


def assemble(place: Workplace) -> tuple[WorkflowsService, Driver]:
    """The service of ``workflows.*``, and the driver; the caller starts and stops it."""
    jobs = DeskJobs(
        place.jobs,
        place.desk,
        place.codes,
        place.directories,
        place.ending,
        place.clock,
        place.run_worker,
    )
    conductor = Conductor(place.store, jobs, place.run_worker, PROCEDURES, place.clock, __version__)
    # A worker process is left to the calls of users.
    computations = min(2, max(1, (os.cpu_count() or 1) - 1))
    driver = Driver(conductor, place.submitted, computations=computations)
    parts = WorkflowsParts(
        store=place.store,
        jobs=place.jobs,
        desk=place.desk,
        codes=place.codes,
        procedures=PROCEDURES,
        compute=place.run_worker,
        clock=place.clock,
        wake=driver.wake,
    )
    return WorkflowsService(parts), driver
