"""Between a step and its job: what is submitted for it, and what it gives when the job has ended.

Called by ``conduct`` alone.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Protocol

from crystalmath.contract.jobs import ContinueParams, SubmitParams
from crystalmath.domain.states import JobState
from crystalmath.errors import CrystalMathError, IllegalTransition, NotFound, OutputUnreadable
from crystalmath.services.job_continue import onward
from crystalmath.services.job_directory import JobDirectories
from crystalmath.services.job_ending import Ending
from crystalmath.services.job_moments import lost_moments, with_moments
from crystalmath.services.ports import CodeAdapter, RunWorker
from crystalmath.services.ports_store import NewJob, Store
from crystalmath.services.ports_workflows import StepRecord, WorkflowRecord
from crystalmath.services.structure_in import decode_structure
from crystalmath.services.submission import Desk, new_job
from crystalmath.services.workflows.computations import ARRAYS, LEVELS
from crystalmath.services.workflows.plan import MAX_NAME

_PASSING: Final = frozenset({"elapsed_s", "warnings", "format", "status"})
"""Of a job's results: what is no result, and differs between two runs of the same."""
_IN_FRAMES: Final = frozenset({"md"})
"""Tasks whose result is what they wrote on the way: steps get it as ``series``."""
MAX_ARRAYS_BYTES: Final = 256 * 1024**2
READ_S: Final = 60.0
"""Seconds for the levels of a band structure, or the arrays of a large system."""


@dataclass(frozen=True, slots=True)
class JobEnd:
    """How a step's job ended.

    Attributes
    ----------
    output
        What the step gives, of a COMPLETED one.
    warnings
        What the workflow has to say of it.
    """

    state: JobState
    output: dict[str, Any] | None = None
    reason: str | None = None
    message: str | None = None
    hint: str | None = None
    warnings: tuple[str, ...] = ()


class StepJobs(Protocol):
    """The jobs of steps; a fake in tests."""

    def prepare(
        self, workflow: WorkflowRecord, step: StepRecord, arguments: Mapping[str, Any]
    ) -> NewJob:
        """Check a step's job and make it; nothing is stored. Raises what ``jobs.submit`` does."""

    def end(self, job_id: int) -> JobEnd:
        """How a job ended; raises ``NotFound`` when it is gone."""

    def cancel(self, job_id: int) -> None:
        """Ask for a job to be ended; one that has ended, or is gone, is left alone."""


def token_of(workflow: WorkflowRecord, step: StepRecord) -> str:
    """The submission key of an attempt: the same for every try, so that it runs once."""
    return f"workflow-{workflow.uuid}-{step.id}-{step.attempt}"


@dataclass(frozen=True, slots=True)
class DeskJobs:
    """Implements :class:`StepJobs` with the desk that every submission passes."""

    store: Store
    desk: Desk
    codes: Mapping[str, CodeAdapter]
    directories: JobDirectories
    ending: Ending
    clock: Callable[[], float]
    run_worker: RunWorker

    def prepare(
        self, workflow: WorkflowRecord, step: StepRecord, arguments: Mapping[str, Any]
    ) -> NewJob:
        """See :meth:`StepJobs.prepare`."""
        token = token_of(workflow, step)
        name = f"{workflow.name[:MAX_NAME].rstrip()}: {step.name}"
        why = f"step {step.name} of workflow {workflow.id}"
        going_on = self._going_on(step, token)
        if going_on is not None:
            return going_on(workflow.id, why)
        document = arguments["structure"]
        source = {"kind": f"what a step was given: {step.name} of workflow {workflow.id}"}
        checked = self.desk.check(
            SubmitParams.model_validate({**step.action, "name": name, "client_token": token}),
            structure=decode_structure({**document, "source": source}),
        )
        return new_job(checked, now=self.clock(), why=why, workflow=workflow.id)

    def _going_on(self, step: StepRecord, token: str) -> Callable[[int, str], NewJob] | None:
        """A retry goes on where the attempt before it stopped, where that is possible."""
        if not step.jobs:
            return None
        last = step.jobs[-1]
        try:
            params = ContinueParams(id=last, client_token=token)
            found = onward(self.store, self.directories, self.codes, params)
            checked = self.desk.check(found.params, structure=found.structure, files=found.files)
        except CrystalMathError:
            return None
        return lambda workflow_id, why: new_job(
            checked,
            now=self.clock(),
            rerun_of=last,
            why=f"{why}, continues job {last}: {found.fix}",
            provenance=found.provenance,
            workflow=workflow_id,
        )

    def end(self, job_id: int) -> JobEnd:
        """See :meth:`StepJobs.end`."""
        row = self.store.row(job_id)
        if row["state"] != "COMPLETED":
            return JobEnd(row["state"], None, row["reason"], row["message"], row["hint"])
        documents = self.store.documents(job_id)
        results = dict(documents.results)
        if "arrays_in" in results:
            results |= self._arrays(row, results.pop("arrays_in"))
            results = with_moments(row["code"], results, documents.provenance)
        if results.pop("levels_in", None):
            place = {"directory": str(self.directories.path(row["uuid"]))}
            results["levels"] = self.run_worker(LEVELS[row["code"]], place, READ_S)
        output = {key: value for key, value in results.items() if key not in _PASSING}
        if row["task"] in _IN_FRAMES:
            output["series"] = self._series(row)
        structure = output.get("structure")
        if isinstance(structure, dict):
            output["structure"] = {"formula": row["formula"] or "", **structure}
        lost = lost_moments(row["code"], results, documents.provenance)
        return JobEnd("COMPLETED", output, warnings=lost)

    def _series(self, row: Mapping[str, Any]) -> dict[str, Any]:
        """The curves of a job.

        Raises
        ------
        OutputUnreadable
        """
        found = self.codes[row["code"]].series(self.directories.path(row["uuid"]))
        if not found:
            raise OutputUnreadable(
                "the job completed, but what it wrote on the way cannot be read any more",
                hint="was its directory deleted? `workflows.retry` runs the step again",
            )
        return dict(found)

    def _arrays(self, row: Mapping[str, Any], name: str) -> dict[str, Any]:
        """What the results of a large system leave in a file of the job.

        Raises
        ------
        OutputUnreadable
        """
        directory = self.directories.path(row["uuid"])
        if row["code"] in ARRAYS:
            place = {"directory": str(directory), "name": name}
            found: dict[str, Any] = self.run_worker(ARRAYS[row["code"]], place, READ_S)
            return found
        try:
            with (directory / name).open(encoding="utf-8") as stream:
                document = json.loads(stream.read(MAX_ARRAYS_BYTES))
            return {key: document[key] for key in ("structure", "forces_ev_per_a")}
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise OutputUnreadable(
                f"the job completed, but its file {name} cannot be read any more",
                hint="was its directory deleted? `workflows.retry` runs the step again",
            ) from error

    def cancel(self, job_id: int) -> None:
        """See :meth:`StepJobs.cancel`."""
        try:
            self.ending.cancel(job_id)
        except (NotFound, IllegalTransition):
            return
