"""What happens to one workflow: its steps start, end, and add others, until it has an end itself.

Every step here may be repeated: its intention is committed before the action, and its end by
compare-and-set. A job is inserted in the transaction that says that its step runs, so no step is
submitted twice; a computation is pure, so one that a killed daemon began is begun anew. Called by
``driver``.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from crystalmath.domain.workflow_states import standing, startable
from crystalmath.errors import (
    AnalysisRefused,
    ConfigError,
    Conflict,
    CrystalMathError,
    DatabaseError,
    EngineNotInstalled,
    InputRejected,
    LicenceNotAccepted,
    NotFound,
    NotImplementedYet,
    OutputUnreadable,
    Overloaded,
    ShuttingDown,
)
from crystalmath.services.ports_workflows import (
    EndedJob,
    Ending,
    NewStep,
    StepRecord,
    WorkflowRecord,
    WorkflowStore,
)
from crystalmath.services.postponing import RETRY_AFTER_S, sentence, wait_after
from crystalmath.services.workflows.content import text_of
from crystalmath.services.workflows.inputs import MissingPart, arguments_of, input_hash
from crystalmath.services.workflows.plan import Procedure, decode_plan
from crystalmath.services.workflows.step_jobs import JobEnd, StepJobs

log = logging.getLogger(__name__)

COMPUTE_S: Final = 900.0
"""Seconds for one computation in a worker process."""
_LATER: Final = (DatabaseError, Overloaded, ShuttingDown)
"""Trouble of the moment, not of the step."""
_REFUSALS: Final = (InputRejected, ConfigError, NotImplementedYet, Conflict, AnalysisRefused)

Compute = Callable[[str, Mapping[str, Any], float], Any]


@dataclass(frozen=True, slots=True)
class Conductor:
    """Moves workflows.

    Attributes
    ----------
    compute
        Runs a function in a worker process.
    version
        Of this program: what it computed is not taken for what another version would.
    """

    store: WorkflowStore
    jobs: StepJobs
    compute: Compute
    procedures: Mapping[str, Procedure]
    clock: Callable[[], float]
    version: str
    retry_after_s: tuple[float, ...] = RETRY_AFTER_S

    def settle(self, ended: EndedJob) -> None:
        """Take what a job that has ended gives to its step."""
        record, steps = self.store.graph(ended.workflow_id)
        step = next(s for s in steps if s.id == ended.step_id)
        if step.state != "RUNNING" or not step.jobs or step.jobs[-1] != ended.job_id:
            return
        self._settled(record, step, ended.job_id)

    def advance(self, workflow_id: int) -> Sequence[StepRecord]:
        """Start what can start, and end the workflow when nothing can.

        Computations are only begun; :meth:`finish` carries them out.

        Returns
        -------
        sequence of StepRecord
            The steps as they are now; empty when the workflow has ended.
        """
        while True:
            record, steps = self.store.graph(workflow_id)
            if record.state != "RUNNING":
                return ()
            if record.cancel_asked:
                self._cancel_jobs(steps)
            elif self._start_all(record, steps):
                continue
            if self._conclude(record, steps):
                is_news = any(step.state == "PENDING" for step in steps)
                return self.store.steps(workflow_id) if is_news else steps

    def finish(
        self, workflow_id: int, step_id: int, stopping: Callable[[], bool] = lambda: False
    ) -> bool:
        """Carry out a computation that has been begun.

        Parameters
        ----------
        stopping
            Whether this program is being ended, and its worker processes with it: their end then
            says nothing about the step.

        Returns
        -------
        bool
            False when it must be tried again, because of trouble of the moment.
        """
        record, steps = self.store.graph(workflow_id)
        step = next(s for s in steps if s.id == step_id)
        if step.state != "RUNNING":
            return True
        try:
            used = arguments_of(step.uses, steps, self.store)
            arguments = {**step.action["given"], **used}
            output = self.compute(step.action["function"], arguments, COMPUTE_S)
            ending = self._with_next(record, step, output, text_of(output))
        except _LATER:
            log.warning("a computation waits", extra={"workflow": workflow_id, "step": step.name})
            return False
        except Exception as error:  # noqa: BLE001 - it becomes the end of the step
            if stopping():
                return False
            ending = _failed(error)
        self.store.end(step, ending, self.clock())
        return True

    def _start_all(self, record: WorkflowRecord, steps: Sequence[StepRecord]) -> bool:
        """Start every step whose turn it is; True when one ended at once, so that more may."""
        ready = set(startable([step.facts for step in steps]))
        due = [s for s in steps if s.name in ready and (s.next_try_at or 0.0) <= self.clock()]
        ended = False
        loaded: dict[str, Any] = {}
        under_way = {s.input_hash for s in steps if s.state == "RUNNING"}
        for step in due:
            try:
                ended |= self._start(record, step, steps, under_way, loaded)
            except Exception as error:  # noqa: BLE001 - judged there
                ended |= self._not_started(step, error)
        return ended

    def _start(
        self,
        record: WorkflowRecord,
        step: StepRecord,
        steps: Sequence[StepRecord],
        under_way: set[str | None],
        loaded: dict[str, Any],
    ) -> bool:
        inputs = input_hash(step, steps, self.store, self.version, loaded)
        if inputs in under_way:
            return False  # another step computes the very same: its result is taken
        same = _same(steps, inputs)
        if same is not None and same.output_hash is not None:
            text = self.store.artefact(same.output_hash)
            ending = self._with_next(record, step, json.loads(text), text)
            ending = replace(ending, input_hash=inputs, reused=same.name)
            return self.store.end(step, ending, self.clock())
        if step.kind == "computation":
            self.store.begin_computation(step, inputs, self.clock())
            under_way.add(inputs)
            return False
        if step.jobs and self._completed_after_all(record, step):
            return True
        used = arguments_of(step.uses, steps, self.store, loaded)
        job = self.jobs.prepare(record, step, used)
        self.store.begin_job(step, job, inputs, self.clock())
        under_way.add(inputs)
        return False

    def _completed_after_all(self, record: WorkflowRecord, step: StepRecord) -> bool:
        """Better evidence may have come of the job before: then nothing is run again."""
        try:
            end = self.jobs.end(step.jobs[-1])
        except (NotFound, OutputUnreadable):  # what it had is gone: it runs again
            return False
        if end.output is None:
            return False
        return self.store.end(step, self._completed(record, step, end), self.clock())

    def _not_started(self, step: StepRecord, error: Exception) -> bool:
        """A refusal ends the step; trouble of the machine has it tried again later."""
        if isinstance(error, (*_REFUSALS, LicenceNotAccepted, NotFound, MissingPart)):
            return self.store.end(step, _failed(error), self.clock())
        log.error("a step waits", extra={"step": step.name}, exc_info=error)
        wait_s = wait_after(step.tries + 1, self.retry_after_s)
        self.store.postpone(step, sentence(error), self.clock() + wait_s)
        return False

    def _settled(self, record: WorkflowRecord, step: StepRecord, job_id: int) -> None:
        try:
            end = self.jobs.end(job_id)
            ending = (
                _of_job(end, job_id) if end.output is None else self._completed(record, step, end)
            )
        except NotFound:
            ending = Ending(
                state="FAILED",
                reason="job_deleted",
                message=f"its job {job_id} was deleted before its results were taken",
                hint="`workflows.retry` runs the step again",
            )
        except _LATER:
            raise
        except Exception as error:  # noqa: BLE001 - it becomes the end of the step
            ending = _failed(error)
        self.store.end(step, ending, self.clock())

    def _completed(self, record: WorkflowRecord, step: StepRecord, end: JobEnd) -> Ending:
        """The end of a step whose job completed, with what the workflow has to say of it."""
        ending = self._with_next(record, step, end.output, text_of(end.output))
        return replace(ending, warnings=end.warnings)

    def _with_next(
        self, record: WorkflowRecord, step: StepRecord, output: Any, text: str
    ) -> Ending:
        """The end of a step that gives this, with the steps that it adds."""
        procedure = self.procedures[record.kind]
        steps: Sequence[NewStep] = procedure.next_steps(decode_plan(record.spec), step.name, output)
        return Ending("COMPLETED", text, steps)

    def _cancel_jobs(self, steps: Sequence[StepRecord]) -> None:
        for step in steps:
            if step.state == "RUNNING" and step.kind == "job" and step.jobs:
                self.jobs.cancel(step.jobs[-1])

    def _conclude(self, record: WorkflowRecord, steps: Sequence[StepRecord]) -> bool:
        """Give the workflow the state that its steps make; False when they changed meanwhile."""
        facts = [step.facts for step in steps]
        state = standing(facts, cancel_asked=record.cancel_asked)
        if state == "RUNNING":
            return True
        if state == "COMPLETED":
            name = self.procedures[record.kind].result
            result = next(s.output_hash for s in steps if s.name == name)
            return self.store.conclude(record, state, self.clock(), results_hash=result)
        message, hint = _why(state, steps)
        return self.store.conclude(record, state, self.clock(), message=message, hint=hint)


def _same(steps: Sequence[StepRecord], input_hash: str) -> StepRecord | None:
    """A step that has computed the very same."""
    done = (s for s in steps if s.state == "COMPLETED" and s.input_hash == input_hash)
    return next(done, None)


def _of_job(end: JobEnd, job_id: int) -> Ending:
    if end.state == "CANCELLED":
        return Ending(
            state="CANCELLED",
            message=f"its job {job_id} was cancelled",
            hint="`workflows.retry` runs the step again",
        )
    message = end.message or f"its job {job_id} is {end.state}"
    return Ending(state="FAILED", reason=end.reason or "crashed", message=message, hint=end.hint)


def _failed(error: Exception) -> Ending:
    """The end of a step that an error is the answer to."""
    if isinstance(error, (EngineNotInstalled, LicenceNotAccepted)):
        return Ending("FAILED", reason=error.kind, message=error.message, hint=error.hint)
    if isinstance(error, MissingPart):
        return Ending("FAILED", reason="refused", message=str(error))
    if isinstance(error, _REFUSALS):
        reason = "refused" if isinstance(error, AnalysisRefused) else "input_rejected"
        return Ending("FAILED", reason=reason, message=error.message, hint=error.hint)
    if isinstance(error, CrystalMathError):
        return Ending("FAILED", reason="crashed", message=error.message, hint=error.hint)
    log.error("a step failed", exc_info=error)
    return Ending("FAILED", reason="crashed", message="an internal error; the log has the details")


def _why(state: str, steps: Sequence[StepRecord]) -> tuple[str | None, str | None]:
    """What a workflow says that did not complete."""
    if state == "CANCELLED":
        return "cancelled by the user", "`workflows.resume` goes on with it"
    blocking = [
        step
        for step in steps
        if step.facts.blocks and (state == "WAITING" or not step.facts.can_be_retried)
    ]
    first = blocking[0]
    others = ", ".join(step.name for step in blocking[1:4])
    more = f"; {len(blocking)} steps did not complete: {first.name}, {others}" if others else ""
    message = f"step {first.name}: {first.message or first.state}{more}"
    if state == "WAITING":
        return message, "`workflows.retry` runs one step again, `workflows.resume` all of them"
    return message, first.hint
